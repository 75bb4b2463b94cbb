import SystemCalls

/// A member's candidature for the stewardship, and its office. It waits in the kernel on the present term's byte, which
/// is freed by the steward's death; whoever gets it opens the next term. It lasts as long as somebody follows.
final class Stewardship: Sendable {
    let member: Member

    private struct State: Sendable {
        var handle: LockFile.Handle?
        var waiter: LockWaiter?
        var term: UInt64 = 0
        var isOver = false
    }
    private let state = Guarded(State())

    private init(_ member: Member) { self.member = member }

    private static let candidates = Guarded([ObjectIdentifier: Weakly]())
    private struct Weakly: Sendable {
        weak let stewardship: Following?
    }

    /// What followers hold on to: the candidature ends with the last of them.
    final class Following: Sendable {
        fileprivate let stewardship: Stewardship

        fileprivate init(_ stewardship: Stewardship) { self.stewardship = stewardship }

        deinit { stewardship.end() }
    }

    /// The member's candidature; begins with its first follower.
    static func candidate(_ member: Member) -> Following {
        let key = ObjectIdentifier(member)
        let (following, isNew) = candidates.withLock { candidates -> (Following, Bool) in
            if let following = candidates[key]?.stewardship, following.stewardship.member === member {
                return (following, false)
            }
            let following = Following(Stewardship(member))
            candidates[key] = Weakly(stewardship: following)
            return (following, true)
        }
        if isNew { following.stewardship.apply() }
        return following
    }

    var term: UInt64 { state.withLock { $0.term } }

    private static func byte(_ term: UInt64) -> ByteRange {
        ByteRange(start: LeaseBlock.stewardship(term: term), length: 1)
    }
    private static func office(_ term: UInt64) -> ByteRange {
        ByteRange(start: LeaseBlock.office(term: term), length: 1)
    }

    /// Queues for the present term's byte. Where that fails, this member is no candidate; others are.
    private func apply() {
        let present = member.roster.map.load64(RosterLayout.term)
        guard let handle = try? member.lockFile.borrow() else { return }
        // Before the wait begins: a byte that is free is granted, on another thread, before this one goes on.
        state.withLock { $0.handle = handle }
        let waiter = try? LockWaiter([LockWaiter.Step(.exclusive, Self.byte(present))], on: handle.descriptor.number) {
            outcome in
            if outcome == .granted { self.accept(after: present) } else { self.member.lockFile.giveBack(handle) }
        }
        let isOver = state.withLock { state in
            if state.handle === handle { state.waiter = waiter }
            return state.isOver
        }
        if isOver { waiter?.cancel() }
    }

    /// The byte of a term is ours: its steward is gone, or there has been none.
    private func accept(after present: UInt64) {
        let (handle, isOver) = state.withLock { ($0.handle, $0.isOver) }
        guard let handle else { return }
        let next = present + 1
        let isElected =
            !isOver && (try? handle.descriptor.tryLock(.exclusive, Self.byte(next))) == true
            && (try? handle.descriptor.tryLock(.exclusive, Self.office(next))) == true
            && member.roster.map.exchange64(RosterLayout.term, present, next)
        guard isElected else {
            member.lockFile.giveBack(handle)
            state.withLock { ($0.handle, $0.waiter) = (nil, nil) }
            // Somebody else opened a later term meanwhile: queue there.
            if !isOver { apply() }
            return
        }
        member.roster.map.store64(RosterLayout.steward, UInt64(member.roster.slot + 1))
        // Those who queue here find a later term and queue there.
        _ = try? handle.descriptor.tryLock(.none, Self.byte(present))
        // Under the lock: who ends it meanwhile finds no office yet, or one that the hub knows of.
        let isTooLate = state.withLock { state in
            if !state.isOver {
                state.term = next
                Hub.shared.adopt(self)
            }
            return state.isOver
        }
        if isTooLate { resign() }
    }

    /// Gives the office up; the next candidate gets it. On the hub's thread, or when it never came to it.
    func resign() {
        let handle = state.withLock { state in
            defer { (state.handle, state.isOver) = (nil, true) }
            return state.handle
        }
        if let handle { member.lockFile.giveBack(handle) }
    }

    private func end() {
        let (waiter, isSteward) = state.withLock { state in
            state.isOver = true
            return (state.waiter, state.term != 0)
        }
        if isSteward { Hub.shared.dismiss(self) } else { waiter?.cancel() }
    }
}
