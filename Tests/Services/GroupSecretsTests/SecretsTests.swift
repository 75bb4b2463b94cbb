#if Secrets
import FoundationEssentials
import GroupContainer
import GroupSecrets
import GroupSystemCalls
import TestSupport
import Testing

let noService = "\(SecretError.noService)"

/// Secrets in a real gnome-keyring, on a session bus of the test's own.
@Suite(.ownThreads, .needsKeyring, .timeLimit(.minutes(5)), .tags(.process))
struct `Secrets of a group` {
    private let session: DesktopSession

    init() throws { session = try DesktopSession() }

    @Test func `the programs of a group share secrets by their names, and other groups have none of them`() throws {
        _ = try session.startKeyring()
        let (one, other) = (try session.program(), try session.program())
        #expect(try one.answer("get token") == "none")
        #expect(try one.answer("set token first") == "set")
        #expect(try other.answer("get token") == "'first'")
        #expect(try other.answer("set token second value") == "set")
        #expect(try one.answer("get token") == "'second value'")
        #expect(try one.answer("async token") == "'second value'")
        #expect(try one.answer("reference token") == "'second value'")
        #expect(try one.answer("set empty") == "set")
        #expect(try one.answer("get empty") == "''")
        #expect(try other.answer("names") == #"["empty", "token"]"#)
        let stranger = try session.program(of: "group.com.example.other")
        #expect(try stranger.answer("get token") == "none")
        #expect(try stranger.answer("names") == "[]")
        #expect(try other.answer("remove token") == "true")
        #expect(try one.answer("remove token") == "false")
        #expect(try one.answer("names") == #"["empty"]"#)
        let large = String(repeating: "a", count: GroupSecrets.largestSecret)
        #expect(try one.answer("set large \(large)") == "set")
        #expect(try other.answer("get large") == "'\(large)'")
    }

