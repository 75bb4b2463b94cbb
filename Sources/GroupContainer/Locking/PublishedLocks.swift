import GroupSystemCalls
import Synchronization

/// What each member holds and waits for: for errors, for `status`, and to find deadlocks.
extension MemberTable {
    typealias Claim = WaitGraph.Claim

    struct PublishedLock: Sendable {
        var claim: Claim
        /// Nanoseconds since 1970.
        var since: Int64
        var purpose: String
        var path: String
        var member: Member
    }

    /// Writes a claim into the member table and returns its entry. Returns nil when all entries are taken, or when this
    /// process may only read; the lock is good nevertheless, but other members do not see it.
    func note(_ claim: Claim, purpose: [UInt8], path: [UInt8]) -> Int? {
        guard let seat, let free = takeAccess() else { return nil }
        // Read once: each access to the property would count a reference.
        let map = seat.map
        let place = accessPlace(seat.slot, free)
        map.store32(place + MemberTableLayout.accessMode, UInt32(claim.part.mode.rawValue))
        map.store64(place + MemberTableLayout.accessStart, UInt64(bitPattern: claim.part.range.start))
        map.store64(place + MemberTableLayout.accessLength, UInt64(bitPattern: claim.part.range.length))
        map.store64(place + MemberTableLayout.accessSince, UInt64(bitPattern: wallNanoseconds()))
        map.store64(place + MemberTableLayout.accessTicket, claim.ticket)
        map.store64(place + MemberTableLayout.accessChain, claim.chain)
        map.store64(place + MemberTableLayout.accessOrder, claim.order)
        map.write(
            purpose, at: place + MemberTableLayout.accessPurpose, terminatedWithin: MemberTableLayout.accessPurposeBytes
        )
        map.write(path, at: place + MemberTableLayout.accessPath, terminatedWithin: MemberTableLayout.accessPathBytes)
        map.store32(place + MemberTableLayout.accessStage, claim.stage.rawValue)
        return free
    }

    private func takeAccess() -> Int? {
        var taken = takenAccesses.load(ordering: .relaxed)
        while true {
            let free = (~taken).trailingZeroBitCount
            if free >= MemberTableLayout.accessCount { return nil }
            let (isTaken, now) = takenAccesses.compareExchange(
                expected: taken, desired: taken | 1 << UInt32(free), ordering: .acquiring)
            if isTaken { return free }
            taken = now
        }
    }

    func noteStage(_ stage: Claim.Stage, of entry: Int) {
        guard let seat else { return }
        let place = accessPlace(seat.slot, entry)
        if stage == .held {
            seat.map.store64(place + MemberTableLayout.accessSince, UInt64(bitPattern: wallNanoseconds()))
        }
        seat.map.store32(place + MemberTableLayout.accessStage, stage.rawValue)
    }

    /// Draws a ticket as a wait begins. Every member sees what is waited for before the ticket is drawn, so the waiter
    /// with the last ticket of a circle sees all of it.
    func drawTicket(for waiting: [Int], queued: Int?) -> UInt64 {
        guard let seat else { return 0 }
        for entry in waiting { seat.map.store64(accessPlace(seat.slot, entry) + MemberTableLayout.accessTicket, 0) }
        // The stage is set only now: the ticket of an earlier wait would claim an earlier place in the line.
        if let queued { noteStage(.queued, of: queued) }
        SharedMap.fence()
        let ticket = seat.map.add64(MemberTableLayout.ticket, 1) &+ 1
        for entry in waiting {
            seat.map.store64(accessPlace(seat.slot, entry) + MemberTableLayout.accessTicket, ticket)
        }
        SharedMap.fence()
        return ticket
    }

    /// Removes several entries, one bit each.
    func forgetAccesses(_ entries: UInt32) {
        var rest = entries
        while rest != 0 {
            forgetAccess(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    func forgetAccess(_ entry: Int) {
        guard let seat else { return }
        seat.map.store32(accessPlace(seat.slot, entry) + MemberTableLayout.accessStage, 0)
        takenAccesses.bitwiseAnd(~(1 << UInt32(entry)), ordering: .releasing)
    }

    private func accessPlace(_ slot: Int, _ entry: Int) -> Int {
        MemberTableLayout.slot(slot) + MemberTableLayout.accesses + entry * MemberTableLayout.accessBytes
    }

    func accesses(of member: Member) -> [PublishedLock] {
        (0..<MemberTableLayout.accessCount).compactMap { entry in
            let place = accessPlace(member.slot, entry)
            guard let claim = claim(at: place, of: member.slot) else { return nil }
            return PublishedLock(
                claim: claim, since: Self.time(map.load64(place + MemberTableLayout.accessSince)),
                purpose: text(place + MemberTableLayout.accessPurpose, MemberTableLayout.accessPurposeBytes),
                path: text(place + MemberTableLayout.accessPath, MemberTableLayout.accessPathBytes), member: member)
        }
    }

    /// Returns the claims of all members that are alive.
    func claims() -> [Claim] {
        liveMembers().flatMap { member in
            (0..<MemberTableLayout.accessCount).compactMap { claim(at: accessPlace(member.slot, $0), of: member.slot) }
        }
    }

    private func claim(at place: Int, of slot: Int) -> Claim? {
        guard let stage = Claim.Stage(rawValue: map.load32(place + MemberTableLayout.accessStage)),
            let mode = LockMode(rawValue: Int(map.load32(place + MemberTableLayout.accessMode)))
        else { return nil }
        let range = LockRange(
            start: word(place + MemberTableLayout.accessStart), length: word(place + MemberTableLayout.accessLength))
        if range.length <= 0 || range.last < range.start { return nil }
        let claim = Claim(
            member: slot, chain: map.load64(place + MemberTableLayout.accessChain),
            ticket: map.load64(place + MemberTableLayout.accessTicket),
            order: map.load64(place + MemberTableLayout.accessOrder),
            stage: stage, part: LockPlan.Part(range: range, mode: mode))
        // Another claim may have been written over it meanwhile.
        let isSame =
            map.load32(place + MemberTableLayout.accessStage) == stage.rawValue
            && map.load64(place + MemberTableLayout.accessChain) == claim.chain
            && map.load64(place + MemberTableLayout.accessStart) == UInt64(bitPattern: range.start)
        return isSame ? claim : nil
    }

    private func word(_ place: Int) -> Int64 { Int64(bitPattern: map.load64(place)) }

    private func text(_ place: Int, _ count: Int) -> String {
        printable(Array(map.bytes(place, count: count).prefix { $0 != 0 }))
    }

    /// Returns the holders of what keeps the plan from being granted, in this process or another. The requesting chain
    /// is left out: it may hold some of it already.
    func holders(inTheWayOf plan: LockPlan, besides chain: UInt64?) -> [CoordinationError.Holder] {
        var processes = ProcessTable()
        return liveMembers().flatMap(accesses(of:)).filter { access in
            access.claim.stage == .held && plan.parts.contains { access.claim.part.excludes($0) }
                && !(access.claim.member == slot && access.claim.chain == chain)
        }.map { CoordinationError.Holder($0, in: &processes) }
    }
}
