/// What wakes the readers of a stream, for a task that waits in place of a follower that several threads use.
package struct StreamWaiter: Sendable {
    let waiter: any FeedWaiter

    /// Suspends until there may be more, unless there is more. May return early, and returns when the task is
    /// cancelled. `hasMore` may be called on another thread, and after this call has returned.
    package func wait(unless hasMore: @escaping @Sendable () -> Bool) async {
        await waiter.wait(until: nil, unless: hasMore)
    }
}
