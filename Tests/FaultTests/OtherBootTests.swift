import Foundation
import GroupContainer
import SystemCalls
import TestSupport
import Testing

/// The first to open a container after a boot recovers its logs, and may itself be killed at it.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `A container of another boot` {
    /// As a boot would leave it: the roster names another one.
    private func container(withChanges count: Int) throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        for number in 0..<count { _ = try container.groupctl("write", "item", input: "\(number)") }
        let roster = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/roster"))
        try roster.seek(toOffset: 32)
        try roster.write(contentsOf: Data("another boot, another boot, anot".utf8))
        try roster.close()
        return container
    }

    @Test func `is followed from its past into its present by the one that recovers it`() throws {
        let container = try container(withChanges: 2)
        let follower = try RunningProcess([
            "watch-group", "--since", "start", "--count", "3", "--timeout", "20", container.path,
        ])
        try follower.waitForText("modified")
        _ = try container.groupctl("write", "item", input: "new")
        #expect(try follower.finish().text == "created\titem\nmodified\titem\nmodified\titem\n")
        #expect(container.journalFiles == ["1.log", "2.log"])
    }

    @Test(.enabled(if: Strace.isThere, Strace.isMissing))
    func `is recovered, though who did it was killed at any of its system calls`() throws {
        let write = { (container: TemporaryContainer) in ["groupctl", "write", container.path, "item"] }
        let model = try container(withChanges: 1)
        let calls = try Strace.calls(of: write(model), input: "new", in: model)
        for call in runsLongTests ? calls : calls.filter({ $0.name != "close" && $0.number % 2 == 1 }) {
            let container = try container(withChanges: 1)
            _ = try Strace.run(write(container), input: "new", fault: .kill, at: call)
            let visible = container.content(of: "item") == "new"
            #expect(try container.groupctl("write", "item", input: "newer").status == 0, "killed at \(call)")
            #expect(try container.changes().count == (visible ? 3 : 2), "killed at \(call)")
            #expect(container.journalFiles == ["1.log", "2.log"], "killed at \(call)")
            #expect(try Invariants.broken(in: container) == [], "killed at \(call)")
        }
    }
}
