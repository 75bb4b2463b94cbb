import Dispatch
import SystemCalls

/// One thread a member that sleeps in the journal's futex for all tasks that wait for a change. It runs only while one
/// does.
final class JournalSleeper: Sendable {
    private struct Waiter: Sendable {
        var reader: ChangeReader
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
    private let roster: Roster
    /// Serial: it gets a thread at once, and takes none of a pool's.
    private let queue = DispatchQueue(label: "group-container.follow")

    init(_ roster: Roster) { self.roster = roster }

    /// Returns when there may be more behind the reader's place, at the latest at that moment, after 100 ms, or when the
    /// task is cancelled.
    func wait(for reader: ChangeReader, until moment: Int64? = nil) async {
        let ticket = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isCancelled, starts) = state.withLock { state -> (Bool, Bool) in
                    if state.cancelled.remove(ticket) != nil { return (true, false) }
                    state.waiters[ticket] = Waiter(reader: reader, moment: moment, continuation: continuation)
                    defer { state.isRunning = true }
                    return (false, !state.isRunning)
                }
                if isCancelled { return continuation.resume() }
                if starts { queue.async { self.run() } }
                // The thread may be asleep already, on a look that was before this waiter's, or until a later moment.
                if reader.hasMore {
                    resume(ticket)
                } else if moment != nil && !starts {
                    roster.wake(Roster.journalWord)
                }
            }
        } onCancel: {
            resume(ticket, isCancelled: true)
        }
        _ = state.withLock { $0.cancelled.remove(ticket) }
    }

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
            let (readers, moment) = state.withLock { state -> ([ChangeReader], Int64?) in
                if state.waiters.isEmpty { state.isRunning = false }
                return (state.waiters.values.map(\.reader), state.waiters.values.compactMap(\.moment).min())
            }
            if readers.isEmpty { return }
            let limit = moment.map { max(0, $0 - monotonicNanoseconds()) }
            roster.awaitWake(on: Roster.journalWord, atMost: limit) { readers.contains(where: \.hasMore) }
            let woken = state.withLock { state in
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in woken { waiter.continuation.resume() }
        }
    }
}
