import SystemCalls

/// What each member holds and waits for: for errors and `status`. Nothing is decided by it, so it may be a moment
/// behind.
extension Roster {
    struct Access: Sendable {
        enum State: UInt32, Sendable { case waiting = 1, holding = 2 }

        var member: Member
        var state: State
        var part: LeasePlan.Part
        /// Nanoseconds since 1970.
        var since: Int64
        var path: String
    }

    /// Nil when all entries are taken; the lease is good nevertheless.
    func note(_ state: Access.State, _ part: LeasePlan.Part, path: [UInt8]) -> Int? {
        let free = entries.withLock { entries -> Int? in
            guard let free = (0..<RosterLayout.accessCount).first(where: { !entries.accesses.contains($0) }) else {
                return nil
            }
            entries.accesses.insert(free)
            return free
        }
        guard let free else { return nil }
        let place = accessPlace(slot, free)
        map.store32(place + RosterLayout.accessMode, UInt32(part.mode.rawValue))
        map.store64(place + RosterLayout.accessStart, UInt64(bitPattern: part.span.start))
        map.store64(place + RosterLayout.accessLength, UInt64(bitPattern: part.span.length))
        map.store64(place + RosterLayout.accessSince, UInt64(bitPattern: wallNanoseconds()))
        let kept = Array(path.prefix(RosterLayout.accessPathBytes))
        map.write(
            kept + [UInt8](repeating: 0, count: RosterLayout.accessPathBytes - kept.count),
            at: place + RosterLayout.accessPath)
        map.store32(place + RosterLayout.accessState, state.rawValue)
        return free
    }

    /// From waiting to holding.
    func noteGrant(_ entry: Int) {
        let place = accessPlace(slot, entry)
        map.store64(place + RosterLayout.accessSince, UInt64(bitPattern: wallNanoseconds()))
        map.store32(place + RosterLayout.accessState, Access.State.holding.rawValue)
    }

    func forgetAccess(_ entry: Int) {
        map.store32(accessPlace(slot, entry) + RosterLayout.accessState, 0)
        _ = entries.withLock { $0.accesses.remove(entry) }
    }

    private func accessPlace(_ slot: Int, _ entry: Int) -> Int {
        RosterLayout.slot(slot) + RosterLayout.accesses + entry * RosterLayout.accessBytes
    }

    func accesses(of member: Member) -> [Access] {
        (0..<RosterLayout.accessCount).compactMap { entry in
            let place = accessPlace(member.slot, entry)
            guard let state = Access.State(rawValue: map.load32(place + RosterLayout.accessState)),
                let mode = LeaseMode(rawValue: Int(map.load32(place + RosterLayout.accessMode)))
            else { return nil }
            let path = map.bytes(place + RosterLayout.accessPath, count: RosterLayout.accessPathBytes).prefix {
                $0 != 0
            }
            return Access(
                member: member, state: state,
                part: LeasePlan.Part(
                    LeaseSpan(
                        start: word(place + RosterLayout.accessStart), length: word(place + RosterLayout.accessLength)),
                    mode),
                since: word(place + RosterLayout.accessSince), path: printable(Array(path)))
        }
    }

    private func word(_ place: Int) -> Int64 { Int64(bitPattern: map.load64(place)) }

    /// Members that hold what keeps the plan from being granted, this one included: another of its tasks may.
    func holders(inTheWayOf plan: LeasePlan) -> [CoordinationError.Holder] {
        var found: [CoordinationError.Holder] = []
        for access in liveMembers().flatMap(accesses(of:))
        where access.state == .holding && plan.parts.contains(where: access.part.excludes) {
            found.append(
                CoordinationError.Holder(
                    processIdentifier: access.member.processIdentifier, purpose: access.member.purpose,
                    since: access.since))
        }
        return found
    }
}
