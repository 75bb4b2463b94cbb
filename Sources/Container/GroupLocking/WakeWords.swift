package import GroupSystemCalls
import Synchronization

/// Wake words: a flag that is set while a process sleeps, and a counter to sleep on. They lie here and not in the logs,
/// because log files are replaced. The sleeper and the appender write the flag and the log in opposite order with a
/// full fence between, so that either the sleeper sees the record or the appender sees the sleeper (Dekker's
/// algorithm).
extension MemberTable {
    /// The journal's wake word.
    package static let journalWord = 0
    /// The wake word of `watchStatus`, which is not among the others, because it came later.
    static let statusWord = (MemberTableLayout.statusWake - MemberTableLayout.wakeWords) / 8
    private static let asleep: UInt32 = 1
    /// The highest bit of the flag: sleepers are to be woken. The other bits show by which call, so that none ends what
    /// another one has begun.
    private static let waking: UInt32 = 1 << 31
    /// The flag where the only sleeper is the thread of this member whose reader the leader's thread uses.
    private var asleepInDelivery: UInt32 { UInt32(truncatingIfNeeded: (own?.slot ?? 0) + 8) }

    /// Sleeps until `wake` is called, unless `isReady` returns true after the flag was set; at most `limit` nanoseconds
    /// (nil: no limit). Ends early if there was an interruption since `seen`, if `other` has changed, or if the
    /// container was noted as removed more often than `removals` (nil: than now). A process that may only read cannot
    /// set the flag, so it sleeps at most 100 ms. With `isOffered`, it need not be woken by `wake(_:sparesDelivery:)`
    /// of this member. System calls: futex_waitv(2); read-only: nanosleep(2)
    package func awaitWake(
        on word: Int, or other: WatchedWord? = nil, atMost limit: Int64?, since seen: Interruption = .latest,
        removals: UInt32? = nil, isOffered: Bool = false, unless isReady: () -> Bool
    ) {
        if let limit, limit <= 0 { return }
        guard let map = own?.map else { return pauseAsReader(atMost: limit, since: seen) }
        let flag = MemberTableLayout.wakeWord(word)
        let counter = flag + 4
        let counted = WatchedWord(counter, of: map)
        let removed = WatchedWord(MemberTableLayout.removals, of: map, seen: removals ?? self.removals)
        if !isOffered || !setInDelivery(flag, map) { setAsleep(flag, map) }
        SharedMap.fence()
        if isReady() { return }
        WritableMap.wait(while: counted, removed, other, since: seen, nanoseconds: limit)
    }

    /// How often the container was noted as removed.
    package var removals: UInt32 { map.load32(MemberTableLayout.removals) }

    /// The time, by the monotonic clock, when a member last looked whether the container is still there.
    package var presenceCheckedAt: Int64 {
        get { Int64(bitPattern: map.load64(MemberTableLayout.presenceCheckedAt)) }
        set { own?.map.store64(MemberTableLayout.presenceCheckedAt, UInt64(bitPattern: newValue)) }
    }

    /// Sets the flag for a sleeper. A writer that was about to wake the others may have died before that: this wakes
    /// them.
    private func setAsleep(_ flag: Int, _ map: WritableMap) {
        var present = map.load32(flag)
        while !map.exchange32(flag, present, Self.asleep) { present = map.load32(flag) }
        if present & Self.waking != 0 { map.wakeAll(at: flag + 4) }
    }

    /// Sets the flag for a thread whose reader is offered for direct delivery. Returns false if there may be another
    /// sleeper.
    private func setInDelivery(_ flag: Int, _ map: WritableMap) -> Bool {
        while true {
            let present = map.load32(flag)
            if present != 0 { return present == asleepInDelivery }
            if map.exchange32(flag, present, asleepInDelivery) { return true }
        }
    }

