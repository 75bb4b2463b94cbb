import GroupBytes
import GroupSystemCalls
import Synchronization

/// What each member holds and waits for: for errors, for `status`, and to find deadlocks.
extension MemberTable {
    package typealias Claim = WaitGraph.Claim

    package struct PublishedLock: Sendable {
        package var claim: Claim
        /// The request that the lock belongs to, with those around it.
        package var owner: WaitGraph.Owner { WaitGraph.Owner(claim) }
        /// Nanoseconds since 1970.
        package var since: Int64
        package var purpose: String
        package var path: String
        var member: Member
    }

    /// Writes a claim into the member table and returns its entry. Returns nil when all entries are taken, or when this
    /// process may only read; the lock is good nevertheless, but other members do not see it.
    func publish(_ claim: Claim, purpose: [UInt8], path: [UInt8]) -> Int? {
        guard let own, let free = takeAccess() else { return nil }
        // Read once: each access to the property would count a reference.
        let map = own.map
        let offset = publishedOffset(own.slot, free)
        map.store32(offset + MemberTableLayout.publishedMode, UInt32(claim.part.mode.rawValue))
        map.store64(offset + MemberTableLayout.publishedStart, UInt64(bitPattern: claim.part.range.start))
        map.store64(offset + MemberTableLayout.publishedLength, UInt64(bitPattern: claim.part.range.length))
        map.store64(offset + MemberTableLayout.publishedSince, UInt64(bitPattern: wallNanoseconds()))
        map.store64(offset + MemberTableLayout.publishedTicket, claim.ticket)
        map.store64(offset + MemberTableLayout.publishedOwner, claim.ownerBits)
        map.store64(offset + MemberTableLayout.publishedOrder, claim.order)
        map.write(
            purpose, at: offset + MemberTableLayout.publishedPurpose,
            terminatedWithin: MemberTableLayout.publishedPurposeBytes
        )
        map.write(
            path, at: offset + MemberTableLayout.publishedPath, terminatedWithin: MemberTableLayout.publishedPathBytes)
        map.store32(offset + MemberTableLayout.publishedStage, claim.stage.rawValue)
        return free
    }

    private func takeAccess() -> Int? {
        var inUse = entriesInUse.load(ordering: .relaxed)
        while true {
            let free = (~inUse).trailingZeroBitCount
            if free >= MemberTableLayout.publishedCount { return nil }
            let (isTaken, now) = entriesInUse.compareExchange(
                expected: inUse, desired: inUse | 1 << UInt32(free), ordering: .acquiring)
            if isTaken { return free }
            inUse = now
        }
    }

    func publishStage(_ stage: Claim.Stage, of entry: Int) {
        guard let own else { return }
        let offset = publishedOffset(own.slot, entry)
        if stage == .held {
            own.map.store64(offset + MemberTableLayout.publishedSince, UInt64(bitPattern: wallNanoseconds()))
        }
        own.map.store32(offset + MemberTableLayout.publishedStage, stage.rawValue)
        if stage == .held { noteStatus() }
    }

    /// Draws a ticket as a wait begins. Every member sees what is waited for before the ticket is drawn, so the waiter
    /// with the last ticket of a circle sees all of it.
    func drawTicket(for waiting: [Int], queued: Int?) -> UInt64 {
        guard let own else { return 0 }
        for entry in waiting {
            own.map.store64(publishedOffset(own.slot, entry) + MemberTableLayout.publishedTicket, 0)
        }
        // The stage is set only now: the ticket of an earlier wait would claim an earlier position in the line.
        if let queued { publishStage(.queued, of: queued) }
        SharedMap.fence()
        let ticket = own.map.add64(MemberTableLayout.ticket, 1) &+ 1
        for entry in waiting {
            own.map.store64(publishedOffset(own.slot, entry) + MemberTableLayout.publishedTicket, ticket)
        }
        // Its fence also orders the tickets before what this waiter reads next.
        noteStatus()
        return ticket
    }

