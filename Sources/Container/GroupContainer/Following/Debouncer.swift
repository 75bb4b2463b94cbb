package import GroupSystemCalls

/// Holds changes back until their paths are quiet, and merges the changes of a path meanwhile: one change per path,
/// once there was no further one for `quiet`, at the latest `atMost` after the first that is held back. A reader that
/// applies the released changes has the same tree as without debouncing.
///
/// Changes that concern each other's paths (the same one, or a directory and what is in it) stay in their order; others
/// may overtake each other. Times are nanoseconds of one clock. Changes merge as follows:
///
/// - created + removed: nothing
/// - created + modified: created
/// - removed + created: modified, where no directory is involved; so is moved away + created, once the moved item is
///   removed
/// - created or changed, then moved: a change at the new path
/// - moved, then moved on: one move; moved, then moved back: nothing; both only if there cannot have been another item
///   in between
struct Debouncer: Sendable {
    let quiet: Int64
    let atMost: Int64

    struct Entry: Sendable {
        var change: Change
        /// The position to begin at in order to get all of the change again.
        var begin: Cursor
        var first: Int64
        var last: Int64
    }

    /// The changes in the order of their release; nil for those that came to nothing.
    var entries: [Entry?] = []
    private var index = RelatedPaths()
    /// The time before which no change can be due.
    private(set) var due: Int64?
    /// The time before which no change has waited for `atMost`.
    private(set) var overdue: Int64?

    init(quiet: Int64, atMost: Int64) { (self.quiet, self.atMost) = (max(0, quiet), max(0, atMost)) }

    var isEmpty: Bool { due == nil }

    /// Takes a change of an item; `begin` is the position before it.
    mutating func note(_ change: Change, from begin: Cursor, at now: Int64) {
        var entry = Entry(change: change, begin: begin, first: now, last: now)
        entry.change.transaction = nil
        switch change.kind {
        case .moved(let from): noteMove(entry, from)
        case .exchanged: append(entry)
        case .created, .modified, .removed, .touched, .present, .bookmark, .rescan, .degraded: noteSimple(entry)
        }
        let moment = min(Self.sum(now, quiet), Self.sum(now, atMost))
        due = min(due ?? moment, moment)
        overdue = min(overdue ?? .max, Self.sum(now, atMost))
    }

    /// Returns the changes that are due by now or, with `all`, all of them. The cursor of each is the position from
    /// which a reader that comes back gets all changes again that are released after it or are still held back. `end`
    /// is the position behind all noted changes.
    mutating func release(at now: Int64, end: Cursor, all: Bool = false) -> [Change] {
        if !all, let due, due > now { return [] }
        let leaves = all ? entries.map { $0 != nil } : dueEntries(at: now)
        var kept: [Entry] = []
        var released: [Entry] = []
        for (entry, leaves) in zip(entries, leaves) {
            guard let entry else { continue }
            if leaves { released.append(entry) } else { kept.append(entry) }
        }
        entries = kept
        index = RelatedPaths()
        for (position, entry) in kept.enumerated() { index.note(entry.change.paths, at: position) }
        due = kept.map { min(Self.sum($0.last, quiet), Self.sum($0.first, atMost)) }.min()
        overdue = kept.map { Self.sum($0.first, atMost) }.min()
        var cursor = kept.map(\.begin).reduce(end, Self.earlier)
        for position in released.indices.reversed() {
            released[position].change.cursor = cursor
            cursor = Self.earlier(cursor, released[position].begin)
        }
        return released.map(\.change)
    }

    /// Returns the position from which a reader that comes back gets all held-back changes again; `end` if there are
    /// none.
    func resumeCursor(end: Cursor) -> Cursor { entries.compactMap { $0?.begin }.reduce(end, Self.earlier) }

    private static func earlier(_ one: Cursor, _ other: Cursor) -> Cursor {
        (other.sequence, other.segment, other.offset) < (one.sequence, one.segment, one.offset) ? other : one
    }

    private static func sum(_ time: Int64, _ span: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(span)
        return overflow ? .max : sum
    }

