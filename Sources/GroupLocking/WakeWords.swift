import Dispatch
import GroupSystemCalls

/// Wake words: a flag that is set while a process sleeps, and a counter to sleep on. They lie here and not in the logs,
/// because log files are replaced. The sleeper and the appender write the flag and the log in opposite order with a
/// full fence between, so that either the sleeper sees the record or the appender sees the sleeper (Dekker's
/// algorithm).
extension MemberTable {
    /// The journal's wake word.
    package static let journalWord = 0
    private static let asleep: UInt32 = 1
    private static let waking: UInt32 = 2

    /// Sleeps until `wake` is called, unless `isReady` returns true after the flag was set. Sleeps at most `limit`
    /// nanoseconds or 100 ms, so that even a waker that died in the middle delays a sleeper no longer. A process that
    /// may only read cannot set the flag and sleeps all of that time. System calls: futex(FUTEX_WAIT)
    package func awaitWake(on word: Int, atMost limit: Int64?, unless isReady: () -> Bool) {
        let limit = min(limit ?? .max, 100_000_000)
        guard let map = own?.map else { return pause(nanoseconds: max(limit, 0)) }
        let flag = MemberTableLayout.wakeWord(word)
        let counter = flag + 4
        let seen = map.load32(counter)
        map.store32(flag, Self.asleep)
        SharedMap.fence()
        if isReady() { return }
        map.wait(whileWord: counter, is: seen, nanoseconds: limit)
    }

    /// Wakes all sleepers; only a load where there are none. System calls: futex(FUTEX_WAKE)
    package func wake(_ word: Int) {
        guard let map = own?.map else { return }
        let flag = MemberTableLayout.wakeWord(word)
        SharedMap.fence()
        // A waker that finds `waking` wakes, too: the process that set it may have died before its system call.
        if map.load32(flag) == 0 { return }
        // The flag is written first: a sleeper that reads the new counter sets its own flag after this one, so that
        // flag stays.
        map.store32(flag, Self.waking)
        _ = map.add32(flag + 4, 1)
        map.wakeAll(at: flag + 4)
        // A sleeper that came meanwhile has set `asleep`, and that flag stays.
        _ = map.exchange32(flag, Self.waking, 0)
    }
}

/// A thread that sleeps on a wake word of the member table for all tasks that wait for more in a log. The thread runs
/// only while a task waits.
package final class WakeWaiter: Sendable {
    package typealias Look = @Sendable () -> Bool

    private struct Waiter: Sendable {
        var hasMore: Look
        /// In nanoseconds of the monotonic clock; nil: no limit.
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
    /// A serial queue: it gets a thread at once, and takes none of a pool's.
    private let queue = DispatchQueue(label: "group-container.follow")

    package init(_ memberTable: MemberTable, word: Int) { (self.memberTable, self.word) = (memberTable, word) }

    /// Returns when the log may have more, at the latest at `moment`, after 100 ms, or when the task is cancelled.
    package func wait(until moment: Int64? = nil, unless hasMore: @escaping Look) async {
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
                // The thread may be asleep already, after a check from before this waiter came, or until a later
                // moment.
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

    /// Whether any task waits.
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
