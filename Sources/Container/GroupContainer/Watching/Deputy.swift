import GroupLocking
import GroupSystemCalls
import Synchronization

/// The supervision of a leader by another member. A leader that dies releases its lock, which wakes the candidates; a
/// leader that is stopped keeps it and causes no event. So each new candidate probes the leader once, and then one
/// candidate, the deputy, probes it: once a second while its followers read changes, otherwise every ten seconds. The
/// kernel's queue for a lock decides which one. (A follower whose member is not the deputy probes as well, where no
/// probe was sent for a second: `LeaderElection.checkLeader`.)
final class Deputy: Sendable {
    private enum Phase: Sendable {
        case new
        /// The waiter is nil for the moment in which it is made.
        case queued(LockWaiter?)
        case over
    }

    private let container: OpenContainer
    private let takeOver: @Sendable () -> Void
    private let phase = Guarded(Phase.new)
    /// Of the clock that stops while the machine is suspended, so that a leader that slept with it is not replaced.
    private static let period: Int64 = 10_000_000_000
    /// Whether this member is the deputy.
    private let isServing = Atomic(false)
    /// Whether a follower has read changes since the last probe.
    private let hasChanges = Atomic(false)

    /// `takeOver` is called if the leader does not reply.
    init(_ container: OpenContainer, takeOver: @escaping @Sendable () -> Void) {
        self.container = container
        self.takeOver = takeOver
    }

    /// Probes the leader now, and queues to become deputy. Where there is no descriptor or thread for that, other
    /// candidates do it.
    func begin() {
        let begins = phase.withLock { phase -> Bool in
            guard case .new = phase else { return false }
            phase = .queued(nil)
            return true
        }
        if begins { try? WorkThread.start { self.probe() } }
        guard begins, let handle = try? container.lockFile.borrow() else { return }
        let step = LockWaiter.Step(.exclusive, ByteRange(start: ContainerLock.deputy, length: 1))
        let waiter = try? LockWaiter([step], on: handle.descriptor.number) { outcome in
            guard outcome == .granted, (try? WorkThread.start({ self.serve(handle) })) != nil else {
                return self.container.lockFile.giveBack(handle)
            }
        }
        guard let waiter else { return container.lockFile.giveBack(handle) }
        let isOver = phase.withLock { phase -> Bool in
            guard case .queued = phase else { return true }
            phase = .queued(waiter)
            return false
        }
        if isOver { waiter.cancel() }
    }

    /// Ends the supervision.
    func end() {
        let waiter = phase.withLock { phase -> LockWaiter? in
            defer { phase = .over }
            if case .queued(let waiter) = phase { return waiter }
            return nil
        }
        waiter?.cancel()
        Interruption.raise()
    }

    private var isOver: Bool {
        phase.withLock { phase in
            if case .over = phase { return true }
            return false
        }
    }

    /// Notes that a follower of this member has read changes: it expects those that only a leader can report, too. An
    /// atomic load, mostly.
    func noteChanges() {
        if !isServing.load(ordering: .relaxed) || hasChanges.exchange(true, ordering: .relaxed) { return }
        Interruption.raise()
    }

    /// Probes the leader from time to time, on a thread that sleeps in between.
    private func serve(_ handle: LockFile.Handle) {
        defer { container.lockFile.giveBack(handle) }
        isServing.store(true, ordering: .relaxed)
        while rest() {
            hasChanges.store(false, ordering: .relaxed)
            probe(patience: LeaderProbe.deputyPatience)
        }
    }

    /// Sleeps until the next probe is due. Returns false once the supervision is over.
    private func rest() -> Bool {
        let start = awakeNanoseconds()
        while true {
            let seen = Interruption.latest
            if isOver { return false }
            let period = hasChanges.load(ordering: .relaxed) ? LeaderProbe.period : Self.period
            let left = start + period - awakeNanoseconds()
            if left <= 0 { return true }
            Interruption.wait(since: seen, atMost: left)
        }
    }

    private func probe(patience: Int64 = LeaderProbe.patience) {
        let memberTable = container.memberTable
        guard !isOver, let sent = memberTable.probe() else { return }
        var probe = LeaderProbe(patience: patience)
        while true {
            let seen = Interruption.latest
            if isOver || memberTable.isReplied(sent, at: MemberTableLayout.replied) { return }
            let replied = memberTable.map.load32(MemberTableLayout.replied)
            if probe.check(probed: sent, replied: replied, probedAt: 0, now: awakeNanoseconds()) == .takeOver {
                return takeOver()
            }
            memberTable.awaitWake(on: MemberTable.leaderWord, atMost: LeaderProbe.interval, since: seen) {
                memberTable.isReplied(sent, at: MemberTableLayout.replied)
            }
        }
    }
}