    /// Returns for each entry whether it is due. An entry that has waited for `atMost` makes earlier entries that
    /// concern its paths due, too. A quiet entry is due only if no earlier entry that concerns its paths is held back.
    private func dueEntries(at now: Int64) -> [Bool] {
        var leaves = [Bool](repeating: false, count: entries.count)
        var urgent = PathSet()
        for position in entries.indices.reversed() {
            guard let entry = entries[position] else { continue }
            let paths = entry.change.paths
            if Self.sum(entry.first, atMost) <= now || paths.contains(where: urgent.concerns) {
                leaves[position] = true
                for path in paths { urgent.insert(path) }
            }
        }
        var held = PathSet()
        for position in entries.indices where !leaves[position] {
            guard let entry = entries[position] else { continue }
            let paths = entry.change.paths
            if Self.sum(entry.last, quiet) <= now && !paths.contains(where: held.concerns) {
                leaves[position] = true
            } else {
                for path in paths { held.insert(path) }
            }
        }
        return leaves
    }

    /// Indexes an entry again after its path was changed.
    mutating func noteAgain(_ position: Int) {
        if let change = entries[position]?.change { index.note(change.paths, at: position) }
    }

    mutating func append(_ entry: Entry) {
        index.note(entry.change.paths, at: entries.count)
        entries.append(entry)
    }

    /// Returns the position of the last entry that concerns a path.
    func last(concerning path: ItemPath) -> Int? {
        guard var position = index.last(concerning: path) else { return nil }
        while position >= 0 {
            if let entry = entries[position], entry.change.paths.contains(where: { $0.concerns(path) }) {
                return position
            }
            position -= 1
        }
        return nil
    }
}

extension Change {
    /// The paths that the change is about.
    var paths: [ItemPath] { kind.otherPath.map { [path, $0] } ?? [path] }
}

/// The changes of another feed, debounced. Memory: linear in the paths that are held back.
struct DebouncedFeed<Changes: Feed<Change>>: Feed {
    typealias Element = Change

    private var changes: Changes
    private var queue: DebounceQueue
    private var ready: ArraySlice<Change> = []
    /// The position in front of `ready`.
    private var readyCursor: Cursor?

    init(_ changes: Changes, _ debouncer: Debouncer) {
        self.changes = changes
        queue = DebounceQueue(debouncer)
    }

    mutating func next() throws(CoordinationError) -> Change? {
        if ready.isEmpty {
            guard let batch = try nextBatch() else { return nil }
            ready = batch[...]
        }
        let change = ready.popFirst()
        readyCursor = ready.isEmpty ? nil : change?.cursor
        return change
    }

    /// Returns the changes that are released together next, in the order in which they are to be applied; nil if there
    /// are none now. The items of a snapshot come some thousand at a time.
    private mutating func nextBatch() throws(CoordinationError) -> [Change]? {
        while true {
            let now = monotonicNanoseconds()
            let begin = changes.cursor
            if let batch = queue.release(at: now, end: begin, isBehind: true) { return batch }
            guard let change = try changes.next() else {
                return queue.release(at: now, end: begin, isBehind: false)
            }
            queue.note(change, from: begin, behind: changes.cursor, at: monotonicNanoseconds())
        }
    }

    /// The position to begin again at in order to miss nothing that was not returned.
    var cursor: Cursor { readyCursor ?? queue.debouncer.resumeCursor(end: changes.cursor) }

    var readPosition: Cursor { changes.readPosition }
    var hasMore: Bool { !ready.isEmpty || changes.hasMore }
    var look: @Sendable () -> Bool { changes.look }
    var due: Int64? { [queue.due, changes.due].compactMap(\.self).min() }
    var hasMoreOfBatch: Bool { !ready.isEmpty }
    var isSettled: Bool { ready.isEmpty && queue.debouncer.isEmpty }
    var waiter: any FeedWaiter { changes.waiter }
    mutating func begin() { changes.begin() }
    var isUnprepared: Bool { ready.isEmpty && changes.isUnprepared }
    mutating func prepare() async throws(CoordinationError) { try await changes.prepare() }
    mutating func check() throws(CoordinationError) { try changes.check() }
}

extension Feed<Change> {
    func debounced(_ debouncer: Debouncer) -> any Feed<Change> { DebouncedFeed(self, debouncer) }
}

