import GroupLocking
import GroupLog
import GroupSystemCalls

/// The feed of the journal from a position on, with the changes that a filter lets through. The feed keeps only
/// the position, and what is left of a transaction or a snapshot that it is in the middle of: a slow consumer costs no
/// memory.
struct ChangeFeed: Feed {
    let container: OpenContainer
    private let filter: ChangeFilter
    private let policy: RescanPolicy
    /// The position up to which the journal was read. In the middle of a transaction, the position before it: a reader
    /// that stops there gets it again, rather than half of it.
    private(set) var position: LogPosition
    /// A transaction, how many of its changes were returned, and the position behind it. The changes are counted rather
    /// than removed, as copies of the reader share them.
    private var rest: (changes: [Change], reported: Int, behind: LogPosition)?
    /// Whether the position was not found, or what came behind it is gone: a `rescan` comes next.
    private var isLost = false
    /// Whether a snapshot is still to be taken. Snapshots are taken when they are read, so that a sequence can be made
    /// without waiting.
    private var wantsSnapshot = false
    private var listing: Listing?
    private let tree = TreeAtPosition()
    /// A `degraded` marker that is returned next: from a record of the leader before this feed's position, because a
    /// read-only follower found no leader, or because this member cannot be the leader.
    private var notice: Change?
    /// The state of the search for a leader, for a follower that may only read.
    private var absence: LeaderAbsence?
    /// This member's candidacy for leader; nil for a feed that does not follow, and in a read-only container. The
    /// candidacy ends with the last feed that has it.
    private var following: LeaderElection.Following?
    /// The candidacy, also in a copy that keeps no part in it.
    private var election: LeaderElection?
    /// How often it had changed, when this feed last looked, why this member cannot be the leader.
    private var knownShortage: UInt64 = 0
    private var presence = RemovalCheck()

    init(
        _ container: OpenContainer, since origin: ChangeOrigin, matching filter: ChangeFilter,
        afterRescan policy: RescanPolicy
    ) throws(CoordinationError) {
        self.container = container
        self.filter = filter
        self.policy = policy
        switch origin {
        case .start: position = try translating(container.journal.log.start())
        case .now: position = try translating(container.journal.log.end())
        case .snapshot:
            position = try translating(container.journal.log.start())
            wantsSnapshot = true
        case .cursor(let cursor):
            if let found = try container.journal.position(of: cursor) {
                position = found
            } else {
                position = try translating(container.journal.log.end())
                isLost = true
            }
        }
    }

    /// The position to begin again at in order to miss nothing. In the middle of a snapshot there is no such position.
    var cursor: Cursor { listing == nil && !wantsSnapshot ? readPosition : container.journal.invalidCursor }

    /// The position in the journal from which the reader goes on, whatever is left of a snapshot.
    var readPosition: Cursor { container.journal.cursor(at: position) }

    var isUnprepared: Bool { wantsSnapshot }

    /// Takes the snapshot that is wanted. A snapshot is at least linear in the journal: it must not block a thread of
    /// the pool.
    mutating func prepare() async throws(CoordinationError) {
        let unread = self
        self = try await OwnThread.run {
            Result { () throws(CoordinationError) in
                var feed = unread
                try feed.takeSnapshot()
                return feed
            }
        }.get()
    }

    /// Takes the snapshot that is wanted. Blocks while it reads the journal and, where there is no leader, the tree.
    mutating func takeSnapshot() throws(CoordinationError) {
        try container.locating { () throws(CoordinationError) in
            if !wantsSnapshot { return }
            try Container(container).noteUncoordinatedChanges()
            let listing = try Listing(container.journal, of: filter)
            (position, self.listing, wantsSnapshot) = (listing.position, listing, false)
            if following != nil { noteGap() }
        }
    }

    /// Returns the next change, nil at the end. After an error which means that the journal is damaged, the reader goes
    /// on at the end, with a `rescan`.
    mutating func next() throws(CoordinationError) -> Change? {
        try container.locating { () throws(CoordinationError) in try advance() }
    }

