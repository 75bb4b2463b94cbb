package import GroupSystemCalls

/// What wakes the readers of a stream, for a thread that waits in place of followers that other threads use, too.
package struct StreamWaiter: Sendable {
    let waiter: any FeedWaiter

    /// Blocks until there may be more, or an interruption after `seen`, unless there is more. May return early. System
    /// calls: futex_waitv(2)
    package func wait(since seen: Interruption, unless hasMore: () -> Bool) {
        waiter.wait(atMost: nil, since: seen, unless: hasMore)
    }
}
