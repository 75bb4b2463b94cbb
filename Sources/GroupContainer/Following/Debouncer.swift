import GroupSystemCalls

/// Holds changes back until their paths are quiet, and merges the changes of a path meanwhile: one change per path,
/// once there was no further one for `quiet`, at the latest `atMost` after the first that is held back. A reader that
/// applies the released changes has the same tree as without settling.
///
/// Changes that concern each other's paths (the same one, or a directory and what is in it) stay in their order; others
/// may overtake each other. Times are nanoseconds of one clock. Changes merge as follows:
///
/// - created + removed: nothing
/// - created + modified: created
/// - removed + created: modified, where no directory is involved
/// - created or changed, then moved: a change at the new place
/// - moved, then moved on: one move; moved, then moved back: nothing; both only if there cannot have been another item
///   in between
struct Debouncer: Sendable {
    let quiet: Int64
    let atMost: Int64

    struct Entry: Sendable {
        var change: Change
        /// The place to begin at in order to get all of the change again.
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

    /// Takes a change of an item; `begin` is the place before it.
    mutating func note(_ change: Change, from begin: Cursor, at now: Int64) {
        var entry = Entry(change: change, begin: begin, first: now, last: now)
        entry.change.transaction = nil
        switch change.kind {
        case .moved(let from): noteMove(entry, from)
        case .exchanged: append(entry)
        default: noteSimple(entry)
        }
        let moment = min(Self.sum(now, quiet), Self.sum(now, atMost))
        due = min(due ?? moment, moment)
        overdue = min(overdue ?? .max, Self.sum(now, atMost))
    }

    /// Returns the changes that are due by now or, with `all`, all of them. The cursor of each is the place from which
    /// a reader that comes back gets all changes again that are released after it or are still held back. `end` is the
    /// place behind all noted changes.
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
        for (place, entry) in kept.enumerated() { index.note(entry.change.places, at: place) }
        due = kept.map { min(Self.sum($0.last, quiet), Self.sum($0.first, atMost)) }.min()
        overdue = kept.map { Self.sum($0.first, atMost) }.min()
        var place = kept.map(\.begin).reduce(end, Self.earlier)
        for position in released.indices.reversed() {
            released[position].change.cursor = place
            place = Self.earlier(place, released[position].begin)
        }
        return released.map(\.change)
    }

    /// Returns the place from which a reader that comes back gets all held-back changes again; `end` if there are none.
    func place(end: Cursor) -> Cursor { entries.compactMap { $0?.begin }.reduce(end, Self.earlier) }

    private static func earlier(_ one: Cursor, _ other: Cursor) -> Cursor {
        (other.sequence, other.file, other.offset) < (one.sequence, one.file, one.offset) ? other : one
    }

    private static func sum(_ time: Int64, _ span: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(span)
        return overflow ? .max : sum
    }

    /// Returns which entries are due. An entry that has waited for too long takes along the entries that have to come
    /// before it; a quiet entry waits for those.
    private func dueEntries(at now: Int64) -> [Bool] {
        var leaves = [Bool](repeating: false, count: entries.count)
        var urgent = PathSet()
        for position in entries.indices.reversed() {
            guard let entry = entries[position] else { continue }
            let places = entry.change.places
            if Self.sum(entry.first, atMost) <= now || places.contains(where: urgent.concerns) {
                leaves[position] = true
                for place in places { urgent.insert(place) }
            }
        }
        var held = PathSet()
        for position in entries.indices where !leaves[position] {
            guard let entry = entries[position] else { continue }
            let places = entry.change.places
            if Self.sum(entry.last, quiet) <= now && !places.contains(where: held.concerns) {
                leaves[position] = true
            } else {
                for place in places { held.insert(place) }
            }
        }
        return leaves
    }

    /// Indexes an entry again after its path was changed.
    mutating func noteAgain(_ position: Int) {
        if let change = entries[position]?.change { index.note(change.places, at: position) }
    }

    mutating func append(_ entry: Entry) {
        index.note(entry.change.places, at: entries.count)
        entries.append(entry)
    }

    /// Returns the position of the last entry that concerns a path.
    func last(concerning path: ItemPath) -> Int? {
        guard var position = index.last(concerning: path) else { return nil }
        while position >= 0 {
            if let entry = entries[position], entry.change.places.contains(where: { $0.concerns(path) }) {
                return position
            }
            position -= 1
        }
        return nil
    }
}

