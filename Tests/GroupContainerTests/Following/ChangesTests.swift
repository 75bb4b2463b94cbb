import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Following the changes` {
    private static func take(_ count: Int, from follower: inout ChangeFollower) throws -> [String] {
        try (0..<count).compactMap { _ in try follower.next(timeout: patience).map { "\($0.sequence) \($0.path)" } }
    }

    @Test func `from the start gives all, in order, with the cursor behind each`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        for path in ["a", "b", "c"] as [ItemPath] { _ = try tester.write(bytes: [1], to: path) }
        var follower = try sample.container.follow(since: .start)
        #expect(try Self.take(2, from: &follower) == ["1 a", "2 b"])
        var second = try sample.container.follow(since: .cursor(follower.cursor))
        #expect(try Self.take(1, from: &follower) == ["3 c"])
        #expect(try Self.take(1, from: &second) == ["3 c"])
        #expect(try follower.next(timeout: .zero) == nil)
        #expect(follower.cursor.sequence == second.cursor.sequence)
        #expect(try sample.container.status().cursor.sequence == 3)
    }

    @Test func `from now gives what comes`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "before")
        var follower = try sample.container.follow(since: .now)
        #expect(try follower.next(timeout: .zero) == nil)
        _ = try tester.write(bytes: [1], to: "after")
        #expect(try Self.take(1, from: &follower) == ["2 after"])
    }

    @Test func `from a cursor that was kept as text gives exactly what was missed`() throws {
        let temporary = try TemporaryDirectory()
        let text = try {
            let container = try Container(path: temporary.path, creating: true)
            _ = try container.coordinator(purpose: "tester").blocking.write(bytes: [1], to: "before")
            return try container.status().cursor.description
        }()
        let container = try Container(path: temporary.path)
        let tester = container.coordinator(purpose: "tester").blocking
        for number in 0..<50 { _ = try tester.write(bytes: [1], to: "missed-\(number)", .relaxed) }
        var follower = try container.recordedChanges(since: .cursor(try #require(Cursor(text))))
        #expect(try Self.take(50, from: &follower) == (0..<50).map { "\($0 + 2) missed-\($0)" })
        #expect(try follower.next(timeout: .zero) == nil)
    }

    @Test(
        arguments: [
            (["Library/**"], ["Library/a", "Library/b", "Library/b/c"]),
            (["*"], ["top", "Library", "other", "Library/b"]),
            (["**/c"], ["Library/b/c"]), (["top", "other/*"], ["top", "other/x"]), (["nothing"], []), (["**"], nil),
        ])
    func `by patterns gives what matches one of them`(patterns: [String], expected: [String]?) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        for path in ["top", "Library/a", "Library/b/c", "other/x"] as [ItemPath] {
            _ = try tester.write(bytes: [1], to: path)
        }
        let all = ["top", "Library", "Library/a", "Library/b", "Library/b/c", "other", "other/x"]
        var follower = try sample.container.recordedChanges(since: .start, matching: ChangeFilter(including: patterns))
        var paths: [String] = []
        while let change = try follower.next(timeout: .zero) { paths.append(change.path.description) }
        let wanted = (expected ?? all).filter { patterns != ["*"] || !$0.contains("/") }
        #expect(paths == all.filter(wanted.contains))
        #expect(follower.cursor.sequence == 7)
    }

    @Test func `wakes when another thread writes`() throws {
        let sample = try SampleContainer()
        let container = sample.container
        var follower = try container.follow(since: .now)
        let tester = sample.coordinator().blocking
        for number in 0..<20 {
            let writer = Side { try tester.write(bytes: [UInt8(number)], to: "file", .relaxed) }
            #expect(try follower.next(timeout: patience)?.sequence == UInt64(number + 1))
            _ = try writer.answer()
        }
    }

    @Test func `begins when there is a leader, who is elected at once`() throws {
        let sample = try SampleContainer()
        for _ in 0..<20 {
            // Each begins a candidature of its own, and ends it.
            _ = try sample.container.follow(since: .now)
            let follower = try sample.container.follow(since: .now)
            // The one before may be in office still when the second begins, and leave it then: the next is elected.
            let member = sample.container.member
            let second = LeaderElection.candidate(member).election
            let deadline = Deadline(after: patience)
            while second.term == nil && !deadline.isOver {
                member.memberTable.awaitWake(on: MemberTable.leaderWord, atMost: nil) { second.term != nil }
            }
            #expect(second.term != nil)
            _ = follower
        }
    }

    @Test func `ends in an error when the container is removed`() throws {
        let sample = try SampleContainer()
        var follower = try sample.container.recordedChanges(since: .now)
        try sample.temporary.run("sh", "-c", "rm -r .group && rmdir \"$PWD\"")
        #expect(code { try follower.next(timeout: patience) } == .notFound)
    }

    @Test func `from a foreign cursor gives one rescan, then goes on`() throws {
        let (one, two) = (try SampleContainer(), try SampleContainer())
        for sample in [one, two] {
            for number in 0..<5 { _ = try sample.coordinator().blocking.write(bytes: [1], to: "\(number)") }
        }
        var follower = try two.container.recordedChanges(since: .cursor(try one.container.status().cursor))
        let rescan = try #require(try follower.next(timeout: .zero))
        #expect(rescan.kind == .rescan && rescan.path.bytes.isEmpty && rescan.by == nil)
        #expect(rescan.cursor == (try two.container.status().cursor))
        #expect(try follower.next(timeout: .zero) == nil)
        _ = try two.coordinator().blocking.write(bytes: [2], to: "new")
        #expect(try follower.next(timeout: .zero)?.path == "new")
        var again = try two.container.recordedChanges(since: .cursor(rescan.cursor))
        #expect(try again.next(timeout: .zero)?.path == "new")
    }
}
