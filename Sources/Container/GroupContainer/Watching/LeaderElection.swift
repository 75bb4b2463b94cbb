import GroupBytes
import GroupLocking
import GroupSystemCalls
import Synchronization

/// A member's candidacy, and its term as leader. A candidate waits in the kernel's queue for the lock of the present
/// term's byte, which the leader's death releases; the candidate that gets it opens the next term. The candidacy lasts
/// as long as the member has a follower.
final class LeaderElection: Sendable {
    let container: OpenContainer

    private enum Phase: Sendable {
        /// The member has not applied yet, or is about to apply again.
        case idle
        /// The waiter is nil for the moment in which it is made: a byte that is free is granted before that is over.
        case waiting(LockFile.Handle, LockWaiter?)
        case elected(LockFile.Handle, term: UInt64)
        /// The member has no follower any more.
        case over
    }
    private let phase = Guarded(Phase.idle)
    /// The wait to become deputy, for as long as this member waits to become leader.
    private let deputy = Guarded<Deputy?>(nil)
    private let probe = Guarded(LeaderProbe())
    /// Why this member cannot lead, as long as there is no leader; nil otherwise.
    private let shortage = Guarded<String?>(nil)
    /// How often `shortage` has changed.
    private let shortages = Atomic<UInt64>(0)
    /// The files that a leader has open at a time, apart from those that every member has; more after a term in which
    /// these were too few.
    private let neededFiles = Guarded(16)
    /// When this member is to apply again, where it may start no thread for that; `max`: never.
    private let application = Atomic(Int64.max)

    private init(_ container: OpenContainer) { self.container = container }

    private static let candidates = Guarded([ObjectIdentifier: Weakly]())
    private struct Weakly: Sendable {
        weak let election: Following?
    }

    /// The object that followers keep: the candidacy ends with the last of them.
    final class Following: Sendable {
        let election: LeaderElection

        fileprivate init(_ election: LeaderElection) { self.election = election }

        deinit { election.end() }
    }

    /// Returns the member's candidacy, which begins with its first follower.
    static func candidate(_ container: OpenContainer) -> Following {
        let key = ObjectIdentifier(container)
        let (following, isNew) = candidates.withLock { candidates -> (Following, Bool) in
            if let following = candidates[key]?.election, following.election.container === container {
                return (following, false)
            }
            let following = Following(LeaderElection(container))
            candidates[key] = Weakly(election: following)
            return (following, true)
        }
        if isNew { following.election.apply() }
        return following
    }

    /// The member's term as leader; nil if it is not the leader.
    var term: UInt64? {
        phase.withLock { phase in
            if case .elected(_, let term) = phase { return term }
            return nil
        }
    }

    /// The byte of the lock file that candidates queue for: the leader of the term holds its lock.
    private static func candidateByte(_ term: UInt64) -> ByteRange {
        ByteRange(start: ContainerLock.election(term: term), length: 1)
    }
    /// The byte of the lock file whose lock shows other processes that the leader of the term lives.
    private static func leaderByte(_ term: UInt64) -> ByteRange {
        ByteRange(start: ContainerLock.leadership(term: term), length: 1)
    }

    /// Waits for the lock of the present term's byte.
    private func apply() {
        let present = container.memberTable.map.load64(MemberTableLayout.term)
        do throws(Errno) {
            try container.directory.root.checkRoom(forFiles: neededFiles.withLock { $0 })
        } catch {
            noteShortage(error)
            return applyLater()
        }
        guard let handle = try? container.lockFile.borrow() else { return applyLater() }
        let isIdle = phase.withLock { phase -> Bool in
            guard case .idle = phase else { return false }
            phase = .waiting(handle, nil)
            return true
        }
        guard isIdle else { return container.lockFile.giveBack(handle) }
        if (try? handle.descriptor.tryLock(.exclusive, Self.candidateByte(present))) == true {
            return accept(handle, after: present)
        }
        let step = LockWaiter.Step(.exclusive, Self.candidateByte(present))
        let waiter = try? LockWaiter([step], on: handle.descriptor.number) { outcome in
            if outcome == .granted { self.accept(handle, after: present) } else { self.giveUp(handle) }
        }
        guard let waiter else { return giveUp(handle) }
        let isOver = phase.withLock { phase -> Bool in
            if case .waiting(let present, _) = phase, present === handle { phase = .waiting(handle, waiter) }
            if case .over = phase { return true }
            return false
        }
        if isOver { return waiter.cancel() }
        // Another member leads.
        noteShortage(nil)
        supervise(present)
    }

