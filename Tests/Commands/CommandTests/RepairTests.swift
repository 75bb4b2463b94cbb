import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: Strace.isThere, "needs strace(1) and the permission to trace"), .tags(.process, .root))
struct `A writer killed between its rename and its record` {
    private func killWriter(of item: String, in container: TemporaryContainer) throws {
        let writer = try Strace.start(
            ["groupctl", "write", container.path, item, "--purpose", "killed"], input: "content", fault: .stop,
            at: Strace.Call(name: "renameat2", number: 1))
        // A stop that comes with a call takes effect when the call is done.
        #expect(try writer.waitUntilStopped())
        try writer.kill()
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

    @Test func `the next process records the change of a writer killed before its record`() async throws {
        let container = try TemporaryContainer()
        try killWriter(of: "a", in: container)
        try await expectOneRecord(of: "a", among: ["created\ta"], in: container)
    }

    @Test func `the next writer of the item records a killed writer's change, while others live`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--count", "1")
        try killWriter(of: "a", in: container)
        #expect(try await container.done("read", "a").text == "content")
        #expect(try await watcher.finish().text == "created\ta\n")
        try await expectOneRecord(of: "a", among: ["created\ta"], in: container)
    }

    @Test func `the next process records a killed writer's change, also with another slot`() async throws {
        let container = try TemporaryContainer()
        // A follower might repair the change at once; a process that only holds a lock does not.
        let other = try await LockHolder(of: "b", in: container, purpose: "other")
        try killWriter(of: "a", in: container)
        #expect(try await container.shell("ls \"$1/.group/staging\"").lines.count == 1, "its intent record is there")
        #expect(try await other.release().status == 0)
        try await expectOneRecord(of: "a", among: ["created\tb", "created\ta"], in: container)
    }

    @Test(.enabled(if: canPlayNobody, "needs root and setpriv(1)"))
    func `another user of the Unix group records a killed writer's change`() async throws {
        let container = try TemporaryContainer(creating: false)
        try await container.done("create", "--unix-group", "games")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        try killWriter(of: "a", in: container)
        let outcome = try await container.start(
            "setpriv", nobody(groups: "60") + [BuildDirectory.resolve("groupctl"), "list", container.path]
        ).finish()
        #expect(outcome.status == 0 && outcome.lines == ["a"], "\(outcome)")
        try await expectOneRecord(of: "a", among: ["created\ta"], in: container)
    }
}
