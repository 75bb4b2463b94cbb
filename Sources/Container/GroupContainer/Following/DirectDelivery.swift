import GroupLocking
package import GroupSystemCalls

/// A reader of changes that may be used by the leader's thread while the reader's own thread sleeps: where the leader
/// is in the same process, its thread delivers a change directly, and no other thread has to be woken for it.
package protocol DirectReader: Sendable {
    /// Delivers the elements that are ready to the reader's own output. Called on the leader's thread: an
    /// implementation does not wait, does not end the stream, and calls no user's code. Returns false if the reader's
    /// own thread has to go on.
    mutating func deliver() -> Bool
}

/// The direct delivery of a container's changes: the reader that the leader's thread may use, if there is one.
///
///     reader's thread                        leader's thread
///     offers the reader
///     sets the flag to its member's value
///     looks for more, and sleeps             appends records
///                                            wakes the sleepers, unless the flag has its own member's value
///                                            delivers with the reader; if that is not enough, interrupts
///     is woken: withdraws the reader
///
/// Other processes read the flag as that of any sleeper, and wake it.
final class DirectDelivery: Sendable {
    private let reader = Guarded<(any DirectReader)?>(nil)

    /// Offers a reader while `waiting` runs. Does not offer it if there is another one. `waiting` gets whether it was
    /// offered.
    func offer<Reader: DirectReader>(_ new: inout Reader, while waiting: (_ isOffered: Bool) -> Void) {
        let isOffered = reader.withLock { reader in
            if reader != nil { return false }
            reader = new
            return true
        }
        waiting(isOffered)
        if !isOffered { return }
        let back = reader.withLock { reader in
            defer { reader = nil }
            return reader
        }
        if let back = back as? Reader { new = back }
    }

    /// Delivers what is ready, if a reader is offered. It cannot be withdrawn meanwhile.
    func deliver() {
        let isDone = reader.withLock { $0?.deliver() ?? true }
        if !isDone { Interruption.raise() }
    }
}

extension Container {
    /// Sleeps until there may be more changes than a follower has read, at most `timeout` (nil: no limit). Meanwhile
    /// the leader's thread may use `reader`, which reads on from there. May return early, and returns after an
    /// interruption since `seen`. Errors: those of `Follower.next(timeout:)`. System calls: futex_waitv(2)
    package func awaitMore<Reader: DirectReader>(
        behind follower: Follower<Change>, timeout: Duration?, since seen: Interruption, offering reader: inout Reader
    ) throws(CoordinationError) {
        var feed = follower.feed
        try feed.check()
        let (table, limit) = (opened.memberTable, timeout.map(\.nanoseconds))
        let removals = (feed.waiter as? LogWaiter)?.removals
        opened.directDelivery.offer(&reader) { isOffered in
            table.awaitWake(
                on: MemberTable.journalWord, atMost: limit, since: seen, removals: removals, isOffered: isOffered
            ) { feed.hasMore }
        }
    }
}
