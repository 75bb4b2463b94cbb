import Foundation
import GroupContainer
import TestSupport
import Testing

/// A transaction that rotates a log: files are moved over others and out of the way of new ones, and a directory is
/// moved.
@Suite(
    .ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)),
    .tags(.process))
struct `Transactions with moves under faults` {
    private static let before = ["log": "0", "log.1": "1", "log.2": "2", "old/directory/file": "x"]
    private static let after = ["log": "new", "log.1": "0", "log.2": "1", "copy": "new", "new/directory/file": "x"]
    private static let kinds = [
        "moved log.2", "moved log.1", "created log", "created copy", "created new", "moved new/directory",
    ]

    private static func found(in container: TemporaryContainer) -> [String: String] {
        let paths = Set(before.keys).union(after.keys)
        return paths.reduce(into: [:]) { $0[$1] = container.content(of: $1) }
    }

    private static func prepare() throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        let writer = try container.open().coordinator(purpose: "before").blocking
        for (path, content) in before.sorted(by: { $0.key < $1.key }) {
            _ = try writer.write(bytes: Array(content.utf8), to: ItemPath(path), durability: .relaxed)
        }
        return container
    }

    private static func command(_ container: TemporaryContainer, _ durability: String = "durable") -> [String] {
        ["test-member", "transact-round", container.path, durability]
    }

    /// Expects all or nothing, in the container and in the journal.
    private func expectWhole(_ container: TemporaryContainer, _ happened: Bool, _ place: Comment) throws {
        #expect(Self.found(in: container) == (happened ? Self.after : Self.before), place)
        let reported = try container.changes().filter(\.isCoordinated).dropFirst(6)
        #expect(reported.map { "\($0.kind.name) \($0.path)" } == (happened ? Self.kinds : []), place)
        #expect(container.staging.isEmpty, place)
        // The records describe the items as they are; an item that was moved back has another date of its last change.
        #expect(try Invariants.broken(in: container, uncoordinated: true) == [], place)
    }

    @Test(arguments: ["rename", "link"])
    func `a transaction with moves takes everything back when one of its steps fails`(
        name: String
    ) throws {
        let model = try Self.prepare()
        let calls = try Strace.calls(of: Self.command(model), input: "", in: model).filter { $0.name.hasPrefix(name) }
        // The commit, and the five steps that are not a hard link.
        try #require(calls.count >= (name == "link" ? 1 : 7), "\(calls)")
        for call in calls {
            let container = try Self.prepare()
            let (status, text) = try Strace.run(Self.command(container), fault: .error("EIO"), at: call)
            #expect(status == 1 && text.hasPrefix("error inputOutput"), "\(call): \(text)")
            try expectWhole(container, false, "EIO at \(call)")
            #expect(try RunningProcess(Self.command(container)).finish().status == 0)
            try expectWhole(container, true, "EIO at \(call), then again")
        }
    }

    @Test func `a transaction with moves that can go neither on nor back is completed by the next process`() throws {
        let model = try Self.prepare()
        let calls = try Strace.calls(of: Self.command(model), input: "", in: model)
        // All steps but the first two: there is something to move back by the same call.
        for call in calls.filter({ $0.name.hasPrefix("rename") }).suffix(4) {
            let container = try Self.prepare()
            let process = try Strace.start(
                Self.command(container), input: "", fault: .error("EIO"), at: call, andAllLater: true)
            let (status, text) = try process.finish()
            #expect(status == 1 && text.hasPrefix("error unfinished"), "\(text)")
            _ = try container.groupctl("read", "log")
            try expectWhole(container, true, "EIO from \(call) on")
        }
    }

    // fault: writer-killed, power-cut
    @Test func `a transaction with moves loses nothing to a power cut in the middle, even if not durable`() throws {
        let model = try Self.prepare()
        let calls = try Strace.calls(of: Self.command(model, "relaxed"), input: "", in: model)
        for call in calls where call.name.hasPrefix("rename") || call.name.hasPrefix("link") {
            let container = try Self.prepare()
            _ = try Strace.run(Self.command(container, "relaxed"), fault: .kill, at: call)
            try Self.reboot(container)
            _ = try container.groupctl("read", "log")
            // The transaction may be there in part, but nothing that was moved is gone.
            let contents = Self.found(in: container).values
            #expect(Set(contents).isSuperset(of: ["0", "1", "x"]), "cut at \(call): \(contents)")
            #expect(container.staging.isEmpty, "cut at \(call)")
        }
    }

    /// Leaves the container as a boot does: the member table names another boot.
    private static func reboot(_ container: TemporaryContainer) throws {
        let memberTable = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/members"))
        try memberTable.seek(toOffset: 32)
        try memberTable.write(contentsOf: Data("another boot, another boot, anot".utf8))
        try memberTable.close()
    }
}
