import GroupSystemCalls

/// A reader of the journal from a place on, which returns the changes that a filter lets through. The reader keeps only
/// the place, and what is left of a transaction or a snapshot that it is in the middle of: a slow consumer costs no
/// memory.
struct ChangeFeed: Sendable {
    let member: Member
    private let filter: ChangeFilter
    private let policy: RescanPolicy
    /// The place up to which the journal was read. In the middle of a transaction, the place before it: a reader that
    /// stops there gets it again, rather than half of it.
    private(set) var position: LogPosition
    /// A transaction, how many of its changes were returned, and the place behind it. The changes are counted rather
    /// than removed, as copies of the reader share them.
    private var rest: (changes: [Change], told: Int, behind: LogPosition)?
    /// Whether the place was not found, or what came behind it is gone: a `rescan` comes next.
    private var isLost = false
    /// Whether a snapshot is still to be taken. Snapshots are taken when they are read, so that a sequence can be made
    /// without waiting.
    private(set) var wantsSnapshot = false
    private var listing: Listing?
    private let tree = TreeAtPlace()
    /// The marker that watching is incomplete, which the reader would have got if it had followed before.
    private var notice: Change?
    /// The state of the search for a leader, for a follower that may only read.
    private var absence: LeaderAbsence?

    init(
        _ member: Member, since origin: ChangeOrigin, matching filter: ChangeFilter, afterRescan policy: RescanPolicy
    ) throws(CoordinationError) {
        (self.member, self.filter, self.policy) = (member, filter, policy)
        switch origin {
        case .start: position = try member.journal.log.start()
        case .now: position = try member.journal.log.end()
        case .snapshot:
            position = try member.journal.log.start()
            wantsSnapshot = true
        case .cursor(let cursor):
            if let place = try member.journal.position(of: cursor) {
                position = place
            } else {
                position = try member.journal.log.end()
                isLost = true
            }
        }
    }

    /// The place to begin again at in order to miss nothing. In the middle of a snapshot there is no such place.
    var cursor: Cursor { listing == nil && !wantsSnapshot ? place : member.journal.nowhere }

    /// The place in the journal from which the reader goes on, whatever is left of a snapshot.
    var place: Cursor { member.journal.cursor(at: position) }

    /// Takes the snapshot that is wanted. Blocks while it reads the journal and, where there is no leader, the tree.
    mutating func takeSnapshot() throws(CoordinationError) {
        if !wantsSnapshot { return }
        try Container(member).noteUncoordinatedChanges()
        let listing = try Listing(member.journal, of: filter)
        (position, self.listing, wantsSnapshot) = (listing.position, listing, false)
    }

    /// Returns the next change, nil at the end. After an error which means that the journal is damaged, the reader goes
    /// on at the end, with a `rescan`.
    mutating func next() throws(CoordinationError) -> Change? {
        while true {
            if isLost {
                isLost = false
                wantsSnapshot = policy == .snapshot
                return rescan
            }
            if let notice {
                self.notice = nil
                return notice
            }
            try takeSnapshot()
            if listing != nil {
                if let change = nextPresent() { return change }
                listing = nil
                return bookmark
            }
            if let change = nextOfTransaction() { return change }
            switch try step() {
            case .end: return nil
            case .lost: (position, isLost) = (try member.journal.log.end(), true)
            case .gap(let place): (position, isLost) = (place, true)
            case .entry(let entry): if let change = try take(entry) { return change }
            }
        }
    }

    /// Has the marker that watching is incomplete come first, if the leader recorded that before this follower began.
    mutating func noteBlindness() {
        if member.isReadOnly {
            absence = LeaderAbsence()
            if lookForLeader() { return }
        }
        let memberTable = member.memberTable
        let place = memberTable.map.load64(MemberTableLayout.degraded)
        let said = LogPosition(file: place >> 32, offset: Int(place & 0xffff_ffff), sequence: 0, checksum: 0)
        // A record that lies ahead will be read.
        if place == 0 || (said.file, said.offset) >= (position.file, position.offset) { return }
        guard member.hasLeader(ofTerm: memberTable.map.load64(MemberTableLayout.term)) else { return }
        try? member.journal.read(from: said) { record in
            if record.kind != .degraded { return false }
            notice = Change(degraded: record, sequence: position.sequence, cursor: self.place)
            return true
        }
    }

    /// Looks periodically for a leader, for a follower that may only read and has no changes left. Returns true if
    /// there is a marker to return, as no leader watches for external changes. System calls: fcntl(F_OFD_GETLK)
    mutating func lookForLeader() -> Bool {
        let now = monotonicNanoseconds()
        guard let readOnly = member.readOnly, absence?.isDue(at: now) == true,
            let isNews = absence?.look(isThere: member.hasWatchingLeader, at: now)
        else { return false }
        if isNews == .returned { member.diagnostics.tell(.watchingComplete, "a member that may write watches now") }
        if isNews != .missing { return false }
        let reason =
            "this process can only read it (\(readOnly.cause)), and no member that may write follows: changes made without "
            + "coordination are told once one does; run watch-group where the container can be written"
        member.diagnostics.tell(.watchingDegraded, reason)
        notice = Change(
            .degraded(reason: reason), sequence: place.sequence, cursor: place, time: wallNanoseconds())
        return true
    }

    /// Returns the change of an entry, if it is one; several are kept for later.
    private mutating func take(_ entry: Journal.Entry) throws(CoordinationError) -> Change? {
        guard let changes = try changes(in: entry) else {
            (position, isLost) = (entry.position, true)
            return nil
        }
        if changes.count > 1 {
            rest = (changes, 0, entry.position)
            return nil
        }
        position = entry.position
        return changes.first
    }

    private mutating func nextOfTransaction() -> Change? {
        guard let (changes, told, behind) = rest else { return nil }
        rest?.told += 1
        if told + 1 == changes.count { (position, rest) = (behind, nil) }
        return changes[told]
    }

    private mutating func step() throws(CoordinationError) -> Journal.Step {
        do {
            return try member.journal.step(behind: position)
        } catch {
            // The files of a container that is removed go one after the other.
            if member.isGone { throw member.removed("follow") }
            if error.code == .damaged {
                member.diagnostics.tell(.damageMet, item: error.item, "a follower met it: \(error.cause)")
            }
            // What was there cannot be read. A caller that calls again has had the error.
            if error.code == .damaged, let end = try? member.journal.log.end() { (position, isLost) = (end, true) }
            throw error
        }
    }

    var hasMore: Bool {
        isLost || wantsSnapshot || listing != nil || rest != nil || member.journal.log.hasMore(behind: position)
    }

    /// The marker that everything before its cursor was returned.
    var bookmark: Change { Change(.bookmark, sequence: place.sequence, cursor: cursor, time: wallNanoseconds()) }

    private var rescan: Change { Change(.rescan, sequence: place.sequence, cursor: cursor, time: wallNanoseconds()) }

    private mutating func nextPresent() -> Change? {
        while let (place, item) = listing?.next() {
            let change = Change(present: place, item, sequence: position.sequence, cursor: member.journal.nowhere)
            if filter.wants(change) { return change }
        }
        return nil
    }

    private func changes(in entry: Journal.Entry) throws(CoordinationError) -> [Change]? {
        let cursor = member.journal.cursor(at: entry.position)
        return try Change.changes(in: entry, cursor: cursor, by: filter) { () throws(CoordinationError) in
            try tree.treeIndex(member.journal, at: position)
        }
    }
}