    /// Wakes every sleeper of every word, so that each looks whether the container is still there. One call wakes them
    /// all: with one for each word, this process could end in between, by its own sleeper that was woken first. System
    /// calls: futex(FUTEX_WAKE)
    package func noteRemoval() {
        guard let map = own?.map else { return }
        _ = map.add32(MemberTableLayout.removals, 1)
        map.wakeAll(at: MemberTableLayout.removals)
    }

    fileprivate static let readersPeriod: Int64 = 100_000_000

    /// Wakes all sleepers, and those that watch the status, which has changed, too; only two loads where there are
    /// none. With `sparesDelivery`, does not wake the thread of this member whose reader is offered, if there is no
    /// other sleeper. System calls: futex(FUTEX_WAKE)
    package func wake(_ word: Int, sparesDelivery: Bool = false) {
        SharedMap.fence()
        wakeSleepers(of: word, sparesDelivery: sparesDelivery)
        wakeSleepers(of: Self.statusWord)
    }

    /// Wakes those that watch the status; to be called after a change of what `Container.status()` returns. A fence and
    /// a load where there are none. System calls: futex(FUTEX_WAKE)
    package func noteStatus() {
        SharedMap.fence()
        wakeSleepers(of: Self.statusWord)
    }

    /// Wakes all sleepers, after a fence.
    private func wakeSleepers(of word: Int, sparesDelivery: Bool = false) {
        guard let (map, mark) = beginWaking(word, sparesDelivery: sparesDelivery) else { return }
        let flag = MemberTableLayout.wakeWord(word)
        map.wakeAll(at: flag + 4)
        // A sleeper that came meanwhile has set `asleep`, and that flag stays.
        _ = map.exchange32(flag, mark, 0)
    }

    /// Wakes one sleeper, if there is any; a writer calls this after it has reserved its record and before it commits
    /// it. If it is killed before it commits, the sleeper is awake, and aborts the reservation. If it is killed
    /// afterwards, before it calls `wake`, the sleeper that is awake finds that when it goes to sleep again, and wakes
    /// the others. So none sleeps on although a record was committed. All at once would find the record reserved, and
    /// use the processor that the writer needs to commit it.
    package func wakeFirst(_ word: Int) {
        SharedMap.fence()
        if let (map, _) = beginWaking(word, sparesDelivery: false) {
            map.wakeOne(at: MemberTableLayout.wakeWord(word) + 4)
        }
    }

    /// Sleeps until the writer of a reserved record has committed it and wakes the others, unless `isDecided`; at most
    /// some nanoseconds. May return early. System calls: futex_waitv(2)
    package func awaitCommit(_ word: Int, atMost limit: Int64, unless isDecided: () -> Bool) {
        guard let map = own?.map else { return pause(nanoseconds: min(limit, 20_000)) }
        let flag = MemberTableLayout.wakeWord(word)
        let counted = WatchedWord(flag + 4, of: map)
        setAsleep(flag, map)
        SharedMap.fence()
        if !isDecided() { WritableMap.wait(while: counted, since: .latest, nanoseconds: limit) }
        // The caller may not sleep again.
        if map.load32(flag) & Self.waking != 0 { map.wakeAll(at: flag + 4) }
    }

    /// Shows that sleepers are about to be woken, after a fence, and returns the mark of this call; nil if there is
    /// none.
    private func beginWaking(_ word: Int, sparesDelivery: Bool) -> (map: WritableMap, mark: UInt32)? {
        guard let own else { return nil }
        let (map, flag) = (own.map, MemberTableLayout.wakeWord(word))
        // A waker that finds another one's mark wakes, too: that process may have died before its system call.
        let present = map.load32(flag)
        if present == 0 || (sparesDelivery && present == asleepInDelivery) { return nil }
        let call = wakes.add(1, ordering: .relaxed).newValue
        let mark = Self.waking | UInt32(own.slot) << 21 | call & 0x1F_FFFF
        // The flag is written first: a sleeper that reads the new counter sets its own flag after this one, so that
        // flag stays.
        map.store32(flag, mark)
        _ = map.add32(flag + 4, 1)
        return (map, mark)
    }
}

