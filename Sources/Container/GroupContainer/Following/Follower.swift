package import GroupSystemCalls

/// An element of a stream that a `Follower` or a `FollowerSequence` reads: `Change`, `DefaultsChange`, `GroupMessage`,
/// `Diagnostic`.
public protocol StreamElement: Sendable {
    /// The error with which reading the stream fails; `Never` if it cannot fail.
    associatedtype Failure: Error
    /// A position in the stream, from which a reader can go on; `Void` if there are none.
    associatedtype Position: Sendable
}

/// A follower of a stream on the calling thread: returns the stream's elements in order, each once. A follower of
/// changes or keys keeps only its position in their log, so a slow one costs no memory and loses nothing, and a copy
/// reads on by itself, from the same position. (Diagnostics are in no log: see `Diagnostics`.)
public struct Follower<Element: StreamElement>: Sendable {
    private(set) var feed: any Feed<Element>

    init(_ feed: any Feed<Element>) { self.feed = feed }

    /// Returns the next element; waits for it at most `timeout` (nil: forever) and then returns nil. A writer in any
    /// process wakes the follower within microseconds. In a read-only container no process wakes it, and it reads every
    /// 100 ms. While nothing happens, it makes no system call. Errors: `damaged`, and `notFound` when the container was
    /// removed or moved, as soon as the leader has noticed that; where no process is leader, with the next change.
    ///
    /// System calls: futex_waitv(2), only where there is nothing to read; read-only: nanosleep, openat2, mmap.
    public mutating func next(timeout: Duration? = nil) throws(Element.Failure) -> Element? {
        try feed.next(timeout: timeout, since: nil)
    }

    /// Returns the next element; waits for it only once, at most `timeout` (nil: forever). Returns nil also after an
    /// interruption since `seen`, or if it was woken early: for a command that has other reasons to go on, or to end.
    package mutating func next(timeout: Duration?, since seen: Interruption) throws(Element.Failure) -> Element? {
        try feed.next(timeout: timeout, since: seen)
    }

    /// Returns the elements that belong together and come next.
    mutating func batch(timeout: Duration?, since seen: Interruption? = nil) throws(Element.Failure) -> [Element] {
        guard let first = try feed.next(timeout: timeout, since: seen) else { return [] }
        var batch = [first]
        while feed.hasMoreOfBatch, let element = try feed.next() { batch.append(element) }
        return batch
    }
}

extension Follower {
    /// Whether `next(timeout:)` may return an element at once.
    package var hasMore: Bool { feed.hasMore }

    /// What wakes a reader of the stream.
    package var waiter: StreamWaiter { StreamWaiter(waiter: feed.waiter) }

    /// Suspends the task until there may be more, the limit, or the task's cancellation.
    package func suspend(until limit: Deadline) async {
        await feed.waiter.wait(until: limit.moment == .max ? nil : limit.moment, unless: feed.look)
    }

    /// Checks, before a wait, that there is something to wait for. Errors: those of `next(timeout:)`.
    package mutating func check() throws(Element.Failure) { try feed.check() }
}

extension Follower where Element.Position == Cursor {
    /// The position behind the last element that was returned, and behind all that was read and did not match.
    ///
    /// As long as elements of a transaction are still to come, this is the position before that transaction: a follower
    /// that stops there and comes back gets all of it again, rather than half of it. (An element's own cursor is behind
    /// the transaction in each of them.) In the middle of a snapshot, this is a position that no log has: a follower
    /// that comes back with it gets a `rescan`.
    public var cursor: Cursor { feed.cursor }

    /// The position from which the follower reads on, whatever was read and is still to be returned.
    package var readPosition: Cursor { feed.readPosition }

    /// Whether no further element of the transaction or batch of the last element is ready; for keys, also of its
    /// snapshot.
    package var isBetweenRecords: Bool { !feed.hasMoreOfBatch }
}

/// The elements of a stream since a position, without end: in order, each once. Elements from before the sequence was
/// iterated come first: nothing is missed, however late it is iterated. Each iterator of changes or keys keeps only its
/// position in their log, so a slow one costs no memory and loses nothing. (Messages and diagnostics are taken: see
/// `GroupListener.messages` and `Diagnostics`.)
public struct FollowerSequence<Element: StreamElement>: AsyncSequence, Sendable {
    /// The error with which the iteration fails.
    public typealias Failure = Element.Failure

    /// The feed at the sequence's position; otherwise, why there is none.
    private let feed: Result<any Feed<Element>, Element.Failure>

    init(_ feed: Result<any Feed<Element>, Element.Failure>) { self.feed = feed }

    init(_ open: () throws(Element.Failure) -> any Feed<Element>) { feed = Result(catching: open) }

    /// Returns the sequence of another feed that reads this one.
    func map(_ transform: (any Feed<Element>) -> any Feed<Element>) -> FollowerSequence { .init(feed.map(transform)) }

    /// Returns an iterator that starts at the sequence's position.
    public func makeAsyncIterator() -> Iterator { Iterator(feed) }

    /// The position of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        /// The error with which the iteration fails.
        public typealias Failure = Element.Failure

        /// The feed; nil if there is none. Stored apart from `failure`, and not in a `Result`, so that calls change the
        /// feed in place.
        private var feed: (any Feed<Element>)?
        private let failure: Element.Failure?
        private var hasBegun = false

        fileprivate init(_ feed: Result<any Feed<Element>, Element.Failure>) {
            switch feed {
            case .success(let feed): (self.feed, failure) = (feed, nil)
            case .failure(let error): (self.feed, failure) = (nil, error)
            }
        }

        /// Returns the next element; nil when the task is cancelled. Errors: those of `Follower.next(timeout:)`, and
        /// those of finding the position.
        public mutating func next() async throws(Element.Failure) -> Element? {
            if let failure { throw failure }
            if !hasBegun {
                hasBegun = true
                feed?.begin()
            }
            while let isShared = feed?.isShared {
                if isShared && Task.isCancelled { return nil }
                if feed?.isUnprepared == true { try await feed?.prepare() }
                if let element = try feed?.next() { return element }
                if Task.isCancelled { return nil }
                let due = feed?.due
                if let due, due <= monotonicNanoseconds() { continue }
                try feed?.check()
                if let (waiter, look) = feed.map({ ($0.waiter, $0.look) }) {
                    await waiter.wait(until: due, unless: look)
                }
            }
            return nil
        }
    }
}

extension Feed {
    /// The loop of `Follower.next`. As a requirement of `Feed` it is specialized for each feed; a loop in `Follower`,
    /// which knows the element's type only when it runs, costs a burst 6 % more.
    mutating func next(timeout: Duration?, since seen: Interruption?) throws(Element.Failure) -> Element? {
        let deadline = Deadline(after: timeout)
        while true {
            let latest = Interruption.latest
            if let element = try next() { return element }
            if deadline.isOver { return nil }
            let due = due.map { $0 - monotonicNanoseconds() } ?? .max
            if due <= 0 { continue }
            try check()
            let limit = min(deadline.remaining ?? .max, due)
            waiter.wait(atMost: limit == .max ? nil : limit, since: seen ?? latest) { hasMore }
            if seen != nil { return try next() }
        }
    }
}
