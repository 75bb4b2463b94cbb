#if Secrets && Curl
import FoundationEssentials
import GroupSecrets
import TestSupport
import Testing

/// Transfers whose requests have a secret, from a real gnome-keyring.
@Suite(.ownThreads, .needsKeyring, .timeLimit(.minutes(5)), .tags(.process))
struct `A field with a secret` {
    private static let group = "group.com.example.mail"
    private let session: DesktopSession
    private let server: FileServer

    init() throws {
        session = try DesktopSession()
        server = try FileServer()
        _ = try run("groupctl", "create", Self.group)
    }

    private func run(_ words: String...) throws -> (status: Int32, text: String) {
        try RunningProcess(
            words, input: "", environment: session.environment.merging(FileServer.environment) { $1 }
        ).finish()
    }

    /// Downloads 1,000 bytes to the item `a`, and waits.
    private func download(_ path: String, field: String = "Authorization: Bearer {token}") throws -> (
        status: Int32, text: String
    ) {
        try run(
            "group-transfer", "download", "--wait", "--field", field, Self.group, "\(server.address)/\(path)/1/1000",
            "a")
    }

    @Test func `the secret is sent to the server of the address, and to no other one`() throws {
        _ = try session.startKeyring()
        #expect(try session.program().answer("set token open sesame") == "set")
        let other = try FileServer()
        let port = other.address.split(separator: ":").last ?? ""
        for path in ["secret", "near", "away/\(port)/bare"] {
            let (status, text) = try download(path)
            #expect(status == 0, "\(path): \(text)")
        }
        for path in ["good", "away/\(port)/secret"] {
            let (status, text) = try run(
                "group-transfer", "download", "--wait", "--field", "Authorization: Bearer {token}", Self.group,
                "\(server.address)/\(path)/1/1000", "b")
            #expect(status == (path == "good" ? 0 : 1), "\(path): \(text)")
        }
        // Not in the records, not in the journal.
        let found = try run("grep", "-r", "open sesame", session.directory.path)
        #expect(found.status == 1, "\(found.text)")
    }

    @Test func `a secret that is missing, or that no field can have, is one clear error`() throws {
        _ = try session.startKeyring()
        let missing = try download("secret")
        #expect(missing.status == 1 && missing.text.contains("no secret 'token'"), "\(missing.text)")
        #expect(try session.program().answer("set token a\tb\u{7F}") == "set")
        let malformed = try download("secret")
        #expect(malformed.status == 1 && malformed.text.contains("no field can have"), "\(malformed.text)")
        for field in ["Range: {a}", "Host: {a}", "a b: {a}", "Cookie: a", "{a}", "Cookie: {}", "X: \u{7}{a}"] {
            let (status, text) = try download("good", field: field)
            #expect(status != 0 && !text.contains("fatal"), "\(field): \(text)")
        }
    }

    @Test func `a transfer waits until the secrets are unlocked`() throws {
        let keyring = try session.startKeyring()
        #expect(try session.program().answer("set token open sesame") == "set")
        try session.lock()
        let program = try RunningProcess(
            [
                "group-transfer", "download", "--wait", "--field", "Authorization: Bearer {token}", Self.group,
                "\(server.address)/secret/1/1000", "a",
            ], input: "", environment: session.environment.merging(FileServer.environment) { $1 })
        #expect(
            try eventually {
                let text = try run("group-transfer", "list", Self.group).text
                return text.contains("waiting") && text.contains("locked")
            })
        // The keyring starts anew with the password, as at a login.
        keyring.kill()
        _ = try session.startKeyring()
        let (status, text) = try program.finish()
        #expect(status == 0, "\(text)")
    }
}
#endif
