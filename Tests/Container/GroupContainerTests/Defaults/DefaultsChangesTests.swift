import Observation
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Key changes` {
    private static let number = GroupDefaults.Key<Int>("n", default: 0)

    @Test func `a follower of a suite gets every change in order, with its author and old value`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container, purpose: "clock")
        var follower = try defaults.follow()
        for number in 1...3 { try defaults.set(number, for: Self.number) }
        try defaults.removeValue(forKey: "n")
        try defaults.removeValue(forKey: "n")
        try defaults.removeAll()
        var changes: [DefaultsChange] = []
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        #expect(changes.map(\.kind) == [.set, .set, .set, .removed, .cleared])
        #expect(changes.map(\.oldValue) == [nil, .integer(1), .integer(2), .integer(3), nil])
        #expect(changes.map(\.newValue) == [.integer(1), .integer(2), .integer(3), nil, nil])
        #expect(
            changes.allSatisfy { $0.author?.purpose == "clock" && $0.author?.processIdentifier == processIdentifier() })
        #expect(changes.map(\.generation) == [1, 2, 3, 4, 6])
        #expect(follower.cursor == changes.last?.cursor)
    }

    @Test func `a follower of a suite that resumes from a cursor gets the changes behind it`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "a")
        var follower = try defaults.follow(since: .start)
        #expect(try follower.next(timeout: .zero)?.newValue == .integer(1))
        let cursor = follower.cursor
        try defaults.set(2, forKey: "a")
        var back = try defaults.follow(since: .cursor(cursor))
        let change = try #require(try back.next(timeout: .zero))
        #expect(change.oldValue == .integer(1) && change.newValue == .integer(2))
        #expect(try back.next(timeout: .zero) == nil)
        // A cursor of another container gives a rescan.
        let other = try SampleContainer()
        let foreign = try GroupDefaults(other.container)
        try foreign.set(1, forKey: "b")
        var lost = try foreign.follow(since: .cursor(cursor))
        #expect(try lost.next(timeout: .zero)?.kind == .rescan)
        #expect(try lost.next(timeout: .zero)?.key == "b")
    }

    @Test func `a follower of a suite that stops within a transaction gets all of it again`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        var follower = try defaults.follow()
        let start = follower.cursor
        try defaults.transaction {
            for key in ["a", "b"] { $0.set(.integer(1), forKey: key) }
            $0.set(nil, forKey: "c")
        }
        let first = try #require(try follower.next(timeout: .zero))
        #expect(first.key == "a" && first.parts == 2, "the removal of nothing is none")
        #expect(follower.cursor == start)
        let second = try #require(try follower.next(timeout: .zero))
        #expect(second.part == 1 && second.cursor == first.cursor && follower.cursor == second.cursor)
        // A place within a snapshot cannot be resumed from.
        var snapshot = try defaults.follow(since: .snapshot)
        #expect(snapshot.cursor.isInvalid)
        #expect(try snapshot.next(timeout: .zero)?.cursor.isInvalid == true)
        #expect(try snapshot.next(timeout: .zero)?.cursor == second.cursor && snapshot.cursor == second.cursor)
    }

    @Test func `a follower of one key gets no change of another`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "a")
        var follower = try defaults.follow(of: ["a"], since: .snapshot)
        try defaults.set(2, forKey: "b")
        try defaults.removeAll()
        var changes: [DefaultsChange] = []
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        #expect(changes.map(\.kind) == [.present, .removed] && changes.map(\.key) == ["a", "a"])
        #expect(changes.last?.oldValue == .integer(1))
    }

    @Test func `key changes arrive in a waiting task, each or only the latest`() async throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        // Made here, as a task may begin only when all is set.
        let everyValue = defaults.values(of: Self.number)
        let latestChange = defaults.changes(of: Self.number, delivering: .latest)
        let values = Task {
            var seen: [Int] = []
            for try await value in everyValue {
                seen.append(value)
                if value == 50 { break }
            }
            return seen
        }
        let changes = Task {
            var last: DefaultsChange?
            for try await change in latestChange {
                last = change
                if change.newValue == .integer(50) { break }
            }
            return last?.newValue
        }
        let store = try defaults.writableStore("set")
        #expect(await eventually { store.sleeper.isWatching })
        for number in 1...50 { try defaults.set(number, for: Self.number) }
        let seen = try await values.value
        #expect(seen == Array((seen.first ?? 0)...50))
        #expect(try await changes.value == .integer(50))
    }

    @Test func `the changes of a typed key begin where they are requested`() async throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        for number in 1...2 { try defaults.set(number, for: Self.number) }
        var changes = defaults.changes(of: Self.number, since: .start).makeAsyncIterator()
        #expect(try await changes.next()?.newValue == .integer(1))
        let second = try #require(try await changes.next())
        try defaults.set(3, for: Self.number)
        changes = defaults.changes(of: Self.number, since: .cursor(second.cursor)).makeAsyncIterator()
        #expect(try await changes.next()?.newValue == .integer(3))
    }

    @Test func `a sequence of key changes ends when its task is cancelled`() async throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let store = try defaults.writableStore("set")
        let task = Task { [defaults] in
            for try await _ in defaults.changes() { return false }
            return true
        }
        #expect(await eventually { store.sleeper.isWatching })
        task.cancel()
        #expect(try await task.value)
    }

    @Test func `Observation reports a key's new value`() async throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, for: Self.number)
        let observed = ObservedDefault(Self.number, in: defaults)
        #expect(observed.value == 1)
        let reported = AsyncStream<Void>.makeStream()
        withObservationTracking {
            _ = observed.value
        } onChange: {
            reported.continuation.yield()
        }
        try GroupDefaults(sample.container).set(2, for: Self.number)
        for await _ in reported.stream { break }
        #expect(await eventually { observed.value == 2 })
        try observed.set(3)
        #expect(defaults[Self.number] == 3)
        #expect(await eventually { observed.value == 3 })
    }
}
