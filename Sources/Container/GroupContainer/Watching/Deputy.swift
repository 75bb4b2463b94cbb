import GroupLocking
import GroupSystemCalls

/// The supervision of a leader by another member while nothing happens. A leader that dies releases its lock, which
/// wakes the candidates; a leader that is stopped keeps it and causes no event. So each new candidate probes the leader
/// once, and then one candidate, the deputy, probes it every ten seconds; the kernel's queue for a lock decides which
/// one. (With changes, the followers probe: `LeaderElection.checkLeader`.)
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

    /// Probes the leader every ten seconds, on a thread that sleeps in between.
    private func serve(_ handle: LockFile.Handle) {
        defer { container.lockFile.giveBack(handle) }
        while rest(Self.period) { probe() }
    }

    /// Sleeps for a time. Returns false once the supervision is over.
    private func rest(_ nanoseconds: Int64) -> Bool {
        let end = awakeNanoseconds() + nanoseconds
        while true {
            let seen = Interruption.latest
            if isOver { return false }
            let left = end - awakeNanoseconds()
            if left <= 0 { return true }
            Interruption.wait(since: seen, atMost: left)
        }
    }

    private func probe() {
        let memberTable = container.memberTable
        guard !isOver, let sent = memberTable.probe() else { return }
        var probe = LeaderProbe()
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
