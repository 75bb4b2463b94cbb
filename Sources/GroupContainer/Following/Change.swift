/// One change of an item, as the journal has it.
public struct Change: Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// Nothing stood there before. Where a follower's filter or settling leaves out what was before, something may
        /// have: it stands there now.
        case created
        /// The content is another; or may be: the dates are, and nobody had read before what stood there.
        case modified
        /// Nothing stands there any more, nor below it.
        case removed
        /// It stands elsewhere now; the place where it stood.
        case moved(from: ItemPath)
        /// Both stand there still, but at each other's place; the other place.
        case exchanged(with: ItemPath)
        /// Mode, owner or dates changed, or the same bytes were written again.
        case touched
        /// It stands there, says the snapshot that the follower began with: nothing changed.
        case present
        /// Complete up to here: everything before its cursor was told. Ends a snapshot.
        case bookmark
        /// The place in the journal was lost: the cursor is of another history. Compare everything; what follows is
        /// complete.
        case rescan
        /// Watching is incomplete: why, with `path` the directory that it is about, empty for all. Coordinated changes
        /// are complete still; others come when the leader compares.
        case degraded(reason: String)

        /// The kind without what belongs to it. The raw value is the name that the commands print.
        public enum Word: String, Hashable, Sendable, CaseIterable {
            /// The kind of that name.
            case created, modified, removed, moved, exchanged, touched, present, bookmark, rescan, degraded
        }

        /// Where it stood before, or the other place of an exchange.
        public var otherPath: ItemPath? {
            switch self {
            case .moved(let other), .exchanged(let other): other
            default: nil
            }
        }

        /// The kind without what belongs to it.
        public var word: Word {
            switch self {
            case .created: .created
            case .modified: .modified
            case .removed: .removed
            case .moved: .moved
            case .exchanged: .exchanged
            case .touched: .touched
            case .present: .present
            case .bookmark: .bookmark
            case .rescan: .rescan
            case .degraded: .degraded
            }
        }

        /// The name that the commands print.
        public var name: String { word.rawValue }

        /// About the stream rather than about an item: `bookmark`, `rescan`, `degraded`.
        public var isMarker: Bool { [.bookmark, .rescan, .degraded].contains(word) }
    }

    /// Who made it.
    public struct Author: Hashable, Sendable {
        /// Its process.
        public var processIdentifier: Int32
        /// What it said it was.
        public var purpose: String
    }

    /// The transaction that a change is part of: its changes became visible together, follow each other without another
    /// one in between, and share sequence and cursor. What a filter makes of one directory's move is one, too.
    public struct Transaction: Hashable, Sendable {
        /// 32 hex digits: the operation's name, which no other transaction has.
        public var identifier: String
        /// Which one of its changes this is, from 0, among those that the follower's patterns match.
        public var index: Int
        /// How many of its changes the follower's patterns match: the last one that it gets has `index + 1 == count`.
        public var count: Int
    }

    /// Its number: 1 for the container's first change, without gaps. The changes of a transaction share one. Of
    /// `present` and `bookmark`, that of the last change that is in the snapshot.
    public var sequence: UInt64
    /// The place right behind it; for a change of a transaction, the one behind the transaction's last: to be kept only
    /// once that was seen, as `ChangeFollower.cursor` does. For `present` a place that no journal has, so that who
    /// comes back with it gets a `rescan`: the snapshot's place is the cursor of the `bookmark` behind it.
    public var cursor: Cursor
    /// What happened.
    public var kind: Kind
    /// To which item; empty for `rescan`, and for `degraded` where it is about the whole container.
    public var path: ItemPath
    /// What stands there now; nil once it is gone.
    public var type: ItemType?
    /// The content's size in bytes.
    public var size: UInt64?
    /// Who made it under a lock; nil where it was made without coordination and found by the leader.
    public var by: Author?
    /// When, in nanoseconds since 1970 by the author's clock; for people.
    public var time: Int64
    /// Which transaction it is part of; nil for one that stands alone.
    public var transaction: Transaction?

    /// The item's version: the sequence of its last record.
    public var generation: UInt64
    /// It was, or is, a directory that was moved or removed with everything in it, which has no changes of its own.
    var takesDirectory = false
    /// A directory that is gone.
    package var concernedDirectory: Bool { takesDirectory }
    /// Something else may have stood there, though it is `created`.
    var mayReplace = false
    /// Made under a lock.
    public var isCoordinated: Bool { by != nil }

    private init?(_ told: ReportedPart, of record: ChangeRecord, sequence: UInt64, cursor: Cursor) {
        let part = told.part
        switch part.kind {
        case .created: kind = .created
        case .modified: kind = .modified
        case .removed: kind = .removed
        case .moved: kind = .moved(from: ItemPath(bytes: part.from ?? []))
        case .exchanged: kind = .exchanged(with: ItemPath(bytes: part.from ?? []))
        case .touched: kind = .touched
        case .term, .degraded, .transaction: return nil
        }
        (self.sequence, self.cursor, generation) = (sequence, cursor, told.generation ?? sequence)
        path = ItemPath(bytes: part.path)
        type = part.state?.type
        takesDirectory =
            part.wasDirectory || (part.kind == .moved && type == .directory)
            || (part.kind == .exchanged && (type == .directory || part.otherState?.type == .directory))
        size = part.state?.size
        mayReplace = told.mayReplace
        if record.isCoordinated {
            by = Author(processIdentifier: record.processIdentifier, purpose: printable(record.purpose))
        }
        time = record.time
    }

    /// What an entry of the journal says, as far as the filter lets it through: nothing for a control record or one
    /// that only a newer version understands, one change, or several that share its place. Nil: see `FilteredChange`.
    static func changes(
        in entry: Journal.Entry, cursor: Cursor, by filter: ChangeFilter,
        before: () throws(CoordinationError) -> TreeIndex?
    ) throws(CoordinationError) -> [Change]? {
        guard let record = entry.record else { return [] }
        let sequence = entry.position.sequence
        if record.kind == .degraded && !record.purpose.isEmpty {
            return [Change(degraded: record, sequence: sequence, cursor: cursor)]
        }
        if entry.isControl { return [] }
        guard let told = try FilteredChange.told(record.changes, by: filter, before: before) else { return nil }
        var changes = told.compactMap { Change($0, of: record, sequence: sequence, cursor: cursor) }
            .filter(filter.wants)
        if record.kind == .transaction || changes.count > 1 {
            let identifier = Self.identifier(of: record, sequence)
            for index in changes.indices {
                changes[index].transaction = Transaction(identifier: identifier, index: index, count: changes.count)
            }
        }
        return changes
    }

    /// What was made without coordination has no name of its own; its number makes one.
    private static func identifier(of record: ChangeRecord, _ sequence: UInt64) -> String {
        if record.operation != ChangeRecord.noOperation { return Hexadecimal.encode(record.operation) }
        var writer = ByteWriter()
        writer.write(UInt64(0))
        writer.write(sequence)
        return Hexadecimal.encode(writer.bytes)
    }

    /// The marker that says that watching is incomplete.
    init(degraded record: ChangeRecord, sequence: UInt64, cursor: Cursor) {
        self.init(
            .degraded(reason: printable(record.purpose)), ItemPath(bytes: record.path), sequence: sequence,
            cursor: cursor, time: record.time)
    }

    /// A marker, or an item that is present.
    init(_ kind: Kind, _ path: ItemPath = ItemPath(bytes: []), sequence: UInt64, cursor: Cursor, time: Int64) {
        (self.kind, self.path, self.time) = (kind, path, time)
        (self.sequence, self.cursor, generation) = (sequence, cursor, sequence)
    }

    /// An item that stands there; its time is that of its content.
    init(present place: ItemLocation, _ item: TreeIndex.Item, sequence: UInt64, cursor: Cursor) {
        self.init(
            .present, ItemPath(bytes: place.bytes), sequence: sequence, cursor: cursor, time: item.state.modified)
        (type, size, generation) = (item.state.type, item.state.size, item.generation)
    }
}

/// What follows a `rescan`.
public enum RescanPolicy: Hashable, Sendable {
    /// What changes from there on.
    case marker
    /// A snapshot, as with `ChangeOrigin.snapshot`: what does not come as `present` is gone.
    case snapshot
}

/// Where following begins.
public enum ChangeOrigin: Hashable, Sendable {
    /// The oldest change that is kept.
    case start
    /// What happens from now on.
    case now
    /// Right behind the change that had this cursor.
    case cursor(Cursor)
    /// A `present` change for each item that stands in the container, directories before what is in them, then a
    /// `bookmark`, then what changes from there on: together they make the tree exactly. Taken when the follower begins
    /// to read; where no leader lives, what was changed without coordination is looked for first. Memory: a few dozen
    /// bytes an item until the bookmark.
    case snapshot
}