    /// Removes several entries, one bit each.
    func withdrawAll(_ entries: UInt32) {
        var rest = entries
        while rest != 0 {
            withdraw(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }

    func withdraw(_ entry: Int) {
        guard let own else { return }
        own.map.store32(publishedOffset(own.slot, entry) + MemberTableLayout.publishedStage, 0)
        entriesInUse.bitwiseAnd(~(1 << UInt32(entry)), ordering: .releasing)
        noteStatus()
    }

    private func publishedOffset(_ slot: Int, _ entry: Int) -> Int {
        MemberTableLayout.slot(slot) + MemberTableLayout.published + entry * MemberTableLayout.publishedBytes
    }

    /// Draws a ticket for a wait for the answer to a question, which was written before.
    package func drawTicket() -> UInt64 {
        SharedMap.fence()
        return own.map { $0.map.add64(MemberTableLayout.ticket, 1) &+ 1 } ?? 0
    }

    package func publishedLocks(of member: Member) -> [PublishedLock] {
        (0..<MemberTableLayout.publishedCount).compactMap { entry in
            let offset = publishedOffset(member.slot, entry)
            guard let claim = claim(at: offset, of: member.slot) else { return nil }
            return PublishedLock(
                claim: claim, since: Self.time(map.load64(offset + MemberTableLayout.publishedSince)),
                purpose: text(offset + MemberTableLayout.publishedPurpose, MemberTableLayout.publishedPurposeBytes),
                path: text(offset + MemberTableLayout.publishedPath, MemberTableLayout.publishedPathBytes),
                member: member)
        }
    }

    /// Returns the claims of all members that are alive.
    func claims() -> [Claim] {
        liveMembers().flatMap { member in
            (0..<MemberTableLayout.publishedCount).compactMap {
                claim(at: publishedOffset(member.slot, $0), of: member.slot)
            }
        }
    }

    private func claim(at offset: Int, of slot: Int) -> Claim? {
        guard let stage = Claim.Stage(rawValue: map.load32(offset + MemberTableLayout.publishedStage)),
            let mode = LockMode(rawValue: Int(map.load32(offset + MemberTableLayout.publishedMode)))
        else { return nil }
        let range = LockRange(
            start: word(offset + MemberTableLayout.publishedStart),
            length: word(offset + MemberTableLayout.publishedLength))
        if range.length <= 0 || range.last < range.start { return nil }
        let owner = map.load64(offset + MemberTableLayout.publishedOwner)
        let claim = Claim(
            member: slot, ownerBits: owner,
            ticket: map.load64(offset + MemberTableLayout.publishedTicket),
            order: map.load64(offset + MemberTableLayout.publishedOrder),
            stage: stage, part: LockPlan.Part(range: range, mode: mode))
        // Another claim may have been written over it meanwhile.
        let isSame =
            map.load32(offset + MemberTableLayout.publishedStage) == stage.rawValue
            && map.load64(offset + MemberTableLayout.publishedOwner) == owner
            && map.load64(offset + MemberTableLayout.publishedStart) == UInt64(bitPattern: range.start)
        return isSame ? claim : nil
    }

    private func word(_ offset: Int) -> Int64 { Int64(bitPattern: map.load64(offset)) }

    private func text(_ offset: Int, _ count: Int) -> String {
        printable(Array(map.bytes(offset, count: count).prefix { $0 != 0 }))
    }

    /// Returns the first item that this member waits for, and a holder that is in the way; nil where it waits for none,
    /// or the holder has just gone.
    package func ownWait() -> (path: String, holder: LockHolder)? {
        guard let slot, let own = member(at: slot) else { return nil }
        for wanted in publishedLocks(of: own) where wanted.claim.stage != .held {
            var processes = ProcessTable()
            for other in liveMembers() where other.slot != slot {
                let holds = publishedLocks(of: other).first {
                    $0.claim.stage == .held && $0.claim.part.excludes(wanted.claim.part)
                }
                if let holds { return (wanted.path, LockHolder(holds, in: &processes)) }
            }
        }
        return nil
    }

    /// Returns the holders of what keeps the plan from being granted, in this process or another. The requesting owner
    /// is left out: it may hold some of it already.
    func holders(inTheWayOf plan: LockPlan, besides owner: WaitGraph.Owner?) -> [LockHolder] {
        var processes = ProcessTable()
        return liveMembers().flatMap(publishedLocks(of:)).filter { access in
            access.claim.stage == .held && plan.parts.contains { access.claim.part.excludes($0) }
                && !(access.claim.member == slot && WaitGraph.Owner(access.claim) == owner)
        }.map { LockHolder($0, in: &processes) }
    }
}

extension WaitGraph.Claim {
    /// The owner as it stands in the member table: its number and, in a request that is part of an answer, its slot
    /// plus one above 48 bits.
    fileprivate var ownerBits: UInt64 {
        owner & Self.numberBits | (isOfAnswer ? UInt64(ownerSlot + 1) << 48 : 0)
    }

    private static let numberBits: UInt64 = (1 << 48) - 1

    fileprivate init(
        member: Int, ownerBits: UInt64, ticket: UInt64, order: UInt64, stage: Stage, part: LockPlan.Part
    ) {
        let slot = Int(ownerBits >> 48)
        self.init(
            member: member, ownerSlot: slot == 0 ? member : slot - 1, owner: ownerBits & Self.numberBits,
            isOfAnswer: slot != 0, ticket: ticket, order: order, stage: stage, part: part)
    }
}
