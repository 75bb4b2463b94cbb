import GroupContainer
import GroupSystemCalls

/// The delivery of a suite's changes to a handler: in their order, each once, whichever threads deliver them.
///
///     a thread that sets a value          the thread of `ChangeDeliveries`
///     announces it                        sleeps until some process has set a value
///     sets it                             delivers what has come, unless a set is announced
///     delivers what has come
///
/// So a change that this process makes is delivered on its thread, before the call that makes it returns; if another
/// thread is in the handler at that time, that thread delivers the change next. The handler is called without a lock,
/// so it may set values itself: these are delivered after it has returned.
final class ChangeDelivery: Sendable {
    /// Receives a change, and whether no more changes of the same record follow.
    typealias Handler = @Sendable (_ change: DefaultsChange, _ isLast: Bool) -> Void

    /// A reference that does not keep the delivery going.
    struct Weakly: Sendable { weak let delivery: ChangeDelivery? }

    private struct State: Sendable {
        var follower: Follower<DefaultsChange>
        /// Whether the handler is running on some thread, which delivers what comes meanwhile.
        var isDelivering = false
        /// The number of threads that are about to set a value, and deliver after that.
        var announced = 0
    }

    /// Nil after the end.
    private let state: Guarded<State?>
    private let handler: Handler

    /// Makes the delivery of what the follower has not returned yet. Nothing is delivered before `ChangeDeliveries` has
    /// it.
    init(from follower: Follower<DefaultsChange>, to handler: @escaping Handler) {
        state = Guarded(State(follower: follower))
        self.handler = handler
    }

    /// Ends the delivery. A call of the handler that has begun on another thread goes on.
    func end() {
        // Released after the lock: the follower may be the last that holds the container.
        _ = state.withLock { $0.take() }
    }

    /// Announces that the calling thread will set a value and then call `deliver()`.
    func announce() { state.withLock { $0?.announced += 1 } }

    /// Delivers what has come, after `announce()`, unless another thread is doing so.
    func deliver() { reportingErrors { try deliver(announced: 1) } }

    /// Delivers what has come, unless another thread is doing so or has announced it.
    func deliverPending() {
        reportingErrors {
            try deliver(announced: 0)
            _ = try attempt { (state) throws(CoordinationError) in try state.follower.check() }
        }
    }

    /// Whether `deliverPending()` would deliver something.
    var hasMore: Bool {
        state.withLock { state in
            guard let state else { return false }
            return state.announced == 0 && !state.isDelivering && state.follower.hasMore
        }
    }

    /// What wakes the thread that delivers; nil after the end.
    var waiter: StreamWaiter? { state.withLock { $0?.follower.waiter } }

    private func deliver(announced count: Int) throws(CoordinationError) {
        while let (change, isLast) = try takeNext(announced: count) {
            handler(change, isLast)
            state.withLock { $0?.isDelivering = false }
        }
    }

    /// Returns the next change, for a thread that has announced this many sets. With nil, the announcement ends; under
    /// the same lock, so that the thread that sleeps sees each change that comes after this look.
    private func takeNext(announced count: Int) throws(CoordinationError) -> (change: DefaultsChange, isLast: Bool)? {
        try attempt { (state) throws(CoordinationError) in
            if !state.isDelivering, count > 0 || state.announced == 0,
                let change = try state.follower.next(timeout: .zero)
            {
                state.isDelivering = true
                return (change, state.follower.isBetweenRecords)
            }
            state.announced -= count
            return nil
        }
    }

    /// Returns nil once the delivery has ended. It ends with an error, as each later attempt would have the same one.
    private func attempt<Answer>(
        _ body: (inout State) throws(CoordinationError) -> Answer?
    ) throws(CoordinationError) -> Answer? {
        try state.withLock { (state) throws(CoordinationError) in
            guard var present = state.take() else { return nil }
            let answer = try body(&present)
            state = present
            return answer
        }
    }
}
