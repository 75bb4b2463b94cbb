import SystemCalls

extension Roster {
    /// The wake word of those who wait for a steward to be ready.
    static let stewardWord = 1

    /// False: somebody else has begun it, or this one may only read.
    func begin(term: UInt64, after present: UInt64) -> Bool {
        seat?.map.exchange64(RosterLayout.term, present, term) ?? false
    }

    /// This member is the steward.
    func noteSteward() {
        if let seat { seat.map.store64(RosterLayout.steward, UInt64(seat.slot + 1)) }
    }
}

extension Member {
    /// A steward lives, watches every folder, and has journalled what happened before. Where the kernel will not say:
    /// no.
    /// System calls: fcntl(F_OFD_GETLK)
    var hasReadySteward: Bool {
        let term = roster.map.load64(RosterLayout.term)
        if term == 0 || roster.map.load64(RosterLayout.readyTerm) != term { return false }
        return hasSteward(ofTerm: term)
    }

    func hasSteward(ofTerm term: UInt64) -> Bool {
        guard let handle = try? lockFile.borrow() else { return false }
        defer { lockFile.giveBack(handle) }
        let byte = ByteRange(start: LeaseBlock.office(term: term), length: 1)
        do { return try handle.descriptor.conflict(with: .exclusive, byte) != nil } catch { return false }
    }

    /// Takes part in the election of a steward, and returns when there is one that sees every change from now on; at
    /// the latest after `limit`, when there is none that can. Who may only read is no candidate, and does not wait.
    func beginFollowing(atMost limit: Duration = .seconds(10)) -> Stewardship.Following? {
        if isReadOnly { return nil }
        let following = Stewardship.candidate(self)
        let deadline = Deadline(after: limit)
        while !hasReadySteward && !following.stewardship.hasFailed && !deadline.isOver {
            roster.awaitWake(on: Roster.stewardWord, atMost: deadline.remaining) {
                hasReadySteward || following.stewardship.hasFailed
            }
        }
        return following
    }
}

extension Container {
    /// Where no steward lives, compares the container's tree with the journal and records what was changed without
    /// coordination. For short commands; whoever follows need not call it. Linear in the number of items; takes shared
    /// leases only where something differs, and passes over what is held. While another process does the same, or is
    /// becoming steward, it waits for that, at most 10 s. Where the container is read-only it does nothing: only a
    /// steward's, or another member's, look records such changes.
    public func noteUncoordinatedChanges() throws(CoordinationError) {
        if isReadOnly { return }
        let handle = try member.lockFile.borrow()
        defer { member.lockFile.giveBack(handle) }
        let deadline = Deadline(after: .seconds(10))
        while !member.hasReadySteward {
            let isFree = try translating(".group/lock", "lock") { () throws(Errno) in try takeBytes(handle) }
            if isFree {
                try compare()
                return member.tendJournal()
            }
            if deadline.isOver { return }
            member.roster.awaitWake(on: Roster.stewardWord, atMost: 5_000_000) { member.hasReadySteward }
        }
    }

    /// Both bytes: the one that candidates queue for, and that of the term which one of them may be opening.
    private func takeBytes(_ handle: LockFile.Handle) throws(Errno) -> Bool {
        let present = member.roster.map.load64(RosterLayout.term)
        for term in [present, present &+ 1] {
            let byte = ByteRange(start: LeaseBlock.stewardship(term: term), length: 1)
            if try !handle.descriptor.tryLock(.exclusive, byte) {
                _ = try handle.descriptor.tryLock(.none, .all)
                return false
            }
        }
        if member.roster.map.load64(RosterLayout.term) == present { return true }
        _ = try handle.descriptor.tryLock(.none, .all)
        return false
    }

    private func compare() throws(CoordinationError) {
        let examiner = try Examiner(member, under: nil)
        TreeWalk.walk(
            member, from: nil, enter: { (_, _) throws(Errno) in }, visit: { examiner.note($0, .comparison) },
            missed: { _, _ in })
        for known in examiner.picture.items.keys { examiner.note(known, .comparison) }
        if try examiner.work() { member.roster.wake(Roster.journalWord) }
    }
}
