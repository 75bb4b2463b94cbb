/// A way to end the waits of blocking calls from another thread, once and for all.
package final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var last: UInt64 = 0
        /// What ends each wait that is going on.
        var waits: [UInt64: @Sendable () -> Void] = [:]
    }
    private let state = Guarded(State())

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends the waits that are going on, and those that begin later.
    package func cancel() {
        let waits = state.withLock { state in
            state.isCancelled = true
            return Array(state.waits.values)
        }
        for end in waits { end() }
    }

    /// Runs a wait. `end` is called, on another thread, if it is to end early; perhaps also when it has just ended.
    package func during<Answer, Failure: Error>(
        end: @escaping @Sendable () -> Void, _ wait: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let number = state.withLock { state -> UInt64? in
            if state.isCancelled { return nil }
            state.last += 1
            state.waits[state.last] = end
            return state.last
        }
        guard let number else {
            end()
            return try wait()
        }
        defer { state.withLock { _ = $0.waits.removeValue(forKey: number) } }
        return try wait()
    }
}