/// The queue of a debounced feed: holds each change, or lets it through.
struct DebounceQueue: Sendable {
    private(set) var debouncer: Debouncer
    private var unmerged: [Change] = []
    /// Whether `unmerged` is to be released next.
    private var releasesUnmerged = false
    private var isInTransaction = false
    /// The time by which due changes wait for those that are due a moment later, so that changes made together become
    /// one batch. A look at everything that is held back takes linear time.
    private let slack: Int64

    /// The number of items of a snapshot that are released at a time.
    private static let mostPassing = 4_096

    init(_ debouncer: Debouncer) {
        slack = min(min(debouncer.quiet, debouncer.atMost) / 8, 20_000_000)
        self.debouncer = Debouncer(quiet: debouncer.quiet, atMost: debouncer.atMost - slack)
    }

    /// The time before which no change can be due; nil if none is held back.
    var due: Int64? {
        if releasesUnmerged { return 0 }
        return debouncer.due.map { $0.addingReportingOverflow(slack).overflow ? .max : $0 + slack }
    }

    /// Returns the next batch, or nil if there is none yet. With `isBehind` the caller has not read everything there
    /// was at that time, so no path counts as quiet: a batch is released only once a change has waited for too long.
    mutating func release(at now: Int64, end: Cursor, isBehind: Bool) -> [Change]? {
        if releasesUnmerged {
            let batch = unmerged
            unmerged = []
            releasesUnmerged = false
            return batch
        }
        guard !isInTransaction, let due, due <= now else { return nil }
        if isBehind, let overdue = debouncer.overdue, overdue > now - slack { return nil }
        let batch = debouncer.release(at: now, end: end)
        return batch.isEmpty ? nil : batch
    }

    mutating func note(_ change: Change, from begin: Cursor, behind end: Cursor, at now: Int64) {
        isInTransaction = change.transaction.map { $0.index + 1 < $0.count } ?? false
        if change.kind == .present || change.kind.isMarker {
            // Everything before this change is released first.
            unmerged += debouncer.release(at: now, end: end, all: true) + [change]
            releasesUnmerged = change.kind != .present || unmerged.count >= Self.mostPassing
        } else {
            debouncer.note(change, from: begin, at: now)
        }
    }
}

extension Follower<Change> {
    /// Returns a follower that returns one change per path, once there was no further one for `quiet`, at the latest
    /// `atMost` (ten times `quiet`, if nil) after the first that is held back.
    ///
    /// An item that is created and removed meanwhile is left out. A file that is written ten times comes once, and so
    /// does one that is written under another name and renamed, at its path. Applied in their order, the changes make
    /// the same tree as all of them would. A change's sequence, author and time are those of the last change that it
    /// stands for; it is part of no transaction. Its cursor, and the follower's, are before everything that is still
    /// held back: a follower that resumes there gets a returned change again if an earlier change was still held back.
    /// Memory: linear in the paths that are held back.
    public consuming func debounced(for quiet: Duration, atMost: Duration? = nil) -> Follower<Change> {
        Follower(feed.debounced(Debouncer(quiet, atMost)))
    }

    /// Whether nothing is held back.
    public var isSettled: Bool { feed.isSettled }

    /// Returns the changes that come next together, in the order in which they are to be applied: those that are
    /// released together, or those of a transaction. Waits for them at most `timeout` (nil: forever) and then returns
    /// none. A debounced follower returns the items of a snapshot some thousand at a time.
    public mutating func nextBatch(timeout: Duration? = nil) throws(CoordinationError) -> [Change] {
        try batch(timeout: timeout)
    }

    /// The form of `nextBatch(timeout:)` that waits only once: see `next(timeout:since:)`.
    package mutating func nextBatch(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> [Change]
    {
        try batch(timeout: timeout, since: seen)
    }
}

extension Debouncer {
    init(_ quiet: Duration, _ atMost: Duration?) {
        let quiet = quiet.nanoseconds
        let (tenfold, overflow) = quiet.multipliedReportingOverflow(by: 10)
        self.init(quiet: quiet, atMost: atMost?.nanoseconds ?? (overflow ? .max : tenfold))
    }
}

extension FollowerSequence<Change> {
    /// Returns a sequence of one change per path, once there was no further one for `quiet`, as
    /// `Follower.debounced(for:atMost:)`.
    public func debounced(for quiet: Duration, atMost: Duration? = nil) -> FollowerSequence<Change> {
        map { $0.debounced(Debouncer(quiet, atMost)) }
    }
}
