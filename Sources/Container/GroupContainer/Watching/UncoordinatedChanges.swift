import GroupLocking
import GroupSystemCalls

extension MemberTable {
    /// The wake word for processes that wait until a leader is ready, or replies.
    static let leaderWord = 1

    /// Begins a term. Returns false if another member has begun it, or if this process may only read.
    func begin(term: UInt64, after present: UInt64) -> Bool {
        own?.map.exchange64(MemberTableLayout.term, present, term) ?? false
    }

    /// Writes that this member is the leader.
    func noteLeader() {
        guard let own else { return }
        own.map.store64(MemberTableLayout.leader, UInt64(own.slot + 1))
        noteStatus()
    }

    /// Writes a field as the leader of a term, if that is the present one.
    func set(_ offset: Int, to value: UInt64, of term: UInt64) {
        if let own, map.load64(MemberTableLayout.term) == term { own.map.store64(offset, value) }
    }

    func reply(to probe: UInt32, at offset: Int) { own?.map.store32(offset, probe) }

    /// Sends a probe to the leader; returns its number, nil for a reader. System calls: futimens(2), which the leader's
    /// inotify instance reports
    func probe() -> UInt32? {
        guard let own else { return nil }
        own.map.store64(MemberTableLayout.probedAt, UInt64(bitPattern: monotonicNanoseconds()))
        let probe = own.map.add32(MemberTableLayout.probed, 1) &+ 1
        try? file.touch()
        return probe
    }

    /// Returns whether a count has come as far as a probe's number. Counts only grow, and begin again at 0 after the
    /// last number.
    func isReplied(_ probe: UInt32, at offset: Int) -> Bool {
        Int32(bitPattern: map.load32(offset) &- probe) >= 0
    }
}

extension OpenContainer {
    /// Whether a leader lives and watches every directory.
    var hasWatchingLeader: Bool {
        let term = memberTable.map.load64(MemberTableLayout.term)
        if term == 0 || memberTable.map.load64(MemberTableLayout.watchTerm) != term { return false }
        return hasLeader(ofTerm: term)
    }

    /// Returns whether the leader of a term lives; false if the kernel returns an error. System calls:
    /// fcntl(F_OFD_GETLK)
    func hasLeader(ofTerm term: UInt64) -> Bool {
        guard let handle = try? lockFile.borrow() else { return false }
        defer { lockFile.giveBackUnlocked(handle) }
        let byte = ByteRange(start: ContainerLock.leadership(term: term), length: 1)
        do { return try handle.descriptor.conflict(with: .exclusive, byte) != nil } catch { return false }
    }

    /// Takes part in the election of a leader, without waiting for the result. A reader is no candidate: nil.
    func beginFollowing() -> LeaderElection.Following? { isReadOnly ? nil : LeaderElection.candidate(self) }

    /// What came of asking the leader to record everything that happened up to now.
    fileprivate enum Settling {
        case recorded
        /// The leader did not reply within a second, or takes more than ten seconds longer to record everything.
        case late
        /// There is no leader, or not everything is watched.
        case impossible
    }

    /// Has the leader record everything that happened up to now, however it was made.
    fileprivate func settleByLeader() -> Settling {
        guard hasLeader(ofTerm: memberTable.map.load64(MemberTableLayout.term)), let probe = memberTable.probe() else {
            return .impossible
        }
        var deadline = Deadline(after: .seconds(1))
        while !memberTable.isReplied(probe, at: MemberTableLayout.replied) {
            if deadline.isOver { return .late }
            memberTable.awaitWake(on: MemberTable.leaderWord, atMost: deadline.remaining) {
                memberTable.isReplied(probe, at: MemberTableLayout.replied)
            }
        }
        // The leader is there, but may have a large tree to compare first.
        deadline = Deadline(after: .seconds(10))
        while !memberTable.isReplied(probe, at: MemberTableLayout.recorded) {
            if deadline.isOver { return .late }
            memberTable.awaitWake(on: MemberTable.leaderWord, atMost: deadline.remaining) {
                memberTable.isReplied(probe, at: MemberTableLayout.recorded)
            }
        }
        // Where the leader sees no events it has compared nothing since its last comparison.
        return memberTable.map.load64(MemberTableLayout.degraded) == 0 ? .recorded : .impossible
    }
}

extension Container {
    /// Records all external changes made up to now in the journal: by the leader, if one replies, otherwise by
    /// comparing the container's tree with the journal. For short commands; a follower need not call it.
    ///
    /// Items that another process holds for writing are passed over. With a leader the call takes about as long as a
    /// change takes to be streamed; without one, or where the kernel has no watch for each directory, it is linear in
    /// the number of items. In a read-only container it does nothing.
    public func noteUncoordinatedChanges() throws(CoordinationError) {
        _ = try recordUncoordinatedChanges(comparing: true)
    }

    /// Does what `noteUncoordinatedChanges` does, and returns whether each item that was moved is in the journal at its
    /// present path. One that is, or has in it, an item that a process was busy with is passed over at first.
    ///
    /// A comparison may take an item that is being renamed for one that is gone, as it sees no events. So without
    /// `comparing`, where a leader is late, nothing is compared, and the result is false.
    package func recordUncoordinatedChanges(comparing: Bool) throws(CoordinationError) -> Bool {
        try opened.locating { () throws(CoordinationError) in
            if isReadOnly { return true }
            switch opened.settleByLeader() {
            case .recorded: return opened.memberTable.map.load32(MemberTableLayout.postponedMoves) == 0
            case .late where !comparing: return false
            case .late, .impossible: break
            }
            let reconciliation = try ReconcileOnce(opened, under: nil)
            try reconciliation.compareEverything()
            opened.tendJournal()
            return reconciliation.isComplete
        }
    }

    /// Returns whether a coordinated change of an item, of a directory around it, or of an item in it is in progress in
    /// any process: what it has done to the disk may not be in the journal yet. A change that has ended by the time of
    /// the call is.
    package func isBeingChanged(_ path: ItemPath) -> Bool {
        SharedMap.fence()
        if !opened.memberTable.hasInFlight { return false }
        let subtree = LockRange(path: path.bytes, key: opened.hashKey).subtree
        var starts: Set<UInt64> = [MemberTable.everyItem]
        var bytes = path.bytes[...]
        while !bytes.isEmpty {
            let range = LockRange(path: Array(bytes), key: opened.hashKey)
            starts.insert(UInt64(bitPattern: range.start))
            bytes = bytes.prefix(upTo: bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)
        }
        return opened.memberTable.slotsWithInFlight().contains { slot in
            opened.memberTable.inFlight(of: slot).contains { change in
                starts.contains(change.rangeStart)
                    || subtree.contains(LockRange(start: Int64(bitPattern: change.rangeStart), length: 1))
            } && opened.memberTable.isAlive(slot)
        }
    }

    /// Waits until there is a leader that watches every directory, so that an external change is seen when it happens
    /// rather than by the comparison that follows; at most `timeout` (nil: forever). Returns false if there is no
    /// leader by then, as no member that may write follows.
    package func awaitLeader(timeout: Duration? = nil) -> Bool {
        let deadline = Deadline(after: timeout)
        while !opened.hasWatchingLeader {
            if deadline.isOver { return false }
            opened.memberTable.awaitWake(on: MemberTable.leaderWord, atMost: deadline.remaining) {
                opened.hasWatchingLeader
            }
        }
        return true
    }
}
