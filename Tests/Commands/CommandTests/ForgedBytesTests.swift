import Foundation
import GroupSystemCalls
import TestSupport
import Testing

/// Bytes below `.group` that no member writes, but any process with the permission to write there can.
@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `Forged bytes in a container's own files` {
    private func put(_ word: UInt64, at offset: Int64, of name: String, _ container: TemporaryContainer) throws {
        let file = try FileHandle(forUpdating: URL(filePath: "\(container.path)/.group/\(name)"))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data((0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }))
        try file.close()
    }

    // The word at 904 is the time of the last probe of the leader.
    @Test(arguments: [1 << 63, .max, 1 << 62] as [UInt64])
    func `an impossible time of a leader probe ends no follower`(word: UInt64) async throws {
        let container = try TemporaryContainer()
        let leader = try await container.watching()
        try put(word, at: 904, of: "members", container)
        #expect(try await container.watch("--timeout", "1500ms").finish().status == 2)
        try await container.done("write", "a", input: "1")
        #expect(try await leader.readLine() == "created\ta")
        leader.signal(SIGTERM)
        let outcome = try await leader.finish()
        #expect(outcome.status != 132 && !outcome.errors.contains("Fatal"), "\(outcome)")
    }

    @Test(arguments: [1 << 63, .max] as [UInt64])
    func `an impossible time of a lock hides no holder`(word: UInt64) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        // These are the time of joining and the time of the first access, of slot 0.
        for offset in [8, 384 + 24] { try put(word, at: 69_632 + Int64(offset), of: "members", container) }
        for command in ["status", "doctor"] {
            for words in [[], ["--json"]] {
                let outcome = try await container.start("groupctl", [command, container.path] + words).finish()
                #expect(outcome.status <= 1, "\(outcome)")
                if command == "status" { #expect(outcome.text.contains("the-holder"), "\(outcome)") }
            }
        }
        let outcome = try await container.run("read", "a", "--timeout", "0")
        #expect(outcome.status == 75 && outcome.errors.contains("(the-holder"), "\(outcome)")
        #expect(try await holder.release().status == 0)
    }

    @Test(arguments: ["18446744073709551615", "0", "4294967296", "+2", "02"])
    func `a journal file with an impossible number is ignored`(name: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let journal = container.path + "/.group/journal"
        #expect(
            try await container.shell(#"cp "$1/.group/journal/1.log" "$1/.group/journal/$2.log""#, name).status == 0)
        try await container.done("write", "b", "--timeout", "5s", input: "1")
        #expect(try await container.done("changes", "--since", "start").lines == ["created\ta", "created\tb"])
        #expect(FileManager.default.fileExists(atPath: "\(journal)/\(name).log"))
    }
}
