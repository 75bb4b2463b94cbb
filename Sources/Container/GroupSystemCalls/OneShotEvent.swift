import Dispatch

/// An event that happens once and has one waiter: a thread that blocks, or a task that suspends. A wait may end before
/// the event happens; the event can be awaited again then.
package final class OneShotEvent<Value: Sendable>: Sendable {
    package enum Ending: Sendable {
        case happened(Value)
        case timedOut, cancelled
    }

    private struct State: Sendable {
        var value: Value?
        /// The function that is called with the ending, once: with the first of event, timeout and cancellation.
        var waiter: (@Sendable (Ending) -> Void)?
        /// A timeout or cancellation that came before the wait began.
        var interruption: Ending?
    }
    private let state = Guarded(State())

    package init() {}

    package func set(_ value: Value) {
        let waiter = state.withLock { state -> (@Sendable (Ending) -> Void)? in
            state.value = value
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?(.happened(value))
    }

    private func interrupt(_ ending: Ending) {
        let waiter = state.withLock { state -> (@Sendable (Ending) -> Void)? in
            guard let waiter = state.waiter else {
                state.interruption = ending
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?(ending)
    }

    /// Sets the waiter and returns nil, or returns the ending if there is one already.
    private func attach(_ waiter: @escaping @Sendable (Ending) -> Void, heedsInterruption: Bool) -> Ending? {
        state.withLock { state in
            if let value = state.value { return .happened(value) }
            if heedsInterruption, let interruption = state.interruption { return interruption }
            state.waiter = waiter
            return nil
        }
    }

    /// Blocks the calling thread.
    package func block(until deadline: Deadline = .never, orUntil cancellation: Cancellation? = nil) -> Ending {
        guard let cancellation else { return block(until: deadline, heedsInterruption: false) }
        return cancellation.during(end: { self.interrupt(.cancelled) }) {
            block(until: deadline, heedsInterruption: true)
        }
    }

    private func block(until deadline: Deadline, heedsInterruption: Bool) -> Ending {
        let woken = DispatchSemaphore(value: 0)
        let ending = Guarded<Ending?>(nil)
        let wake: @Sendable (Ending) -> Void = {
            let reached = $0
            ending.withLock { $0 = reached }
            woken.signal()
        }
        if let now = attach(wake, heedsInterruption: heedsInterruption) { return now }
        if let remaining = deadline.remaining {
            if woken.wait(timeout: .now() + .nanoseconds(Int(clamping: remaining))) == .timedOut {
                interrupt(.timedOut)
                woken.wait()
            }
        } else {
            woken.wait()
        }
        return ending.withLock { $0 } ?? .timedOut
    }

    /// Suspends the calling task. The task's cancellation ends the wait, too.
    package func suspend(until deadline: Deadline) async -> Ending {
        let timer = deadline.remaining.map { remaining in
            Task {
                try? await Task.sleep(for: .nanoseconds(remaining))  // allowed: the deadline's timer
                if !Task.isCancelled { self.interrupt(.timedOut) }
            }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await wait(heedsInterruption: true)
        } onCancel: {
            interrupt(.cancelled)
        }
    }

    /// Suspends the calling task until the event happens; neither a deadline nor a cancellation ends the wait.
    package func suspend() async -> Value {
        while true {
            if case .happened(let value) = await wait(heedsInterruption: false) { return value }
        }
    }

    private func wait(heedsInterruption: Bool) async -> Ending {
        await withCheckedContinuation { continuation in
            let now = attach({ continuation.resume(returning: $0) }, heedsInterruption: heedsInterruption)
            if let now { continuation.resume(returning: now) }
        }
    }
}
