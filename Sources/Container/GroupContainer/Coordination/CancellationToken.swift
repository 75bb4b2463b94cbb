import GroupSystemCalls

/// Ends waits of blocking calls from another thread, once and for all:
///
///     let token = CancellationToken()
///     let coordinator = container.coordinator(purpose: "import").blocking.ending(with: token)
///     // On another thread, such as that of a signal source: token.cancel()
///     try coordinator.write(bytes: content, to: "a")     // throws `cancelled` if it waits then
///
/// A task needs no token: its cancellation ends the waits of the calls that suspend.
public final class CancellationToken: Sendable {
    let cancellation = Cancellation()

    /// Creates a token that is not cancelled.
    public init() {}

    /// Whether `cancel()` was called.
    public var isCancelled: Bool { cancellation.isCancelled }

    /// Ends the waits that are going on, and those that begin later. Not to be called in a signal handler.
    public func cancel() { cancellation.cancel() }
}

extension BlockingCoordinator {
    /// Returns a coordinator whose waits for locks and presenters end when a token is cancelled. A call that waits then
    /// throws `cancelled`, and has changed nothing; a call whose closure runs already goes on.
    public func ending(with token: CancellationToken) -> BlockingCoordinator {
        BlockingCoordinator(coordinator, orUntil: token.cancellation)
    }
}

extension Follower {
    /// Returns the next element as `next(timeout:)` does; nil also when a token is cancelled, at once and from then on.
    public mutating func next(
        timeout: Duration? = nil, orUntil token: CancellationToken
    ) throws(Element.Failure) -> Element? {
        let deadline = Deadline(after: timeout)
        // A copy, as the closure may not change this value.
        var follower = self
        defer { self = follower }
        return try token.cancellation.during(end: Interruption.raise) { () throws(Element.Failure) -> Element? in
            while true {
                let seen = Interruption.latest
                if token.isCancelled { return nil }
                let rest = deadline.remaining.map { Duration.nanoseconds($0) }
                if let element = try follower.next(timeout: rest, since: seen) { return element }
                if deadline.isOver { return nil }
            }
        }
    }
}

extension GroupListener {
    /// Returns the next message as `next(timeout:)` does; nil also when a token is cancelled, at once and from then on.
    public func next(
        timeout: Duration? = nil, orUntil token: CancellationToken
    ) throws(CoordinationError) -> GroupMessage? {
        var follower = follower
        return try follower.next(timeout: timeout, orUntil: token)
    }
}
