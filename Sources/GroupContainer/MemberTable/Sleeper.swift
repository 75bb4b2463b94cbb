import Dispatch
import GroupSystemCalls

/// One thread that sleeps on a wake word of the member table for all tasks that wait for more in a log. It runs only
/// while one does.
final class Sleeper: Sendable {
    typealias Look = @Sendable () -> Bool

    private struct Waiter: Sendable {
        var hasMore: Look
        /// Of the monotonic clock.
        var moment: Int64?
        var continuation: CheckedContinuation<Void, Never>
    }
    private struct State: Sendable {
        var waiters: [UInt64: Waiter] = [:]
        var cancelled = Set<UInt64>()
        var last: UInt64 = 0
        var isRunning = false
    }

    private let state = Guarded(State())
    private let memberTable: MemberTable
    private let word: Int
    /// Serial: it gets a thread at once, and takes none of a pool's.
    private let queue = DispatchQueue(label: "group-container.follow")

    init(_ memberTable: MemberTable, word: Int) { (self.memberTable, self.word) = (memberTable, word) }

    /// Returns when there may be more, at the latest at that moment, after 100 ms, or when the task is cancelled.
    func wait(until moment: Int64? = nil, unless hasMore: @escaping Look) async {
        let ticket = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isCancelled, starts) = state.withLock { state -> (Bool, Bool) in
                    if state.cancelled.remove(ticket) != nil { return (true, false) }
                    state.waiters[ticket] = Waiter(hasMore: hasMore, moment: moment, continuation: continuation)
                    defer { state.isRunning = true }
                    return (false, !state.isRunning)
                }
                if isCancelled { return continuation.resume() }
                if starts { queue.async { self.run() } }
                // The thread may be asleep already, on a look that was before this waiter's, or until a later moment.
                if hasMore() {
                    resume(ticket)
                } else if moment != nil && !starts {
                    memberTable.wake(word)
                }
            }
        } onCancel: {
            resume(ticket, isCancelled: true)
        }
        _ = state.withLock { $0.cancelled.remove(ticket) }
    }

    /// Some task waits.
    var isWatching: Bool { state.withLock { !$0.waiters.isEmpty } }

    private func resume(_ ticket: UInt64, isCancelled: Bool = false) {
        let waiter = state.withLock { state -> Waiter? in
            let waiter = state.waiters.removeValue(forKey: ticket)
            if waiter == nil && isCancelled { state.cancelled.insert(ticket) }
            return waiter
        }
        waiter?.continuation.resume()
    }

    private func run() {
        while true {
            let (looks, moment) = state.withLock { state -> ([Look], Int64?) in
                if state.waiters.isEmpty { state.isRunning = false }
                return (state.waiters.values.map(\.hasMore), state.waiters.values.compactMap(\.moment).min())
            }
            if looks.isEmpty { return }
            let limit = moment.map { max(0, $0 - monotonicNanoseconds()) }
            memberTable.awaitWake(on: word, atMost: limit) { looks.contains { $0() } }
            let woken = state.withLock { state in
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in woken { waiter.continuation.resume() }
        }
    }
}
