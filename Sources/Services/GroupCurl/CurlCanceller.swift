#if Curl
import CGroupCurl
#endif
import GroupSystemCalls

/// Ends the requests of a `CurlTransfer` from any thread.
package final class CurlCanceller: Sendable {
    @safe private struct State {
        /// Wakes the thread that waits for the network; nil after the handle has ended.
        var wake: UnsafeMutableRawPointer?
        var isCancelled = false
    }
    private let state = Guarded(State())

    package init() {}

    /// Ends the call that is going on, and all later ones.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            unsafe Self.wake(state.wake)
        }
    }

    package var isCancelled: Bool { state.withLock { state in state.isCancelled } }

    /// Sets what is woken; nil before it ends.
    func setHandle(_ handle: UnsafeMutableRawPointer?) { state.withLock { state in unsafe state.wake = handle } }

    private static func wake(_ handle: UnsafeMutableRawPointer?) {
        #if Curl
        if let handle = unsafe handle { unsafe _ = curl_multi_wakeup(handle) }
        #endif
    }
}
