import CGroupCurl
import GroupSystemCalls

/// Ends the calls of one client, or one watch, from any thread.
package final class EtcdCanceller: Sendable {
    @safe private struct State {
        /// Wakes the thread that waits for the network; nil after the handle has ended.
        var wake: UnsafeMutableRawPointer?
        var isInCall = false
        var isCancelled = false
        var isForGood = false
    }
    private let state = Guarded(State())

    init() {}

    /// Ends the call that is going on, if there is one.
    package func cancel() {
        state.withLock { state in
            guard state.isInCall else { return }
            state.isCancelled = true
            if let handle = unsafe state.wake { unsafe _ = curl_multi_wakeup(handle) }
        }
    }

    /// Ends the call that is going on, and all later ones.
    package func cancelForGood() {
        state.withLock { state in
            state.isForGood = true
            if let handle = unsafe state.wake { unsafe _ = curl_multi_wakeup(handle) }
        }
    }

    var isCancelled: Bool { state.withLock { state in state.isCancelled || state.isForGood } }

    /// Sets what is woken; nil before it ends.
    func setHandle(_ handle: UnsafeMutableRawPointer?) { state.withLock { state in unsafe state.wake = handle } }

    /// Marks the beginning and the end of a call.
    func setInCall(_ isInCall: Bool) {
        state.withLock { state in
            state.isInCall = isInCall
            state.isCancelled = false
        }
    }
}
