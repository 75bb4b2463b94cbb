import GroupSystemCalls

/// A race of work against a deadline: the first result counts, and the other one is dropped.
enum FirstAnswer {
    /// Returns the work's result, or nil if the time is over first. The work's task is then cancelled, and may go on
    /// after this function has returned.
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

/// One value, for one waiter. The first value given counts.
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
