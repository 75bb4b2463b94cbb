import GroupSystemCalls

extension MemberTable {
    /// The wake word of those who wait for a leader: to be ready, or to answer.
    static let leaderWord = 1

    /// False: somebody else has begun it, or this one may only read.
    func begin(term: UInt64, after present: UInt64) -> Bool {
        seat?.map.exchange64(MemberTableLayout.term, present, term) ?? false
    }

    /// This member is the leader.
    func noteLeader() {
        if let seat { seat.map.store64(MemberTableLayout.leader, UInt64(seat.slot + 1)) }
    }

    /// As the leader of a term, if that is the present one.
    func set(_ offset: Int, to value: UInt64, of term: UInt64) {
        if let seat, map.load64(MemberTableLayout.term) == term { seat.map.store64(offset, value) }
    }

    func answer(_ question: UInt32, at offset: Int) { seat?.map.store32(offset, question) }

    /// Rings for the leader; the question's number. System calls: futimens(2), which its inotify instance tells of
    func ask() -> UInt32? {
        guard let seat else { return nil }
        seat.map.store64(MemberTableLayout.askedAt, UInt64(bitPattern: monotonicNanoseconds()))
        let question = seat.map.add32(MemberTableLayout.asked, 1) &+ 1
        try? file.touch()
        return question
    }

    /// Whether a count has come as far as a question. They only grow, and begin again at 0 after the last number.
    func isAnswered(_ question: UInt32, at offset: Int) -> Bool {
        Int32(bitPattern: map.load32(offset) &- question) >= 0
    }
}

extension Member {
    /// A leader lives, and watches every directory.
    var hasWatchingLeader: Bool {
        let term = memberTable.map.load64(MemberTableLayout.term)
        if term == 0 || memberTable.map.load64(MemberTableLayout.watchTerm) != term { return false }
        return hasLeader(ofTerm: term)
    }

    /// Where the kernel will not say: no. System calls: fcntl(F_OFD_GETLK)
    func hasLeader(ofTerm term: UInt64) -> Bool {
        guard let handle = try? lockFile.borrow() else { return false }
        defer { lockFile.giveBackUnlocked(handle) }
        let byte = ByteRange(start: LockRange.leadership(term: term), length: 1)
        do { return try handle.descriptor.conflict(with: .exclusive, byte) != nil } catch { return false }
    }

    /// Takes part in the election of a leader. Does not wait for one. Who may only read is no candidate.
    func beginFollowing() -> LeaderElection.Following? { isReadOnly ? nil : LeaderElection.candidate(self) }

    /// Has the leader journal everything that happened up to now, however it was made. False: there is none that
    /// answers within a second, or not everything is watched.
    fileprivate func settleByLeader() -> Bool {
        guard hasLeader(ofTerm: memberTable.map.load64(MemberTableLayout.term)), let question = memberTable.ask() else {
            return false
        }
        var deadline = Deadline(after: .seconds(1))
        while !memberTable.isAnswered(question, at: MemberTableLayout.answered) {
            if deadline.isOver { return false }
            memberTable.awaitWake(on: MemberTable.leaderWord, atMost: deadline.remaining) {
                memberTable.isAnswered(question, at: MemberTableLayout.answered)
            }
        }
        // It is there. It may have a large tree to compare first.
        deadline = Deadline(after: .seconds(10))
        while !memberTable.isAnswered(question, at: MemberTableLayout.settled) {
            if deadline.isOver { return false }
            memberTable.awaitWake(on: MemberTable.leaderWord, atMost: deadline.remaining) {
                memberTable.isAnswered(question, at: MemberTableLayout.settled)
            }
        }
        // Where it sees no events it has looked at nothing since its last comparison.
        return memberTable.map.load64(MemberTableLayout.degraded) == 0
    }
}

extension Container {
    /// Has everything that was changed without coordination up to now journalled: by the leader, where one answers,
    /// else by comparing the container's tree with the journal. For short commands; a follower need not call it.
    /// Passes over what somebody holds for writing. With a leader it takes about as long as a change takes to be
    /// streamed; without one, or where the kernel has no watch for each directory, it is linear in the number of items.
    /// Where the container is read-only it does nothing.
    public func noteUncoordinatedChanges() throws(CoordinationError) {
        if isReadOnly || member.settleByLeader() { return }
        if try ReconcileOnce(member, under: nil).compareEverything() {
            member.memberTable.wake(MemberTable.journalWord)
        }
        member.tendJournal()
    }

    /// Waits until there is a leader that watches every directory, so that a change made without coordination is seen
    /// when it happens rather than by the comparison that follows; at most `timeout` (nil: for ever). False: there is
    /// none, as no member that may write follows.
    public func awaitLeader(timeout: Duration? = nil) -> Bool {
        let deadline = Deadline(after: timeout)
        while !member.hasWatchingLeader {
            if deadline.isOver { return false }
            member.memberTable.awaitWake(on: MemberTable.leaderWord, atMost: deadline.remaining) {
                member.hasWatchingLeader
            }
        }
        return true
    }
}
