import GroupSystemCalls

/// Follows the container's changes on the calling thread: in the order of the journal, each once. Holds no more than
/// its place in the journal, so one that is slow costs no memory and loses nothing.
public struct ChangeFollower: Sendable {
    private var reader: ChangeFeed
    /// Takes part in electing the leader, who sees what is changed without coordination, for as long as this follows.
    private let following: LeaderElection.Following?
    private var presence = PresenceCheck()

    init(_ reader: ChangeFeed, _ following: LeaderElection.Following?) {
        (self.reader, self.following) = (reader, following)
    }

    /// Right behind the last change that was returned, and everything before it that did not match. As long as changes
    /// of a transaction are still to come, the place before that transaction: who stops there and comes back gets all
    /// of it again, rather than half of it. (`Change.cursor` is behind the transaction in each of them.) In the middle
    /// of a snapshot, a place that no journal has: who comes back with it gets a `rescan`.
    public var cursor: Cursor { reader.cursor }

    /// A marker to hand on: complete up to `cursor`.
    public var bookmark: Change { reader.bookmark }

    /// Where it reads on in the journal, whatever is still to be told of a snapshot.
    package var place: Cursor { reader.place }

    /// The next change; waits for it at most `timeout` (nil: for ever) and then returns nil. A writer in any process
    /// wakes it within microseconds; where the container is read-only nobody does, and it looks every 100 ms. Errors:
    /// `damaged`, and `notFound` when the container was removed.
    /// System calls: futex(FUTEX_WAIT), only where there is nothing to read; read-only: nanosleep, openat2, mmap.
    public mutating func next(timeout: Duration? = nil) throws(CoordinationError) -> Change? {
        let deadline = Deadline(after: timeout)
        while true {
            if let change = try reader.next() { return change }
            if reader.lookForLeader() { continue }
            if deadline.isOver { return nil }
            try reader.member.checkNotForked("follow")
            try presence.check(reader.member, "follow")
            following?.election.lookAfterLeader()
            let place = reader
            place.member.memberTable.awaitWake(on: MemberTable.journalWord, atMost: deadline.remaining) {
                place.hasMore
            }
        }
    }
}

extension Container {
    /// The changes since a place, on the calling thread. Returns when every change from now on is seen, also one that
    /// is made without coordination (read-only: if a member that may write follows). `matching` and `afterRescan` are
    /// as in `changes(since:matching:afterRescan:)`.
    public func follow(
        since origin: ChangeOrigin = .now, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) throws(CoordinationError) -> ChangeFollower {
        let following = member.beginFollowing()
        var reader = try ChangeFeed(member, since: origin, matching: filter, afterRescan: policy)
        reader.noteBlindness()
        try reader.takeSnapshot()
        return ChangeFollower(reader, following)
    }

    /// What the journal has by now, without waiting for more: `next(timeout: .zero)` gives one after the other, then
    /// nil. Call `noteUncoordinatedChanges` before, if changes made without coordination matter.
    public func recordedChanges(
        since origin: ChangeOrigin, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) throws(CoordinationError) -> ChangeFollower {
        ChangeFollower(try ChangeFeed(member, since: origin, matching: filter, afterRescan: policy), nil)
    }
}

/// The container's changes since a place, without end: in the order of the journal, each once; what happened while
/// nobody followed comes first. Each iterator reads on its own and keeps no more than its place, so a slow one costs no
/// memory and loses nothing.
public struct Changes: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = Change

    /// Its place was taken when the sequence was made: nothing that comes after that is missed, however late it is
    /// iterated.
    private let reader: Result<ChangeFeed, CoordinationError>

    init(_ reader: Result<ChangeFeed, CoordinationError>) { self.reader = reader }

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(reader) }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        private var reader: Result<ChangeFeed, CoordinationError>
        /// Takes part in electing the leader, who sees what is changed without coordination, for as long as this
        /// follows.
        private var following: LeaderElection.Following?
        private var hasBegun = false
        private var presence = PresenceCheck()

        init(_ reader: Result<ChangeFeed, CoordinationError>) { self.reader = reader }

        /// The next change; nil when the task is cancelled. Errors: `damaged`, `notFound` when the container was
        /// removed, and those of finding the place.
        public mutating func next() async throws(CoordinationError) -> Change? { try await next(by: nil) }

        var cursor: Cursor { get throws(CoordinationError) { try reader.get().cursor } }

        /// Nil also when the moment, of the monotonic clock, has come.
        mutating func next(by moment: Int64?) async throws(CoordinationError) -> Change? {
            var reader = try self.reader.get()
            if !hasBegun {
                hasBegun = true
                following = reader.member.beginFollowing()
                reader.noteBlindness()
            }
            while true {
                if reader.wantsSnapshot {
                    // Linear in the journal, at least: not for a thread of the pool either.
                    let unread = reader
                    reader = try await Coordinator.offload { Self.takingSnapshot(unread) }.get()
                }
                let found = Result { () throws(CoordinationError) in try reader.next() }
                // Also where it failed: it knows how to go on.
                self.reader = .success(reader)
                if let change = try found.get() { return change }
                if reader.lookForLeader() {
                    self.reader = .success(reader)
                    continue
                }
                self.reader = .success(reader)
                if Task.isCancelled { return nil }
                try presence.check(reader.member, "follow")
                if let moment, moment <= monotonicNanoseconds() { return nil }
                following?.election.lookAfterLeader()
                let place = reader
                await reader.member.sleeper.wait(until: moment) { place.hasMore }
            }
        }

        private static func takingSnapshot(_ unread: ChangeFeed) -> Result<ChangeFeed, CoordinationError> {
            Result { () throws(CoordinationError) in
                var reader = unread
                try reader.takeSnapshot()
                return reader
            }
        }
    }
}

extension Container {
    /// The changes since a place: `.start`, `.now` (this call), behind a `Cursor`, or `.snapshot`, with what stands
    /// there first. With `matching`, what a filter lets through: patterns (`*`, `?`, `[…]` within a component, `**`
    /// across directories), kinds, not one's own. Where the container is read-only nobody wakes it: it looks every 100
    /// ms.
    ///
    /// Where a cursor's place was lost, one `rescan` comes first, and then what changes; with `afterRescan: .snapshot`,
    /// what stands there comes in between, as `present`, with a `bookmark` behind it.
    public func changes(
        since origin: ChangeOrigin = .now, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) -> Changes {
        Changes(
            Result { () throws(CoordinationError) in
                try ChangeFeed(member, since: origin, matching: filter, afterRescan: policy)
            })
    }
}