/// Watching the container's status. Everything that it shows may change at any time, and no log has it, so there is
/// nothing to look at between setting the flag and sleeping: the watcher sets the flag, then looks, then sleeps if that
/// counter is still the same. The flag is down from the first change until the watcher looks again: however much
/// changes, a watcher that looks ten times a second costs the others ten system calls a second.
extension MemberTable {
    /// What a watcher sleeps on.
    package struct StatusWait: Sendable {
        fileprivate let memberTable: MemberTable
        fileprivate let counted: WatchedWord?
        fileprivate let removed: WatchedWord?

        /// Sleeps until the status may have changed since `watchStatus`, or an interruption after `seen`; at most
        /// `limit` nanoseconds (nil: no limit). A process that may only read sleeps 100 ms. May return early. System
        /// calls: futex_waitv(2); read-only: nanosleep(2)
        package func wait(atMost limit: Int64?, since seen: Interruption) {
            guard let counted else { return memberTable.pauseAsReader(atMost: limit, since: seen) }
            WritableMap.wait(while: counted, removed, since: seen, nanoseconds: limit)
        }

        /// Whether the status may have changed; false in a process that may only read, which does not see that.
        package var isOver: Bool { counted?.hasChanged == true || removed?.hasChanged == true }
    }

    /// Begins to watch the status, before it is read.
    package func watchStatus() -> StatusWait {
        guard let map = own?.map else { return StatusWait(memberTable: self, counted: nil, removed: nil) }
        let flag = MemberTableLayout.statusWake
        let counted = WatchedWord(flag + 4, of: map)
        let removed = WatchedWord(MemberTableLayout.removals, of: map)
        setAsleep(flag, map)
        SharedMap.fence()
        return StatusWait(memberTable: self, counted: counted, removed: removed)
    }

    private func pauseAsReader(atMost limit: Int64?, since seen: Interruption) {
        if Interruption.latest == seen { pause(nanoseconds: min(limit ?? .max, Self.readersPeriod)) }
    }
}

/// A thread that sleeps on a wake word of the member table for all tasks that wait for more in a log. The thread exists
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

    package init(_ memberTable: MemberTable, word: Int) { (self.memberTable, self.word) = (memberTable, word) }

    /// Returns when the log may have more, at the latest at `moment`, or when the task is cancelled.
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
                if starts { start() }
                // The thread may be asleep already, after a check from before this waiter came, or until a later
                // moment.
                if hasMore() {
                    resume(ticket)
                } else if moment != nil && !starts {
                    Interruption.raise()
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
        let (waiter, wasLast) = state.withLock { state -> (Waiter?, Bool) in
            let waiter = state.waiters.removeValue(forKey: ticket)
            if waiter == nil && isCancelled { state.cancelled.insert(ticket) }
            return (waiter, waiter != nil && state.waiters.isEmpty && state.isRunning)
        }
        waiter?.continuation.resume()
        // The thread ends if no other waiter comes meanwhile.
        if wasLast { Interruption.raise() }
    }

    private func start() {
        do throws(Errno) {
            try WorkThread.start { self.run() }
        } catch {
            // The process may start no thread. The tasks look again, as often as a thread that may only read.
            pause(nanoseconds: MemberTable.readersPeriod)
            wakeAll { $0.isRunning = false }
        }
    }

    private func wakeAll(_ body: (inout State) -> Void = { _ in }) {
        let woken = state.withLock { state in
            body(&state)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    private func run() {
        while true {
            let seen = Interruption.latest
            let (looks, moment) = state.withLock { state -> ([Look], Int64?) in
                if state.waiters.isEmpty { state.isRunning = false }
                return (state.waiters.values.map(\.hasMore), state.waiters.values.compactMap(\.moment).min())
            }
            if looks.isEmpty { return }
            let limit = moment.map { max(0, $0 - monotonicNanoseconds()) }
            memberTable.awaitWake(on: word, atMost: limit, since: seen) { looks.contains { $0() } }
            wakeAll()
        }
    }
}
