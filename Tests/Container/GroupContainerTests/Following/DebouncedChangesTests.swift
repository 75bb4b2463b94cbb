import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Following debounced changes` {
    private func written(_ sample: SampleContainer) throws {
        let tester = sample.coordinator().blocking
        for number in 1...5 {
            _ = try tester.write(bytes: [UInt8](repeating: 1, count: number), to: "a", durability: .relaxed)
        }
        _ = try tester.write(bytes: [1], to: "gone", durability: .relaxed)
        try tester.remove("gone", durability: .relaxed)
        _ = try tester.write(bytes: [1], to: "b", durability: .relaxed)
    }

    @Test func `a debounced follower gets one change of each path, and the cursor behind all of them`() throws {
        let sample = try SampleContainer()
        try written(sample)
        var follower = try sample.container.recordedChanges(since: .start).debounced(for: .seconds(1))
        let changes = try follower.nextBatch(timeout: patience)
        #expect(changes.map(\.summary) == ["created a", "created b"] && changes[0].size == 5)
        #expect(follower.isSettled && follower.cursor.sequence == 8 && follower.cursor == changes[1].cursor)
        #expect(changes[0].cursor.sequence == 7, "b is to come")
        #expect(try follower.next(timeout: .zero) == nil)
    }

    @Test func `a debounced follower releases nothing while there is more to read, however slowly it reads`()
        async throws
    {
        let sample = try SampleContainer()
        try written(sample)
        var follower = try sample.container.recordedChanges(since: .start).debounced(
            for: .zero, atMost: .seconds(3_600))
        #expect(try follower.nextBatch(timeout: .zero).map(\.summary) == ["created a", "created b"])
        var changes = sample.container.changes(since: .start).debounced(for: .zero, atMost: .seconds(3_600))
            .makeAsyncIterator()
        #expect([try await changes.next()?.summary, try await changes.next()?.summary] == ["created a", "created b"])
    }

    @Test func `a debounced follower waits no longer than its limit, though there is always more to read`() throws {
        let sample = try SampleContainer()
        try written(sample)
        var follower = try sample.container.recordedChanges(since: .start).debounced(
            for: .seconds(3_600), atMost: .zero)
        #expect(try follower.next(timeout: .zero)?.summary == "created a")
        #expect(follower.cursor.sequence == 1)
    }

    @Test func `the cursor of a debounced follower delivers held-back changes again`() throws {
        let sample = try SampleContainer()
        try written(sample)
        var follower = try sample.container.recordedChanges(since: .start).debounced(for: .seconds(3_600))
        #expect(try follower.next(timeout: .zero) == nil)
        #expect(!follower.isSettled && follower.cursor.sequence == 0)
        #expect(follower.bookmark.kind == .bookmark && follower.bookmark.cursor == follower.cursor)
        var again = try sample.container.recordedChanges(since: .cursor(follower.cursor)).debounced(for: .zero)
        #expect(try again.next(timeout: .zero)?.path == "a")
        #expect(again.cursor.sequence > 0)
    }

    @Test func `a debounced follower gets a rescan and a snapshot without delay`() throws {
        let (sample, other) = (try SampleContainer(), try SampleContainer())
        try written(sample)
        var follower = try sample.container.recordedChanges(
            since: .cursor(try other.container.status().cursor), afterRescan: .snapshot
        ).debounced(for: .seconds(3_600))
        #expect(try follower.nextBatch(timeout: .zero).map(\.summary) == ["rescan "])
        #expect(
            try follower.nextBatch(timeout: .zero).map(\.summary) == ["present a", "present b", "bookmark "])
    }

    @Test func `a debounced sequence delivers to a waiting task without a further change to wake it`() async throws {
        let sample = try SampleContainer()
        let changes = sample.container.changes(since: .start).debounced(for: .milliseconds(20))
        let consumer = Task {
            var lines: [String] = []
            for try await change in changes {
                lines.append(change.summary)
                if change.path == "b" { break }
            }
            return lines
        }
        try written(sample)
        let lines = try await consumer.value
        #expect(lines.last == "created b" && lines.contains("created a"))
    }

    @Test func `a debounced sequence ends when its task is cancelled`() async throws {
        let sample = try SampleContainer()
        try written(sample)
        let changes = sample.container.changes(since: .start).debounced(for: .seconds(3_600))
        let task = Task {
            for try await change in changes { Issue.record("reported \(change.summary)") }
        }
        task.cancel()
        try await task.value
    }
}