    /// Probes the leader of a term that is not this member's, and again as deputy, until the term is over.
    private func supervise(_ present: UInt64) {
        let deputy = Deputy(container) { [weak self] in self?.takeOver(from: present) }
        let last = self.deputy.withLock { last in
            defer { last = deputy }
            return last
        }
        last?.end()
        // The lock may have been granted, or the candidacy ended, meanwhile.
        let isWaiting = phase.withLock { phase in
            if case .waiting = phase { return true }
            return false
        }
        if isWaiting { deputy.begin() } else { endSupervision() }
    }

    private func endSupervision() {
        let deputy = deputy.withLock { deputy in
            defer { deputy = nil }
            return deputy
        }
        deputy?.end()
    }

    /// Notes the error that has ended the member's term: where files were too few, the next one needs more, or it would
    /// end in the same way.
    func noteFailure(_ error: CoordinationError) {
        if error.code == .limitReached { neededFiles.withLock { $0 = min($0 * 2, 256) } }
    }

    /// Notes why this member cannot lead, and wakes its followers if there is no leader; nil: it can.
    func noteShortage(_ cause: Errno?) {
        var reason: String?
        if let cause, !container.hasWatchingLeader {
            let (lack, remedy) =
                cause == .tryAgain
                ? ("start no further thread (\(cause))", "raise the limit of processes and threads, or of memory")
                : (
                    "open too few files (\(cause); 'ulimit -n' is \(OpenFiles.limit))",
                    "close files, or raise the limit"
                )
            reason =
                "this process may \(lack), and no other one watches: changes made without coordination are recorded "
                + "once one does; \(remedy)"
        }
        let isNews = shortage.withLock { shortage in
            if (shortage == nil) == (reason == nil) { return false }
            shortage = reason
            shortages.add(1, ordering: .releasing)
            return true
        }
        if !isNews { return }
        if let reason {
            container.diagnostics.report(.watchingDegraded, reason)
        } else {
            container.diagnostics.report(.watchingComplete, "this process can watch, or another one does")
        }
        container.memberTable.wake(MemberTable.journalWord)
    }

    /// Whether something has changed in why this member cannot lead, since it had changed so often. A load.
    func hasNews(ofShortage known: UInt64) -> Bool { shortages.load(ordering: .acquiring) != known }

    /// Returns why this member cannot lead, nil where it can or there is a leader, and how often that has changed.
    func latestShortage() -> (reason: String?, count: UInt64) {
        shortage.withLock { ($0, shortages.load(ordering: .acquiring)) }
    }

    /// Applies again later: there were too many descriptors or threads, or the leadership could not be kept.
    private func applyLater() {
        do throws(Errno) {
            // A thread that sleeps, since a timer of Dispatch needs a descriptor, and ends the process if there is none.
            try WorkThread.start {
                pause(nanoseconds: Self.period)
                self.apply()
            }
        } catch {
            // The followers' own threads do it.
            application.store(monotonicNanoseconds() + Self.period, ordering: .relaxed)
        }
    }

    private static let period: Int64 = 1_000_000_000

    /// The moment of the monotonic clock from which on a follower is to call `applyIfDue`; nil: never. A load.
    var due: Int64? {
        let moment = application.load(ordering: .relaxed)
        return moment == .max ? nil : moment
    }

    /// Applies again, where the moment for that has come.
    func applyIfDue() {
        let moment = application.load(ordering: .relaxed)
        if moment == .max || moment > monotonicNanoseconds() { return }
        if application.compareExchange(expected: moment, desired: .max, ordering: .relaxed).exchanged { apply() }
    }

    private func giveUp(_ handle: LockFile.Handle) {
        container.lockFile.giveBack(handle)
        let goesOn = phase.withLock { phase -> Bool in
            // The member may have taken over from a leader that does not reply.
            guard case .waiting(let present, _) = phase, present === handle else { return false }
            phase = .idle
            return true
        }
        if goesOn { applyLater() }
    }

