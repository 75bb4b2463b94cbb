import GroupLocking

/// A suite of the group defaults that exists.
package struct SuiteName: StreamElement {
    package typealias Failure = CoordinationError
    package typealias Position = Void

    package let name: String
}

/// The feed of the suites that are created in a container, without those of this package's own modules. A suite comes
/// once its creator has made its first segment; a value may be set in it before the feed returns it. For use by one
/// thread.
struct SuiteNameFeed: Feed {
    private let container: Container
    private var known: Set<String>
    private var waiting: ArraySlice<String> = []
    private var presence = RemovalCheck()
    private let sleeper: WakeWaiter

    /// Begins with the suites that are not `known`.
    init(_ container: Container, unlike known: Set<String>) {
        self.container = container
        self.known = known
        sleeper = WakeWaiter(container.opened.memberTable, word: MemberTable.suitesWord)
    }

    mutating func next() throws(CoordinationError) -> SuiteName? {
        if waiting.isEmpty { waiting = container.suiteNames().filter { !known.contains($0) }.sorted()[...] }
        guard let name = waiting.popFirst() else { return nil }
        known.insert(name)
        return SuiteName(name: name)
    }

    var hasMore: Bool { !waiting.isEmpty || container.suiteNames().contains { !known.contains($0) } }

    var waiter: any FeedWaiter {
        LogWaiter(
            memberTable: container.opened.memberTable, word: MemberTable.suitesWord, sleeper: sleeper,
            removals: presence.removals)
    }

    mutating func check() throws(CoordinationError) { try presence.check(container.opened, "follow") }
}

extension MemberTable {
    /// The wake word of those that wait for a suite to be created. The word of the leader is before it.
    static let suitesWord = leaderWord + 1
}

extension Container {
    /// Returns the suites that exist and are not `known`, then each that is created, without end.
    package func followSuites(unlike known: Set<String> = []) -> Follower<SuiteName> {
        Follower(SuiteNameFeed(self, unlike: known))
    }

    /// Returns the suites of `followSuites(unlike:)` for a task.
    package func suites(unlike known: Set<String> = []) -> FollowerSequence<SuiteName> {
        FollowerSequence(.success(SuiteNameFeed(self, unlike: known)))
    }
}
