import GroupSystemCalls

/// A follower of the container's changes on the calling thread: in the order of the journal, each once. The follower
/// keeps only its place in the journal, so a slow follower costs no memory and loses nothing.
public struct ChangeFollower: Sendable {
    private var reader: ChangeFeed
    /// The part in the election of the leader, which sees external changes, for as long as this follower lives.
    private let following: LeaderElection.Following?
    private var presence = PresenceCheck()

    init(_ reader: ChangeFeed, _ following: LeaderElection.Following?) {
        (self.reader, self.following) = (reader, following)
    }

    /// The place behind the last change that was returned, and behind all changes that were read and did not match.
    ///
    /// As long as changes of a transaction are still to come, this is the place before that transaction: a follower
    /// that stops there and comes back gets all of it again, rather than half of it. (`Change.cursor` is behind the
    /// transaction in each of them.) In the middle of a snapshot, this is a place that no journal has: a follower that
    /// comes back with it gets a `rescan`.
    public var cursor: Cursor { reader.cursor }

    /// A marker to hand on: complete up to `cursor`.
    public var bookmark: Change { reader.bookmark }

    /// The place in the journal from which the follower reads on, whatever is left of a snapshot.
    package var place: Cursor { reader.place }

    /// Returns the next change; waits for it at most `timeout` (nil: forever) and then returns nil. A writer in any
    /// process wakes the follower within microseconds. In a read-only container no process wakes it, and it reads every
    /// 100 ms. Errors: `damaged`, and `notFound` when the container was removed.
    ///
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
    /// Returns a follower of the changes since a place, for the calling thread. Once this returns, every change from
    /// now on is seen, including external changes (read-only: if a member that may write follows). `matching` and
    /// `afterRescan` are as in `changes(since:matching:afterRescan:)`.
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

    /// Returns a follower of what the journal has by now, without waiting for more: `next(timeout: .zero)` returns one
    /// change after the other, then nil. Call `noteUncoordinatedChanges` before, if external changes matter.
    public func recordedChanges(
        since origin: ChangeOrigin, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) throws(CoordinationError) -> ChangeFollower {
        ChangeFollower(try ChangeFeed(member, since: origin, matching: filter, afterRescan: policy), nil)
    }
}

/// The container's changes since a place, without end: in the order of the journal, each once. Changes from before the
/// sequence was iterated come first. Each iterator reads on its own and keeps only its place, so a slow one costs no
/// memory and loses nothing.
public struct Changes: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = Change

    /// The place at which the sequence was made: nothing that comes after that is missed, however late it is iterated.
    private let reader: Result<ChangeFeed, CoordinationError>

    init(_ reader: Result<ChangeFeed, CoordinationError>) { self.reader = reader }

    /// Returns an iterator that starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(reader) }

    /// The place of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        private var reader: Result<ChangeFeed, CoordinationError>
        /// The part in the election of the leader, which sees external changes, for as long as this iterator lives.
        private var following: LeaderElection.Following?
        private var hasBegun = false
        private var presence = PresenceCheck()

        init(_ reader: Result<ChangeFeed, CoordinationError>) { self.reader = reader }

        /// Returns the next change; nil when the task is cancelled. Errors: `damaged`, `notFound` when the container
        /// was removed, and those of finding the place.
        public mutating func next() async throws(CoordinationError) -> Change? { try await next(by: nil) }

        var cursor: Cursor { get throws(CoordinationError) { try reader.get().cursor } }

        /// Returns the next change; nil also when a moment of the monotonic clock has come.
        mutating func next(by moment: Int64?) async throws(CoordinationError) -> Change? {
            var reader = try self.reader.get()
            if !hasBegun {
                hasBegun = true
                following = reader.member.beginFollowing()
                reader.noteBlindness()
            }
            while true {
                if reader.wantsSnapshot {
                    // A snapshot is at least linear in the journal: it must not block a thread of the pool.
                    let unread = reader
                    reader = try await Coordinator.offload { Self.takingSnapshot(unread) }.get()
                }
                let found = Result { () throws(CoordinationError) in try reader.next() }
                // The reader is kept also after an error: it has the place from which to go on.
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
    /// Returns the changes since a place: `.start`, `.now` (this call), behind a `Cursor`, or `.snapshot`, with the
    /// items that are there first. `matching` selects them by a filter: patterns (`*`, `?`, `[…]` within a component,
    /// `**` across directories), kinds, not one's own. In a read-only container no process wakes the iterator: it reads
    /// every 100 ms.
    ///
    /// If a cursor's place was lost, one `rescan` comes first, and then further changes. With `afterRescan: .snapshot`,
    /// the items that are there come in between, as `present`, with a `bookmark` behind them.
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
