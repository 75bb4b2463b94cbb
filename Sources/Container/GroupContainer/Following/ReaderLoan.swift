import GroupLocking
package import GroupSystemCalls

/// A reader of changes that its thread lends while it sleeps: the leader's thread, if it is in this process, hands a
/// change on by itself, and no other thread has to be woken for it.
package protocol LentReader: Sendable {
    /// Delivers the elements that are ready to the reader's own output. Called on the leader's thread: an
    /// implementation does not wait, does not end the stream, and calls no user's code. Returns false if the reader's
    /// own thread has to go on.
    mutating func handOn() -> Bool
}

/// The reader that is lent to the leader's thread, if any.
///
///     reader's thread                        leader's thread
///     lends the reader
///     sets the flag to its member's value
///     looks for more, and sleeps             appends records
///                                            wakes the sleepers, unless the flag has its own member's value
///                                            hands on with the lent reader; if that is not enough, interrupts
///     is woken: takes the reader back
///
/// Other processes take the flag for that of any sleeper, and wake it.
final class ReaderLoan: Sendable {
    private let lent = Guarded<(any LentReader)?>(nil)

    /// Lends a reader while `waiting` runs. Does not lend it if another one is lent. `waiting` gets whether it was
    /// lent.
    func lend<Reader: LentReader>(_ reader: inout Reader, while waiting: (_ isLent: Bool) -> Void) {
        let isLent = lent.withLock { lent in
            if lent != nil { return false }
            lent = reader
            return true
        }
        waiting(isLent)
        if !isLent { return }
        let back = lent.withLock { lent in
            defer { lent = nil }
            return lent
        }
        if let back = back as? Reader { reader = back }
    }

    /// Hands on what there is, with the lent reader, if there is one. It cannot be taken back meanwhile.
    func handOn() {
        let isDone = lent.withLock { $0?.handOn() ?? true }
        if !isDone { Interruption.raise() }
    }
}

extension Container {
    /// Sleeps until there may be more changes than a follower has read, at most `timeout` (nil: no limit), and lends
    /// `reader`, which reads on from there. May return early, and returns after an interruption since `seen`. Errors:
    /// those of `Follower.next(timeout:)`. System calls: futex_waitv(2)
    package func awaitMore<Reader: LentReader>(
        behind follower: Follower<Change>, timeout: Duration?, since seen: Interruption, lending reader: inout Reader
    ) throws(CoordinationError) {
        var feed = follower.feed
        try feed.check()
        let (table, limit) = (opened.memberTable, timeout.map(\.nanoseconds))
        let removals = (feed.waiter as? LogWaiter)?.removals
        opened.loan.lend(&reader) { isLent in
            table.awaitWake(
                on: MemberTable.journalWord, atMost: limit, since: seen, removals: removals, isLent: isLent
            ) { feed.hasMore }
        }
    }
}
