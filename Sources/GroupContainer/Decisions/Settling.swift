/// Holds changes back until their paths are quiet, and nets what happens to a path meanwhile: one line a path, once
/// nothing happened to it for `quiet`, at the latest `atMost` after the first that is held back. A reader that applies
/// what is released has the tree that the reader would have without settling.
///
/// Changes that concern each other's paths (the same one, or a directory and what is in it) stay in their order; others
/// overtake each other. Nets: created + removed is nothing; created + modified is created; removed + created is
/// modified, where no directory is involved; what is created or changed and then moved is told at its new place; a move
/// that goes on is one move, and one that goes back is none, if nothing can have stood in between. Times are
/// nanoseconds of one clock.
struct Settling: Sendable {
    let quiet: Int64
    let atMost: Int64

    struct Entry: Sendable {
        var change: Change
        /// Where to begin in order to get all of it again.
        var begin: Cursor
        var first: Int64
        var last: Int64
    }

    /// In the order in which they are to be told; nil for what came to nothing.
    var entries: [Entry?] = []
    private var index = RelatedPaths()
    /// Nothing can be due before.
    private(set) var due: Int64?
    /// Nothing has waited for `atMost` before.
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

    /// What is to be told by now, or, with `all`, everything. Each gets the place from which a reader that comes back
    /// gets everything that was not released before or with it again; `end` is the place behind all that was noted.
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

    /// The place from which a reader that comes back gets everything that is held back again; `end` if nothing is.
    func place(end: Cursor) -> Cursor { entries.compactMap { $0?.begin }.reduce(end, Self.earlier) }

    private static func earlier(_ one: Cursor, _ other: Cursor) -> Cursor {
        (other.sequence, other.file, other.offset) < (one.sequence, one.file, one.offset) ? other : one
    }

    private static func sum(_ time: Int64, _ span: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(span)
        return overflow ? .max : sum
    }

    /// One that has waited for too long takes along what has to come before it; one that is quiet waits for that.
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

    /// After its path has become another.
    mutating func noteAgain(_ position: Int) {
        if let change = entries[position]?.change { index.note(change.places, at: position) }
    }

    mutating func append(_ entry: Entry) {
        index.note(entry.change.places, at: entries.count)
        entries.append(entry)
    }

    /// The last one that concerns a path.
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
    /// The paths that it is about.
    var places: [ItemPath] { kind.otherPath.map { [path, $0] } ?? [path] }
}
