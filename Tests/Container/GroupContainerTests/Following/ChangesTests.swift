import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Following changes` {
    private static func take(_ count: Int, from follower: inout Follower<Change>) throws -> [String] {
        try (0..<count).compactMap { _ in try follower.next(timeout: patience).map { "\($0.sequence) \($0.path)" } }
    }

    @Test func `a follower from the start gets all changes in order, with a cursor behind each`() throws {
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

    @Test func `a follower from now gets only later changes`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "before")
        var follower = try sample.container.follow(since: .now)
        #expect(try follower.next(timeout: .zero) == nil)
        _ = try tester.write(bytes: [1], to: "after")
        #expect(try Self.take(1, from: &follower) == ["2 after"])
    }

    @Test func `a follower that resumes from a cursor kept as text gets exactly the missed changes`() throws {
        let temporary = try TemporaryDirectory()
        let text = try {
            let container = try Container(path: temporary.path, creating: true)
            _ = try container.coordinator(purpose: "tester").blocking.write(bytes: [1], to: "before")
            return try container.status().cursor.description
        }()
        let container = try Container(path: temporary.path)
        let tester = container.coordinator(purpose: "tester").blocking
        for number in 0..<50 { _ = try tester.write(bytes: [1], to: "missed-\(number)", durability: .relaxed) }
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
    func `a follower with patterns gets the changes that match one of them`(patterns: [String], expected: [String]?)
        throws
    {
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

    @Test func `a follower wakes when another thread writes`() throws {
        let sample = try SampleContainer()
        let container = sample.container
        var follower = try container.follow(since: .now)
        let tester = sample.coordinator().blocking
        for number in 0..<20 {
            let writer = Side { try tester.write(bytes: [UInt8(number)], to: "file", durability: .relaxed) }
            #expect(try follower.next(timeout: patience)?.sequence.rawValue == UInt64(number + 1))
            _ = try writer.answer()
        }
    }

    @Test func `a follower's leader is elected at once, also after many short-lived followers`() throws {
        let sample = try SampleContainer()
        for _ in 0..<20 {
            // Each follower begins a candidacy of its own, and ends it.
            _ = try sample.container.follow(since: .now)
            let follower = try sample.container.follow(since: .now)
            // The previous candidate may still be leader when the second one begins, and resign then: the next one is
            // elected.
            let member = sample.container.opened
            let second = LeaderElection.candidate(member).election
            let deadline = Deadline(after: patience)
            while second.term == nil && !deadline.isOver {
                member.memberTable.awaitWake(on: MemberTable.leaderWord, atMost: nil) { second.term != nil }
            }
            #expect(second.term != nil)
            _ = follower
        }
    }

    @Test func `a follower ends in an error when its container is removed`() throws {
        let sample = try SampleContainer()
        var follower = try sample.container.recordedChanges(since: .now)
        try sample.temporary.run("sh", "-c", "rm -r .group && rmdir \"$PWD\"")
        #expect(code { try follower.next(timeout: patience) } == .notFound)
    }

    @Test func `a follower from another container's cursor gets one rescan, then new changes`() throws {
        let (one, two) = (try SampleContainer(), try SampleContainer())
        for sample in [one, two] {
            for number in 0..<5 { _ = try sample.coordinator().blocking.write(bytes: [1], to: "\(number)") }
        }
        var follower = try two.container.recordedChanges(since: .cursor(try one.container.status().cursor))
        let rescan = try #require(try follower.next(timeout: .zero))
        #expect(rescan.kind == .rescan && rescan.path.bytes.isEmpty && rescan.author == nil)
        #expect(rescan.cursor == (try two.container.status().cursor))
        #expect(try follower.next(timeout: .zero) == nil)
        _ = try two.coordinator().blocking.write(bytes: [2], to: "new")
        #expect(try follower.next(timeout: .zero)?.path == "new")
        var again = try two.container.recordedChanges(since: .cursor(rescan.cursor))
        #expect(try again.next(timeout: .zero)?.path == "new")
    }
}
