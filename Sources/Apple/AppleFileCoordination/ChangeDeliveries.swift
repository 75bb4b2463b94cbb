import GroupContainer
import GroupSystemCalls

/// The deliveries of one suite, and the thread that delivers what this process does not set itself. The thread begins
/// with the first delivery, sleeps without a limit, and ends with the suite's object. No queue or task delivers,
/// because on Linux their library wakes a process that has used one each second.
final class ChangeDeliveries: Sendable {
    private struct State: Sendable {
        /// Held by the suite and by its observers' tokens.
        var members: [ChangeDelivery.Weakly] = []
        var isRunning = false
        var hasEnded = false
    }

    private let state = Guarded(State())

    private var deliveries: [ChangeDelivery] { state.withLock { $0.members.compactMap(\.delivery) } }

    /// Begins a delivery, which goes on as long as it is referenced. Error: `limitReached` if there can be no thread.
    func begin(_ delivery: ChangeDelivery) throws(CoordinationError) {
        let isFirst = state.withLock { state in
            state.members.removeAll { $0.delivery == nil }
            state.members.append(ChangeDelivery.Weakly(delivery: delivery))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst, let waiter = delivery.waiter { try startThread(waiter: waiter) }
        // The thread may have gone to sleep before it knew of this delivery, after a change that was made meanwhile.
        delivery.deliverPending()
    }

    /// Makes a change, and delivers it.
    func make(_ change: () -> Void) {
        let deliveries = deliveries
        for delivery in deliveries { delivery.announce() }
        change()
        for delivery in deliveries { delivery.deliver() }
    }

    /// Ends all deliveries, and the thread.
    func end() {
        let members = state.withLock { state in
            state.hasEnded = true
            return state.members
        }
        for member in members { member.delivery?.end() }
        Interruption.raise()
    }

    private func startThread(waiter: StreamWaiter) throws(CoordinationError) {
        do throws(Errno) {
            try WorkThread.start { [self] in
                var seen = Interruption.latest
                while deliverPending() {
                    waiter.wait(since: seen) { deliveries.contains(where: \.hasMore) }
                    seen = .latest
                }
            }
        } catch {
            state.withLock { $0.isRunning = false }
            throw CoordinationError(error, operation: "follow", item: "the group defaults")
        }
    }

    /// Returns false after the end.
    private func deliverPending() -> Bool {
        for delivery in deliveries { delivery.deliverPending() }
        return !state.withLock(\.hasEnded)
    }
}