    private mutating func advance() throws(CoordinationError) -> Change? {
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
            case .end:
                following?.election.applyIfDue()
                if !lookForLeader() && !noteShortage() { return nil }
            case .lost: (position, isLost) = (try translating(container.journal.log.end()), true)
            case .gap(let next): (position, isLost) = (next, true)
            case .entry(let entry): if let change = try take(entry) { return change }
            }
        }
    }

    mutating func begin() {
        follow(as: container.beginFollowing())
    }

    /// Follows from here on. The marker that watching is incomplete comes first, if the leader recorded that before.
    mutating func follow(as following: LeaderElection.Following?) {
        self.following = following
        election = following?.election
        if container.isReadOnly {
            absence = LeaderAbsence()
            if lookForLeader() { return }
        }
        if !wantsSnapshot { noteGap() }
    }

    /// Reads the leader's record that watching is incomplete, if that record is before this feed's position. A record
    /// after the position is read in its turn.
    private mutating func noteGap() {
        let memberTable = container.memberTable
        let word = memberTable.map.load64(MemberTableLayout.degraded)
        let marker = LogPosition(segment: word >> 32, offset: Int(word & 0xffff_ffff), sequence: 0, checksum: 0)
        // A record that lies ahead will be read.
        if word == 0 || (marker.segment, marker.offset) >= (position.segment, position.offset) { return }
        // Until the leader of this term watches, the record is that of an earlier leader; its own lies ahead.
        guard container.hasWatchingLeader else { return }
        try? container.journal.read(from: marker) { record in
            if record.kind != .degraded { return false }
            notice = Change(degraded: record, sequence: readPosition.sequence, cursor: readPosition)
            return true
        }
    }

    /// Looks periodically for a leader, for a follower that may only read and has no changes left. Returns true if
    /// there is a marker to return, as no leader watches for external changes. System calls: fcntl(F_OFD_GETLK)
    private mutating func lookForLeader() -> Bool {
        let now = monotonicNanoseconds()
        guard let readOnly = container.readOnly, absence?.isDue(at: now) == true,
            let isNews = absence?.check(isThere: container.hasWatchingLeader, at: now)
        else { return false }
        if isNews == .returned {
            container.diagnostics.report(.watchingComplete, "a member that may write watches now")
        }
        if isNews != .missing { return false }
        let reason =
            "this process can only read it (\(readOnly.reason)), and no member that may write follows: changes made without "
            + "coordination are recorded once one does; run watch-group where the container can be written"
        container.diagnostics.report(.watchingDegraded, reason)
        return note(degraded: reason)
    }

    private mutating func note(degraded reason: String) -> Bool {
        notice = Change(
            .degraded(reason: reason), sequence: readPosition.sequence, cursor: readPosition, time: wallNanoseconds())
        return true
    }

    /// Returns true if there is a marker to return, as this member cannot watch, and no other one does.
    private mutating func noteShortage() -> Bool {
        guard let election, election.hasNews(ofShortage: knownShortage) else { return false }
        let (reason, count) = election.latestShortage()
        knownShortage = count
        return reason.map { note(degraded: $0) } ?? false
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
        guard let (changes, reported, behind) = rest else { return nil }
        rest?.reported += 1
        if reported + 1 == changes.count { (position, rest) = (behind, nil) }
        return changes[reported]
    }

    private mutating func step() throws(CoordinationError) -> Journal.Step {
        do {
            return try container.journal.step(behind: position)
        } catch {
            if container.isBeingRemoved() { throw container.removed("follow") }
            if error.code == .damaged {
                container.diagnostics.report(.damageMet, item: error.item, "a follower met it: \(error.reason)")
            }
            // The records up to the end are skipped. This call throws the error, and the next one returns a `rescan`.
            if error.code == .damaged, let end = try? container.journal.log.end() { (position, isLost) = (end, true) }
            throw error
        }
    }

    var hasMore: Bool {
        isLost || wantsSnapshot || listing != nil || rest != nil || container.journal.log.hasMore(behind: position)
            || election?.hasNews(ofShortage: knownShortage) == true
    }

    var due: Int64? { following?.election.due }

    /// A check that keeps no part in the election.
    var look: @Sendable () -> Bool {
        var copy = self
        copy.following = nil
        return { [copy] in copy.hasMore }
    }

    var hasMoreOfBatch: Bool { rest != nil }

    var waiter: any FeedWaiter {
        LogWaiter(
            memberTable: container.memberTable, word: MemberTable.journalWord, sleeper: container.sleeper,
            removals: presence.removals)
    }

    mutating func check() throws(CoordinationError) {
        try container.checkNotForked("follow")
        try presence.check(container, "follow")
        following?.election.checkLeader()
    }

    /// The marker that everything before its cursor was returned.
    var bookmark: Change { Change(.bookmark, sequence: readPosition.sequence, cursor: cursor, time: wallNanoseconds()) }

    private var rescan: Change {
        Change(.rescan, sequence: readPosition.sequence, cursor: cursor, time: wallNanoseconds())
    }

    private mutating func nextPresent() -> Change? {
        while let (location, item) = listing?.next() {
            let change = Change(
                present: location, item, sequence: readPosition.sequence, cursor: container.journal.invalidCursor)
            if filter.wants(change) { return change }
        }
        return nil
    }

    private func changes(in entry: Journal.Entry) throws(CoordinationError) -> [Change]? {
        let cursor = container.journal.cursor(at: entry.position)
        return try Change.changes(in: entry, cursor: cursor, by: filter) {
            [tree, journal = container.journal, position] () throws(CoordinationError) in
            try tree.treeIndex(journal, at: position)
        }
    }
}

