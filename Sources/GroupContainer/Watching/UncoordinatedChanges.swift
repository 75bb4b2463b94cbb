import GroupSystemCalls

extension Roster {
    /// The wake word of those who wait for a steward: to be ready, or to answer.
    static let stewardWord = 1

    /// False: somebody else has begun it, or this one may only read.
    func begin(term: UInt64, after present: UInt64) -> Bool {
        seat?.map.exchange64(RosterLayout.term, present, term) ?? false
    }

    /// This member is the steward.
    func noteSteward() {
        if let seat { seat.map.store64(RosterLayout.steward, UInt64(seat.slot + 1)) }
    }

    /// As the steward of a term, if that is the present one.
    func set(_ offset: Int, to value: UInt64, of term: UInt64) {
        if let seat, map.load64(RosterLayout.term) == term { seat.map.store64(offset, value) }
    }

    func answer(_ question: UInt32, at offset: Int) { seat?.map.store32(offset, question) }

    /// Rings for the steward; the question's number. System calls: futimens(2), which its inotify instance tells of
    func ask() -> UInt32? {
        guard let seat else { return nil }
        seat.map.store64(RosterLayout.askedAt, UInt64(bitPattern: monotonicNanoseconds()))
        let question = seat.map.add32(RosterLayout.asked, 1) &+ 1
        try? file.touch()
        return question
    }

    /// Whether a count has come as far as a question. They only grow, and begin again at 0 after the last number.
    func isAnswered(_ question: UInt32, at offset: Int) -> Bool {
        Int32(bitPattern: map.load32(offset) &- question) >= 0
    }
}

extension Member {
    /// A steward lives, and watches every folder.
    var hasWatchingSteward: Bool {
        let term = roster.map.load64(RosterLayout.term)
        if term == 0 || roster.map.load64(RosterLayout.watchTerm) != term { return false }
        return hasSteward(ofTerm: term)
    }

    /// Where the kernel will not say: no. System calls: fcntl(F_OFD_GETLK)
    func hasSteward(ofTerm term: UInt64) -> Bool {
        guard let handle = try? lockFile.borrow() else { return false }
        defer { lockFile.giveBackUnlocked(handle) }
        let byte = ByteRange(start: LeaseBlock.office(term: term), length: 1)
        do { return try handle.descriptor.conflict(with: .exclusive, byte) != nil } catch { return false }
    }

    /// Takes part in the election of a steward. Does not wait for one. Who may only read is no candidate.
    func beginFollowing() -> Stewardship.Following? { isReadOnly ? nil : Stewardship.candidate(self) }

    /// Has the steward journal everything that happened up to now, however it was made. False: there is none that
    /// answers within a second, or not everything is watched.
    fileprivate func settleBySteward() -> Bool {
        guard hasSteward(ofTerm: roster.map.load64(RosterLayout.term)), let question = roster.ask() else {
            return false
        }
        var deadline = Deadline(after: .seconds(1))
        while !roster.isAnswered(question, at: RosterLayout.answered) {
            if deadline.isOver { return false }
            roster.awaitWake(on: Roster.stewardWord, atMost: deadline.remaining) {
                roster.isAnswered(question, at: RosterLayout.answered)
            }
        }
        // It is there. It may have a large tree to compare first.
        deadline = Deadline(after: .seconds(10))
        while !roster.isAnswered(question, at: RosterLayout.settled) {
            if deadline.isOver { return false }
            roster.awaitWake(on: Roster.stewardWord, atMost: deadline.remaining) {
                roster.isAnswered(question, at: RosterLayout.settled)
            }
        }
        // Where it sees no events it has looked at nothing since its last comparison.
        return roster.map.load64(RosterLayout.degraded) == 0
    }
}

extension Container {
    /// Has everything that was changed without coordination up to now journalled: by the steward, where one answers,
    /// else by comparing the container's tree with the journal. For short commands; whoever follows need not call it.
    /// Passes over what somebody holds for writing. With a steward it takes about as long as a change takes to be
    /// streamed; without one, or where the kernel has no watch for each folder, it is linear in the number of items.
    /// Where the container is read-only it does nothing.
    public func noteUncoordinatedChanges() throws(CoordinationError) {
        if isReadOnly || member.settleBySteward() { return }
        if try Examiner(member, under: nil).compareEverything() { member.roster.wake(Roster.journalWord) }
        member.tendJournal()
    }

    /// Waits until there is a steward that watches every folder, so that a change made without coordination is seen
    /// when it happens rather than by the comparison that follows; at most `timeout` (nil: for ever). False: there is
    /// none, as no member that may write follows.
    public func awaitSteward(timeout: Duration? = nil) -> Bool {
        let deadline = Deadline(after: timeout)
        while !member.hasWatchingSteward {
            if deadline.isOver { return false }
            member.roster.awaitWake(on: Roster.stewardWord, atMost: deadline.remaining) { member.hasWatchingSteward }
        }
        return true
    }
}
