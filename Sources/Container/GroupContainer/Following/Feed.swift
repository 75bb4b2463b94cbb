package import GroupSystemCalls
import GroupLocking

/// The next elements of a stream, for one reader. `next()` never waits for an element that is not there yet; a reader
/// waits on the feed's waiter, in a thread (`Follower`) or in a task (`FollowerSequence`).
protocol Feed<Element>: Sendable {
    associatedtype Element: StreamElement

    /// Returns the next element; nil if there is none now.
    mutating func next() throws(Element.Failure) -> Element?

    /// Returns the next element; waits for it, on the calling thread, at most `timeout` (nil: forever) and then returns
    /// nil. With `seen`, waits only once: returns nil also after an interruption since `seen`, or if it was woken
    /// early.
    mutating func next(timeout: Duration?, since seen: Interruption?) throws(Element.Failure) -> Element?

    /// Whether `next` may return an element.
    var hasMore: Bool { get }

    /// Returns a check of `hasMore` that a waiter may keep for longer than the reader lives.
    var look: @Sendable () -> Bool { get }

    /// The moment of the monotonic clock, in nanoseconds, from which on `next` may return an element although nothing
    /// has happened; nil if there is no such moment.
    var due: Int64? { get }

    /// The position behind what was returned.
    var cursor: Element.Position { get }

    /// The position from which the feed reads on, whatever was read and is still to be returned.
    var readPosition: Element.Position { get }

    /// Whether elements of the same batch follow the last one that was returned, and are ready.
    var hasMoreOfBatch: Bool { get }

    /// Whether nothing that was read is held back.
    var isSettled: Bool { get }

    /// What wakes the reader.
    var waiter: any FeedWaiter { get }

    /// Begins to follow, before the first `next` of a task.
    mutating func begin()

    /// Whether `next` would block for long, so that `prepare` has to be called before it in a task.
    var isUnprepared: Bool { get }

    /// Does what `next` would block for, on a thread of its own. After an error, the feed is as before.
    mutating func prepare() async throws(Element.Failure)

    /// Checks, before each wait, that there is something to wait for.
    mutating func check() throws(Element.Failure)

    /// Whether a task that is cancelled takes nothing more. Necessary where other readers share the feed: what a
    /// cancelled task took would be lost to them.
    var isShared: Bool { get }
}

extension Feed {
    var look: @Sendable () -> Bool { { hasMore } }
    var due: Int64? { nil }
    var readPosition: Element.Position { cursor }
    var hasMoreOfBatch: Bool { false }
    var isSettled: Bool { !hasMoreOfBatch }
    mutating func begin() {}
    var isUnprepared: Bool { false }
    mutating func prepare() async throws(Element.Failure) {}
    var isShared: Bool { false }
}

extension Feed where Element.Position == Void {
    var cursor: Void { () }
}

/// What wakes a feed's reader: a wake word of the member table, or an event of this process.
protocol FeedWaiter: Sendable {
    /// Blocks for at most some nanoseconds (nil: no limit), unless there is more, or there was an interruption since
    /// `seen`. May return early.
    func wait(atMost limit: Int64?, since seen: Interruption, unless hasMore: () -> Bool)

    /// Suspends until a moment of the monotonic clock (nil: no limit), unless there is more. May return early, and
    /// returns when the task is cancelled.
    func wait(until moment: Int64?, unless hasMore: @escaping @Sendable () -> Bool) async
}

/// The wake word of a log, which a writer in any process wakes.
struct LogWaiter: FeedWaiter {
    let memberTable: MemberTable
    let word: Int
    /// The thread that sleeps for all tasks.
    let sleeper: WakeWaiter
    /// The counter of removals when the reader last looked whether the container is there. A higher counter wakes the
    /// reader.
    var removals: UInt32?

    /// Returns the waiter for a reader that has looked.
    func since(removals: UInt32?) -> LogWaiter {
        var waiter = self
        waiter.removals = removals
        return waiter
    }

    func wait(atMost limit: Int64?, since seen: Interruption, unless hasMore: () -> Bool) {
        memberTable.awaitWake(on: word, atMost: limit, since: seen, removals: removals, unless: hasMore)
    }

    func wait(until moment: Int64?, unless hasMore: @escaping @Sendable () -> Bool) async {
        await sleeper.wait(until: moment) { [memberTable, removals] in
            hasMore() || (removals ?? memberTable.removals) != memberTable.removals
        }
    }
}

/// What wakes the readers of a stream, for a thread that waits in place of followers that other threads use, too.
package struct StreamWaiter: Sendable {
    let waiter: any FeedWaiter

    /// Blocks until there may be more, or an interruption after `seen`, unless there is more. May return early. System
    /// calls: futex_waitv(2)
    package func wait(since seen: Interruption, unless hasMore: () -> Bool) {
        waiter.wait(atMost: nil, since: seen, unless: hasMore)
    }
}