    /// Opens the next term, as the lock of the present term's byte was granted: the leader is gone, or there has been
    /// none.
    private func accept(_ handle: LockFile.Handle, after present: UInt64) {
        let next = present &+ 1
        let isFirst = opensTerm(next, after: present, handle)
        enum Outcome { case elected, late, over }
        let outcome = phase.withLock { phase -> Outcome in
            guard case .waiting(let mine, _) = phase, mine === handle else { return .over }
            phase = isFirst ? .elected(handle, term: next) : .idle
            return isFirst ? .elected : .late
        }
        endSupervision()
        switch outcome {
        case .elected:
            container.memberTable.noteLeader()
            container.diagnostics.report(
                .leadershipTaken, "changes made without coordination are watched here: term \(next)")
            // The candidates that wait for this byte find a later term and wait for that one.
            _ = try? handle.descriptor.tryLock(.none, Self.candidateByte(present))
            EventLoop.shared.adopt(self)
        case .late:
            // Another member opened a later term meanwhile: this one waits for that term's byte.
            container.lockFile.giveBack(handle)
            apply()
        case .over: container.lockFile.giveBack(handle)
        }
    }

    private func opensTerm(_ next: UInt64, after present: UInt64, _ handle: LockFile.Handle) -> Bool {
        (try? handle.descriptor.tryLock(.exclusive, Self.candidateByte(next))) == true
            && (try? handle.descriptor.tryLock(.exclusive, Self.leaderByte(next))) == true
            && container.memberTable.begin(term: next, after: present)
    }

    /// Probes the leader, and opens the next term if the leader does not reply. Called by followers periodically;
    /// mostly a few loads.
    func checkLeader() {
        applyIfDue()
        let now = monotonicNanoseconds()
        let map = container.memberTable.map
        let advice = probe.withLock { probe in
            probe.check(
                probed: map.load32(MemberTableLayout.probed), replied: map.load32(MemberTableLayout.replied),
                probedAt: Int64(bitPattern: map.load64(MemberTableLayout.probedAt)), now: now)
        }
        deputy.withLock { $0?.noteChanges() }
        switch advice {
        case .nothing: break
        case .probe: _ = container.memberTable.probe()
        case .takeOver: takeOver(from: map.load64(MemberTableLayout.term))
        }
    }

    private func takeOver(from present: UInt64) {
        // A leader that died is succeeded by the candidates that wait for its term's byte.
        guard term == nil, present > 0, container.hasLeader(ofTerm: present),
            let handle = try? container.lockFile.borrow()
        else { return }
        guard opensTerm(present &+ 1, after: present, handle) else { return container.lockFile.giveBack(handle) }
        enum Outcome { case elected(LockWaiter?), over }
        let outcome = phase.withLock { phase -> Outcome in
            switch phase {
            case .over, .elected: return .over
            case .idle:
                phase = .elected(handle, term: present &+ 1)
                return .elected(nil)
            case .waiting(_, let waiter):
                phase = .elected(handle, term: present &+ 1)
                return .elected(waiter)
            }
        }
        switch outcome {
        case .over: container.lockFile.giveBack(handle)
        case .elected(let waiter):
            waiter?.cancel()
            endSupervision()
            container.memberTable.noteLeader()
            container.diagnostics.report(
                .leadershipTaken,
                "changes made without coordination are watched here: term \(present &+ 1), as the leader before did not reply"
            )
            EventLoop.shared.adopt(self)
        }
    }

    /// Gives up the leadership; the next candidate gets it. With `tryingAgain`, after an error, this member is a
    /// candidate again later. To be called on the event loop's thread.
    func resign(tryingAgain: Bool) {
        let handle = phase.withLock { phase -> LockFile.Handle? in
            guard case .elected(let handle, _) = phase else { return nil }
            phase = tryingAgain ? .idle : .over
            return handle
        }
        guard let handle else { return }
        container.lockFile.giveBack(handle)
        container.memberTable.noteStatus()
        if tryingAgain { applyLater() }
    }

    private func end() {
        enum Action { case nothing, cancel(LockWaiter), dismiss }
        let action = phase.withLock { phase -> Action in
            switch phase {
            case .elected: return .dismiss
            case .waiting(_, let waiter):
                phase = .over
                return waiter.map(Action.cancel) ?? .nothing
            case .idle, .over:
                phase = .over
                return .nothing
            }
        }
        endSupervision()
        switch action {
        case .nothing: break
        case .cancel(let waiter): waiter.cancel()
        case .dismiss: EventLoop.shared.dismiss(self)
        }
    }
}