extension Change: StreamElement {
    /// The error with which following changes fails.
    public typealias Failure = CoordinationError
    /// A position in the journal.
    public typealias Position = Cursor
}

/// The container's changes since a position, without end: see `Container.changes(since:matching:afterRescan:)`.
public typealias Changes = FollowerSequence<Change>

extension Follower<Change> {
    /// A marker to hand on: complete up to `cursor`.
    public var bookmark: Change {
        let (cursor, readPosition) = (feed.cursor, feed.readPosition)
        let sequence = cursor.isInvalid ? readPosition.sequence : cursor.sequence
        return Change(.bookmark, sequence: sequence, cursor: cursor, time: wallNanoseconds())
    }
}

extension Container {
    /// Returns a follower of the changes since a position, for the calling thread. Once this returns, every change from
    /// now on is seen, including external changes (read-only: if a member that may write follows). `matching` and
    /// `afterRescan` are as in `changes(since:matching:afterRescan:)`.
    public func follow(
        since origin: ChangeOrigin = .now, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) throws(CoordinationError) -> Follower<Change> {
        let following = opened.beginFollowing()
        var feed = try feed(since: origin, matching: filter, afterRescan: policy)
        feed.follow(as: following)
        try feed.takeSnapshot()
        return Follower(feed)
    }

    /// Returns a follower of what the journal has by now, without waiting for more: `next(timeout: .zero)` returns one
    /// change after the other, then nil. Call `noteUncoordinatedChanges` before, if external changes matter.
    public func recordedChanges(
        since origin: ChangeOrigin, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) throws(CoordinationError) -> Follower<Change> {
        Follower(try feed(since: origin, matching: filter, afterRescan: policy))
    }

    /// Returns the changes since a position: `.start`, `.now` (this call), behind a `Cursor`, or `.snapshot`, with the
    /// items that are there first. `matching` selects them by a filter: patterns (`*`, `?`, `[…]` within a component,
    /// `**` across directories), kinds, not one's own. In a read-only container no process wakes the iterator: it reads
    /// every 100 ms.
    ///
    /// If a cursor's position was lost, one `rescan` comes first, and then further changes. With `afterRescan:
    /// .snapshot`, the items that are there come in between, as `present`, with a `bookmark` behind them.
    public func changes(
        since origin: ChangeOrigin = .now, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) -> Changes {
        Changes { () throws(CoordinationError) in
            try feed(since: origin, matching: filter, afterRescan: policy)
        }
    }

    private func feed(
        since origin: ChangeOrigin, matching filter: ChangeFilter, afterRescan policy: RescanPolicy
    ) throws(CoordinationError) -> ChangeFeed {
        try opened.locating { () throws(CoordinationError) in
            try ChangeFeed(opened, since: origin, matching: filter, afterRescan: policy)
        }
    }
}
