import Foundation
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: Strace.isThere, "needs strace(1) and the permission to trace"))
struct `A writer killed between its rename and its record` {
    /// The first fsync is that of the content, the second that of the directory.
    private func killWriter(of item: String, in container: TemporaryContainer) async throws {
        let words = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:signal=KILL:when=2"]
        let outcome = try await container.start(
            "strace", words + ["groupctl", "write", container.path, item, "--purpose", "killed"], input: "content"
        ).finish()
        #expect(outcome.status == 128 + SIGKILL, "\(outcome)")
        #expect(try container.content(item) == "content", "it was renamed")
    }

    private func expectOneRecord(of item: String, among lines: [String], in container: TemporaryContainer) async throws
    {
        for _ in 0..<2 { #expect(try await container.done("changes", "--since", "start").lines == lines) }
        let json = try await container.done("changes", "--since", "start", "--json").lines.map { try JSONChange($0) }
        #expect(json.first { $0.path == item }?.by?.purpose == "killed")
        #expect(json.map(\.sequence) == Array(1...UInt64(lines.count)))
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    @Test func `gets its record from the next who comes`() async throws {
        let container = try await TemporaryContainer()
        try await killWriter(of: "a", in: container)
        try await expectOneRecord(of: "a", among: ["created\ta"], in: container)
    }

    @Test func `gets its record from the next who wants the item, while others live`() async throws {
        let container = try await TemporaryContainer()
        let watcher = try await container.watching("--count", "1")
        try await killWriter(of: "a", in: container)
        #expect(try await container.done("read", "a").text == "content")
        #expect(try await watcher.finish().text == "created\ta\n")
        try await expectOneRecord(of: "a", among: ["created\ta"], in: container)
    }

    @Test func `gets its record though another slot is free for the next who comes`() async throws {
        let container = try await TemporaryContainer()
        // A follower might repair it at once; who only holds a lock does not.
        let other = try await LockHolder(of: "b", in: container, purpose: "other")
        try await killWriter(of: "a", in: container)
        #expect(try await container.shell("ls \"$1/.group/staging\"").lines.count == 1, "its note is there")
        #expect(try await other.release().status == 0)
        try await expectOneRecord(of: "a", among: ["created\tb", "created\ta"], in: container)
    }

    @Test(.enabled(if: canPlayNobody, "needs root and setpriv(1)"))
    func `gets its record from another user of the unix group`() async throws {
        let container = try await TemporaryContainer(creating: false)
        try await container.done("create", "--unix-group", "games")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        try await killWriter(of: "a", in: container)
        let outcome = try await container.start(
            "setpriv", nobody(groups: "60") + [BuildDirectory.resolve("groupctl"), "list", container.path]
        ).finish()
        #expect(outcome.status == 0 && outcome.lines == ["a"], "\(outcome)")
        try await expectOneRecord(of: "a", among: ["created\ta"], in: container)
    }
}
