import GroupSystemCalls

/// Of work and a deadline, whichever comes first answers, once; the other one's answer is dropped.
enum FirstAnswer {
    /// Nil: the time is over. The work's task is cancelled then, and goes on for as long as it likes.
    static func of<Answer: Sendable>(
        _ time: Duration?, by clock: any WidgetClock, _ work: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer? {
        guard let time else { return try await work() }
        let answer = Once<Result<Answer?, any Error>>()
        let task = Task {
            do { answer.give(.success(try await work())) } catch { answer.give(.failure(error)) }
        }
        let alarm = clock.alarm(after: time) { answer.give(.success(nil)) }
        defer {
            alarm.cancel()
            task.cancel()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedContinuation { answer.await($0) }.get()
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }
}

/// One value, for one who waits. The first that is given counts.
private final class Once<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: CheckedContinuation<Value, Never>?
        var isGiven = false
    }

    private let state = Guarded(State())

    func give(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            if state.isGiven { return nil }
            state.isGiven = true
            if state.waiting == nil { state.value = value }
            return state.waiting
        }
        waiting?.resume(returning: value)
    }

    func await(_ continuation: CheckedContinuation<Value, Never>) {
        let value = state.withLock { state -> Value? in
            if state.value == nil { state.waiting = continuation }
            return state.value
        }
        if let value { continuation.resume(returning: value) }
    }
}

extension Duration {
    /// Rounded down; the nearest that there is.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