extension Change {
    /// The paths that the change is about.
    var places: [ItemPath] { kind.otherPath.map { [path, $0] } ?? [path] }
}

/// A follower of the changes as they settle: see `ChangeFollower.settled(for:atMost:)`. Memory: linear in the paths
/// that are held back.
public struct SettledFollower: Sendable {
    private var follower: ChangeFollower
    private var desk: DebounceQueue
    private var ready: ArraySlice<Change> = []
    /// The place in front of `ready`.
    private var readyPlace: Cursor?

    init(_ follower: ChangeFollower, _ settling: Debouncer) {
        self.follower = follower
        desk = DebounceQueue(settling)
    }

    /// The place to begin again at in order to miss nothing that was not returned. Changes that were returned may come
    /// again: those that overtook one that is held back.
    public var cursor: Cursor { readyPlace ?? desk.settling.place(end: follower.cursor) }

    /// A marker to hand on: complete up to `cursor`.
    public var bookmark: Change {
        Change(.bookmark, sequence: cursor.sequence, cursor: cursor, time: wallNanoseconds())
    }

    /// The place in the journal from which the follower reads on, whatever is held back.
    package var place: Cursor { follower.place }

    /// Whether nothing is held back.
    public var isSettled: Bool { ready.isEmpty && desk.settling.isEmpty }

    /// Returns the next change; waits for it at most `timeout` (nil: forever) and then returns nil. Errors: as
    /// `ChangeFollower.next(timeout:)`.
    public mutating func next(timeout: Duration? = nil) throws(CoordinationError) -> Change? {
        if ready.isEmpty { ready = try nextBatch(timeout: timeout)[...] }
        guard let change = ready.popFirst() else { return nil }
        readyPlace = ready.isEmpty ? nil : change.cursor
        return change
    }

    /// Returns the changes that settle together next, in the order in which they are to be applied; waits for them at
    /// most `timeout` (nil: forever) and then returns none. The items of a snapshot come some thousand at a time.
    public mutating func nextBatch(timeout: Duration? = nil) throws(CoordinationError) -> [Change] {
        let deadline = Deadline(after: timeout)
        readyPlace = nil
        while true {
            let now = monotonicNanoseconds()
            let begin = follower.cursor
            if let batch = desk.release(at: now, end: begin, isBehind: true) { return batch }
            if let change = try follower.next(timeout: .zero) {
                desk.note(change, from: begin, behind: follower.cursor, at: monotonicNanoseconds())
                continue
            }
            if let batch = desk.release(at: now, end: begin, isBehind: false) { return batch }
            let wait = min(deadline.remaining ?? .max, desk.wait(from: now))
            if let change = try follower.next(timeout: wait == .max ? nil : .nanoseconds(wait)) {
                desk.note(change, from: begin, behind: follower.cursor, at: monotonicNanoseconds())
            } else if deadline.isOver && desk.wait(from: monotonicNanoseconds()) > 0 {
                return []
            }
        }
    }
}

/// The queue of a settled follower, blocking or not: holds each change, or lets it through.
struct DebounceQueue: Sendable {
    private(set) var settling: Debouncer
    private var passing: [Change] = []
    /// Whether `passing` is to be released next.
    private var isPassing = false
    private var isInTransaction = false
    /// The time by which due changes wait for those that are due a moment later, so that changes made together become
    /// one batch. A look at everything that is held back takes linear time.
    private let slack: Int64

    /// The number of items of a snapshot that are released at a time.
    private static let mostPassing = 4_096

    init(_ settling: Debouncer) {
        slack = min(min(settling.quiet, settling.atMost) / 8, 20_000_000)
        self.settling = Debouncer(quiet: settling.quiet, atMost: settling.atMost - slack)
    }

    /// Returns how long no change can be due; `.max` if none is held back.
    func wait(from now: Int64) -> Int64 {
        if isPassing { return 0 }
        guard let due = settling.due else { return .max }
        return max(0, due.addingReportingOverflow(slack).overflow ? .max : due + slack - now)
    }

