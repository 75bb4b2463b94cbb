import GroupBytes
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Following a transaction` {
    private let sample: SampleContainer
    /// The cursor just before the transaction.
    private let before: Cursor

    init() throws {
        sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "before")
        before = try sample.container.status().cursor
        let kinds: [(ChangeRecord.Kind, String)] = [
            (.created, "Library"), (.created, "Library/a"), (.modified, "b"), (.removed, "c"),
        ]
        let record = ChangeRecord(
            transaction: kinds.map { ChangePart(kind: $0.0, path: Array($0.1.utf8), state: nil) },
            operation: [UInt8](repeating: 0xab, count: 16), processIdentifier: 7, purpose: Array("tester".utf8),
            time: 5)
        _ = try sample.container.opened.journal.append(record)
        _ = try tester.write(bytes: [1], to: "after")
    }

    private func all(since origin: ChangeOrigin, matching patterns: [String] = []) throws -> [Change] {
        var follower = try sample.container.recordedChanges(since: origin, matching: ChangeFilter(including: patterns))
        var changes: [Change] = []
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        return changes
    }

    @Test func `a follower gets a transaction's changes in order, with one sequence number and one cursor`() throws {
        let changes = try all(since: .start)
        #expect(changes.map(\.path) == ["before", "Library", "Library/a", "b", "c", "after"])
        #expect(changes.map(\.sequence) == [1, 2, 2, 2, 2, 3])
        #expect(changes.map(\.kind.name) == ["created", "created", "created", "modified", "removed", "created"])
        #expect(changes.map { $0.transaction?.index } == [nil, 0, 1, 2, 3, nil])
        #expect(Set(changes[1...4].map(\.cursor)).count == 1)
        #expect(changes[1...4].allSatisfy { $0.transaction?.count == 4 && $0.author?.processIdentifier == 7 })
        #expect(changes[1].transaction?.identifier == String(repeating: "ab", count: 16))
        #expect(try all(since: .cursor(changes[1].cursor)).map(\.path) == ["after"])
    }

    @Test(arguments: [(["Library/**"], ["Library/a"]), (["?"], ["b", "c"]), (["**/a", "c"], ["Library/a", "c"])])
    func `a follower with patterns gets a transaction's matching changes, and their count`(
        patterns: [String], expected: [String]
    ) throws {
        let changes = try all(since: .cursor(before), matching: patterns)
        #expect(changes.map(\.path.description) == expected)
        #expect(changes.map { $0.transaction?.index } == Array(expected.indices))
        #expect(changes.allSatisfy { $0.transaction?.count == expected.count })
    }

    @Test func `a follower's cursor stays before a transaction until its last change was delivered`() throws {
        var follower = try sample.container.recordedChanges(since: .cursor(before))
        for path in ["Library", "Library/a", "b"] as [ItemPath] {
            #expect(try follower.next(timeout: .zero)?.path == path)
            #expect(follower.cursor == before)
            let again = try all(since: .cursor(follower.cursor))
            #expect(again.map(\.path) == ["Library", "Library/a", "b", "c", "after"])
        }
        let last = try #require(try follower.next(timeout: .zero))
        #expect(last.path == "c" && follower.cursor == last.cursor && last.cursor != before)
        #expect(try follower.next(timeout: .zero)?.path == "after")
    }

    @Test func `an asynchronous sequence gets a whole transaction`() async throws {
        var paths: [ItemPath] = []
        for try await change in sample.container.changes(since: .cursor(before)) {
            paths.append(change.path)
            if change.path == "after" { break }
        }
        #expect(paths == ["Library", "Library/a", "b", "c", "after"])
    }

    @Test func `a transaction that is larger than a journal segment is refused`() throws {
        let log = sample.container.opened.journal.log
        #expect(code { try translating(log.ensureRoom(forBodyOf: 5 << 20)) } == .limitReached)
        try log.ensureRoom(forBodyOf: 1 << 20)
        #expect(
            try sample.container.opened.directory.ownDirectory("journal").entryNames().map(printable).sorted() == [
                "1.log"
            ])
        // The record would not fit into the rest of the segment: the next segment is there before anything happens.
        try log.ensureRoom(forBodyOf: 4_100_000)
        #expect(
            try sample.container.opened.directory.ownDirectory("journal").entryNames().map(printable).sorted()
                == ["1.log", "spare"])
    }
}
