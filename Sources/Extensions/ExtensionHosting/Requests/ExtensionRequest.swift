import Dispatch
import GroupSystemCalls

/// A request that an extension runs for. It goes on if this object is released; its deadline ends it in any case.
public final class ExtensionRequest: Sendable {
    /// The deadline unless a call has another one: 30 s.
    public static let usualDeadline = Duration.seconds(30)

    private struct State: Sendable {
        var result: ExtensionResult?
        /// What is called with the result.
        var waiters: [@Sendable (ExtensionResult) -> Void] = []
    }
    private let state = Guarded(State())
    private let cancellation = Cancellation()

    /// Starts the request, on a thread of its own: the kernel kills the process when the thread that has started it
    /// ends.
    init(_ task: ExtensionTask) {
        do throws(Errno) {
            try WorkThread.start { self.finish(task.run(orUntil: self.cancellation)) }
        } catch {
            finish(.failed(ExtensionFailure(.hostFault("a thread cannot be started: \(error)"))))
        }
    }

    /// Cancels the request: the extension is requested to end, and is killed if it does not. The result is then the
    /// failure `cancelledByHost`, unless there is a result already. Does not wait. System calls: write(2)
    public func cancel() { cancellation.cancel() }

    /// Waits for the result, when nothing of the extension's process group is left. The cancellation of the calling
    /// task ends neither the wait nor the request.
    public func result() async -> ExtensionResult {
        await withCheckedContinuation { continuation in whenFinished { continuation.resume(returning: $0) } }
    }

    /// The blocking form of `result`.
    public var blocking: BlockingExtensionRequest { BlockingExtensionRequest(request: self) }

    fileprivate func whenFinished(_ waiter: @escaping @Sendable (ExtensionResult) -> Void) {
        let result = state.withLock { state in
            if state.result == nil { state.waiters.append(waiter) }
            return state.result
        }
        if let result { waiter(result) }
    }

    private func finish(_ result: ExtensionResult) {
        let waiters = state.withLock { state in
            defer { (state.result, state.waiters) = (result, []) }
            return state.waiters
        }
        for waiter in waiters { waiter(result) }
    }
}

/// The call of an `ExtensionRequest` that waits, in a form that blocks the calling thread.
public struct BlockingExtensionRequest: Sendable {
    let request: ExtensionRequest

    /// Waits for the result. See `ExtensionRequest.result()`.
    public func result() -> ExtensionResult {
        let woken = DispatchSemaphore(value: 0)
        let found = Guarded<ExtensionResult?>(nil)
        request.whenFinished { result in
            found.withLock { $0 = result }
            woken.signal()
        }
        woken.wait()
        return found.withLock { $0 } ?? .failed(ExtensionFailure(.hostFault("there is no result")))
    }
}