    /// Returns the next batch, or nil if there is none yet. With `isBehind` the caller has not read everything there
    /// was at that time, so no path counts as quiet: a batch is released only once a change has waited for too long.
    mutating func release(at now: Int64, end: Cursor, isBehind: Bool) -> [Change]? {
        if isPassing {
            let batch = passing
            (passing, isPassing) = ([], false)
            return batch
        }
        if isInTransaction || settling.isEmpty || wait(from: now) > 0 { return nil }
        if isBehind, let overdue = settling.overdue, overdue > now - slack { return nil }
        let batch = settling.release(at: now, end: end)
        return batch.isEmpty ? nil : batch
    }

    mutating func note(_ change: Change, from begin: Cursor, behind end: Cursor, at now: Int64) {
        isInTransaction = change.transaction.map { $0.index + 1 < $0.count } ?? false
        if change.kind == .present || change.kind.isMarker {
            // Everything before this change is released first.
            passing += settling.release(at: now, end: end, all: true) + [change]
            isPassing = change.kind != .present || passing.count >= Self.mostPassing
        } else {
            settling.note(change, from: begin, at: now)
        }
    }
}

extension ChangeFollower {
    /// Returns a follower that returns one change per path, once there was no further one for `quiet`, at the latest
    /// `atMost` (ten times `quiet`, if nil) after the first that is held back.
    ///
    /// An item that is created and removed meanwhile is left out. A file that is written ten times comes once, and so
    /// does one that is written under another name and renamed, at its place. Applied in their order, the changes make
    /// the same tree as all of them would. A change's sequence, author and time are those of the last change that it
    /// stands for; it is part of no transaction. Its cursor, and the follower's, are before everything that is still
    /// held back.
    public consuming func settled(for quiet: Duration, atMost: Duration? = nil) -> SettledFollower {
        SettledFollower(self, Debouncer(quiet, atMost))
    }
}

extension Debouncer {
    init(_ quiet: Duration, _ atMost: Duration?) {
        let quiet = Self.nanoseconds(quiet)
        let (tenfold, overflow) = quiet.multipliedReportingOverflow(by: 10)
        self.init(quiet: quiet, atMost: atMost.map(Self.nanoseconds) ?? (overflow ? .max : tenfold))
    }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || sumOverflow ? (seconds < 0 ? 0 : .max) : sum
    }
}

/// The changes as they settle: see `Changes.settled(for:atMost:)`.
public struct SettledChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = Change

    private let changes: Changes
    private let settling: Debouncer

    init(_ changes: Changes, _ settling: Debouncer) { (self.changes, self.settling) = (changes, settling) }

    /// Returns an iterator that starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(changes.makeAsyncIterator(), settling) }

    /// The place of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        private var changes: Changes.Iterator
        private var desk: DebounceQueue
        private var ready: ArraySlice<Change> = []

        init(_ changes: Changes.Iterator, _ settling: Debouncer) {
            self.changes = changes
            desk = DebounceQueue(settling)
        }

        /// Returns the next change; nil when the task is cancelled. A consumer that begins at the last change's cursor
        /// then gets what is held back. Errors: those of `Changes.Iterator`.
        public mutating func next() async throws(CoordinationError) -> Change? {
            while ready.isEmpty {
                let now = monotonicNanoseconds()
                let begin = try changes.cursor
                if let batch = desk.release(at: now, end: begin, isBehind: true) {
                    ready = batch[...]
                    break
                }
                if let change = try await changes.next(by: now) {
                    desk.note(change, from: begin, behind: try changes.cursor, at: monotonicNanoseconds())
                    continue
                }
                if let batch = desk.release(at: now, end: begin, isBehind: false) {
                    ready = batch[...]
                    break
                }
                let wait = desk.wait(from: now)
                if let change = try await changes.next(by: wait == .max ? nil : now + wait) {
                    desk.note(change, from: begin, behind: try changes.cursor, at: monotonicNanoseconds())
                } else if Task.isCancelled {
                    return nil
                }
            }
            return ready.popFirst()
        }
    }
}

extension Changes {
    /// Returns a sequence of one change per path, once there was no further one for `quiet`, as
    /// `ChangeFollower.settled(for:atMost:)`.
    public func settled(for quiet: Duration, atMost: Duration? = nil) -> SettledChanges {
        SettledChanges(self, Debouncer(quiet, atMost))
    }
}
