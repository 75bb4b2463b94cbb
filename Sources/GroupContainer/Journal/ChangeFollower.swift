import GroupSystemCalls

/// Follows the container's changes on the calling thread: in the order of the journal, each once. Holds no more than
/// its place in the journal, so one that is slow costs no memory and loses nothing.
public struct ChangeFollower: Sendable {
    private var reader: ChangeReader
    /// Takes part in electing the leader, who sees what is changed without coordination, for as long as this follows.
    private let following: LeaderElection.Following?
    private var presence = PresenceCheck()

    init(_ reader: ChangeReader, _ following: LeaderElection.Following?) {
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
        var reader = try ChangeReader(member, since: origin, matching: filter, afterRescan: policy)
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
        ChangeFollower(try ChangeReader(member, since: origin, matching: filter, afterRescan: policy), nil)
    }
}