    @Test func `a secret is in no file and in no command line, and calls leave no descriptors`() throws {
        _ = try session.startKeyring()
        let program = try session.program()
        #expect(try program.answer("set token correct-horse-battery") == "set")
        let before = try #require(Int(try program.answer("descriptors")))
        for _ in 0..<50 { #expect(try program.answer("get token") == "'correct-horse-battery'") }
        // A connection is closed by a thread of GLib, perhaps a moment after the call.
        let after = try #require(Int(try program.answer("descriptors")))
        #expect(after < before + 10)
        let words = try String(contentsOfFile: "/proc/\(program.process.identifier)/cmdline", encoding: .utf8)
        #expect(!words.contains("correct-horse"))
        let found = try RunningProcess(["grep", "-r", "correct-horse", session.directory.path], input: "").finish()
        #expect(found.status == 1, "\(found.text)")
    }

    @Test func `a locked collection gives an error, and no secret is shown or stored`() throws {
        _ = try session.startKeyring()
        let program = try session.program()
        #expect(try program.answer("set token first") == "set")
        try session.lock()
        for call in [
            "get token", "async token", "get other", "set token second", "set other x", "remove token", "names",
        ] {
            #expect(try program.answer(call) == "\(SecretError.locked)", "\(call)")
        }
        // Nothing can ask for the password in this session.
        #expect(try program.answer("unlock") == "\(SecretError.locked)")
    }

    @Test func `without a bus, a service or a collection the error states what is missing`() throws {
        let absent = "\(SecretError.noSessionBus)"
        let without = try session.program(["DBUS_SESSION_BUS_ADDRESS": nil])
        let wrong = try session.program(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
        let malformed = try session.program(["DBUS_SESSION_BUS_ADDRESS": "nonsense"])
        let program = try session.program()
        let file = try session.program(["SECRET_BACKEND": "file"])
        for call in ["get token", "set token x", "remove token", "names", "unlock", "async token"] {
            #expect(try without.answer(call) == absent)
            #expect(try wrong.answer(call) == absent)
            #expect(try malformed.answer(call) == absent)
            #expect(try program.answer(call) == noService)
            #expect(try file.answer(call) == "\(SecretError.fileBackend)")
        }
        _ = try session.startKeyring(password: nil)
        #expect(try program.answer("set token x") == "\(SecretError.noCollection)")
        #expect(try program.answer("unlock") == "\(SecretError.noCollection)")
        #expect(try program.answer("get token") == "none")
        #expect(try program.answer("names") == "[]")
        #expect(try session.directory.status(of: "run").isDirectory)
    }

    @Test func `a service that does not answer holds no call beyond its deadline`() throws {
        let keyring = try session.startKeyring()
        let program = try session.program()
        #expect(try program.answer("set token first") == "set")
        #expect(try program.answer("timeout 200") == "timeout")
        #expect(keyring.stop())
        for call in ["get token", "async token", "set token x", "remove other", "names", "unlock"] {
            #expect(try program.answer(call) == "\(SecretError.timedOut)", "\(call)")
        }
        #expect(try program.answer("timeout") == "timeout")
        #expect(try program.answer("cancel token") == "\(SecretError.cancelled)")
        keyring.resume()
        #expect(try program.answer("timeout 60000") == "timeout")
        #expect(try program.answer("names") == #"["token"]"#)
    }

    @Test func `a service that is killed gives an error, and a new one has the secrets`() throws {
        let keyring = try session.startKeyring()
        let (program, waiting) = (try session.program(), try session.program())
        #expect(try program.answer("set token first") == "set")
        #expect(keyring.stop())
        #expect(try waiting.answer("timeout") == "timeout")
        let number = try waiting.send("get token")
        keyring.kill()
        #expect(try waiting.answer(to: number) == noService)
        #expect(try program.answer("get token") == noService)
        _ = try session.startKeyring()
        #expect(try program.answer("get token") == "'first'")
        #expect(try waiting.answer("get token") == "'first'")
    }

    @Test func `the end of the bus does not end a program, and a new bus is found`() throws {
        let keyring = try session.startKeyring()
        let (program, waiting) = (try session.program(), try session.program())
        #expect(try program.answer("set token first") == "set")
        #expect(try waiting.answer("get token") == "'first'")
        #expect(keyring.stop())
        let number = try waiting.send("get token")
        session.endBus()
        #expect(try waiting.answer(to: number) == "\(SecretError.noSessionBus)")
        #expect(try program.answer("get token") == "\(SecretError.noSessionBus)")
        keyring.kill()
        try session.startBus()
        _ = try session.startKeyring()
        #expect(try program.answer("get token") == "'first'")
        #expect(try waiting.answer("get token") == "'first'")
    }

    @Test func `a bus that does not answer holds no call beyond its deadline`() throws {
        _ = try session.startKeyring()
        let program = try session.program()
        #expect(try program.answer("set token first") == "set")
        // Several times: a call that was given up must not fail the next one, with which it shares a connection.
        for _ in 0..<5 {
            #expect(session.stopBus())
            #expect(try program.answer("timeout 50") == "timeout")
            for call in ["get token", "async token", "names"] {
                #expect(try program.answer(call) == "\(SecretError.timedOut)", "\(call)")
            }
            session.resumeBus()
            #expect(try program.answer("timeout 60000") == "timeout")
            #expect(try program.answer("get token") == "'first'")
        }
    }

    @Test func `names and sizes that cannot be used are refused before any call`() throws {
        for group in ["", "a\0b", "a\nb", String(repeating: "a", count: 256)] {
            #expect(throws: SecretError.self) { try GroupSecrets(group: group) }
        }
        let secrets = try GroupSecrets(group: "group.com.example.mail")
        for name in ["", "a\0b", String(repeating: "a", count: 256)] {
            #expect(throws: SecretError.self) { try secrets.blocking.secret(for: name) }
            #expect(throws: SecretError.self) { try secrets.blocking.remove(name) }
        }
        #expect(throws: SecretError.tooLarge(limit: GroupSecrets.largestSecret)) {
            try secrets.blocking.set([UInt8](repeating: 0, count: GroupSecrets.largestSecret + 1), for: "a")
        }
        let container = try TemporaryContainer()
        #expect(throws: SecretError.self) { try GroupSecrets(container.open()) }
    }

    @Test func `a reference is encoded without the secret`() throws {
        let secrets = try GroupSecrets(group: "group.com.example.mail")
        let reference = secrets.reference(to: "token")
        let data = try JSONEncoder().encode(reference)
        #expect(try JSONDecoder().decode(GroupSecrets.Reference.self, from: data) == reference)
        #expect(throws: SecretError.self) { try GroupSecrets.Reference(group: "", name: "x").blocking.secret() }
    }
}
#endif
