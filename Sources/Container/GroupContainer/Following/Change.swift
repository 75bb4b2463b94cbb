public import FoundationEssentials
import GroupBytes
import GroupLog
import GroupSystemCalls

/// One change of an item, as recorded in the journal.
public struct Change: Hashable, Sendable {
    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
        /// The item is new. If a follower's filter or debouncing leaves out earlier changes, there may have been an
        /// item before; in either case this one is there now.
        case created
        /// The content changed, or may have changed: the dates did, and the content before was never read.
        case modified
        /// The item is gone, with everything below it.
        case removed
        /// The item has moved here, from the path given.
        case moved(from: ItemPath)
        /// Two items have exchanged their paths; the other path.
        case exchanged(with: ItemPath)
        /// Mode, owner or dates changed, or the same bytes were written again.
        case touched
        /// The item is part of the snapshot that the follower began with: nothing changed.
        case present
        /// Complete up to here: everything before its cursor was returned. Ends a snapshot.
        case bookmark
        /// The follower's position was lost: the cursor is of another history, or records after it were removed, are
        /// damaged, or cannot be filtered. A caller that keeps a copy compares everything; the changes after this one
        /// are complete.
        case rescan
        /// A report that watching is incomplete, with the reason. `path` is the directory concerned; empty for the
        /// whole container. Coordinated changes are still complete. External changes come when the leader compares;
        /// where it cannot look either, without permission or in a file system that fails, they are not seen until it
        /// can.
        case degraded(reason: String)

        /// The kind without its associated values. The raw value is the name that the commands print.
        public enum Word: String, Hashable, Sendable, CaseIterable {
            /// The kind of that name.
            case created, modified, removed, moved, exchanged, touched, present, bookmark, rescan, degraded
        }

        /// The path before a move, or the other path of an exchange.
        public var otherPath: ItemPath? {
            switch self {
            case .moved(let other), .exchanged(let other): other
            case .created, .modified, .removed, .touched, .present, .bookmark, .rescan, .degraded: nil
            }
        }

        /// The kind without its associated values.
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

        /// Whether the change is about the stream rather than about an item: `bookmark`, `rescan`, `degraded`.
        public var isMarker: Bool { [.bookmark, .rescan, .degraded].contains(word) }
    }

    /// The process that made a change.
    public struct Author: Hashable, Sendable {
        /// Its process identifier.
        public var processIdentifier: Int32
        /// The purpose that the process gave to `Container.coordinator(purpose:)`.
        public var purpose: String
    }

    /// The transaction that a change is part of. Its changes became visible together, follow each other without another
    /// one in between, and share sequence and cursor. The changes into which a filter splits a directory's move are a
    /// transaction, too.
    public struct Transaction: Hashable, Sendable {
        /// 32 hex digits: the operation's name, which no other transaction has.
        public var identifier: String
        /// The number of this change, from 0, among those that the follower's filter lets through.
        public var index: Int
        /// The number of changes that the follower's filter lets through: the last one has `index + 1 == count`.
        public var count: Int
    }

    /// The position in the journal's order: 1 for the container's first change. The changes of a transaction share one.
    /// For `present` and `bookmark`, that of the last change in the snapshot.
    public var sequence: SequenceNumber
    /// The position right behind the change.
    ///
    /// For a change of a transaction, this is the position behind the transaction's last: keep it only once that change
    /// was seen, as `Follower.cursor` does. For `present` this is a position that no journal has, so that a follower
    /// that comes back with it gets a `rescan`: the snapshot's position is the cursor of the `bookmark` behind it.
    public var cursor: Cursor
    /// The kind of the change.
    public var kind: Kind
    /// The item's path; empty for `rescan`, and for `degraded` where it is about the whole container.
    public var path: ItemPath
    /// The item's type now; nil once it is gone.
    public var type: ItemType?
    /// The content's size in bytes.
    public var size: UInt64?
    /// The process that made the change under a lock; nil for an external change, which the leader found.
    public var author: Author?
    /// The time of the change by the author's clock; for people. For `present`, that of the item's content, or the
    /// nearest of the years 1960 to 2252.
    public var time: Date { Date(nanoseconds: timeNanoseconds) }
    /// The time of the change in nanoseconds since 1970, which a `Date` has only to about 120 ns.
    package var timeNanoseconds: Int64
    /// The time of the change for people; nil for `present` of an item whose date is not between 1960 and 2252.
    package var shownNanoseconds: Int64? { kind == .present && !isMoment(timeNanoseconds) ? nil : timeNanoseconds }
    /// The transaction that the change is part of; nil for a single change.
    public var transaction: Transaction?

    /// The item's version, which the change made.
    public var generation: Generation
    /// Whether the item was, or is, a directory that was moved, exchanged or removed with everything in it, which has
    /// no changes of its own.
    var takesDirectory = false
    /// Whether a directory was moved, exchanged or removed with everything in it.
    public var concernedDirectory: Bool { takesDirectory }
    /// Whether the item may have replaced another one, though its kind is `created`.
    var mayReplace = false
    /// Whether the change was made under a lock.
    public var isCoordinated: Bool { author != nil }

    private init?(_ reported: ReportedPart, of record: ChangeRecord, sequence: SequenceNumber, cursor: Cursor) {
        let part = reported.part
        switch part.kind {
        case .created: kind = .created
        case .modified: kind = .modified
        case .removed: kind = .removed
        case .moved: kind = .moved(from: ItemPath(bytes: part.from ?? []))
        case .exchanged: kind = .exchanged(with: ItemPath(bytes: part.from ?? []))
        case .touched: kind = .touched
        case .term, .degraded, .transaction: return nil
        }
        self.sequence = sequence
        self.cursor = cursor
        generation = Generation(rawValue: reported.generation ?? sequence.rawValue)
        path = ItemPath(bytes: part.path)
        type = part.state?.type
        takesDirectory =
            part.wasDirectory || (part.kind == .moved && type == .directory)
            || (part.kind == .exchanged && (type == .directory || part.otherState?.type == .directory))
        size = part.state?.size
        mayReplace = reported.mayReplace
        if record.isCoordinated {
            author = Author(processIdentifier: record.processIdentifier, purpose: printable(record.purpose))
        }
        timeNanoseconds = record.time
    }

    /// Returns the changes of a journal entry that the filter lets through: none for a control record or one that only
    /// a newer version understands, one change, or several that share a position. Nil: see `FilteredChange`.
    static func changes(
        in entry: Journal.Entry, cursor: Cursor, by filter: ChangeFilter,
        before: () throws(CoordinationError) -> TreeIndex?
    ) throws(CoordinationError) -> [Change]? {
        guard let record = entry.record else { return [] }
        let sequence = SequenceNumber(rawValue: entry.position.sequence)
        if record.kind == .degraded && !record.purpose.isEmpty {
            return [Change(degraded: record, sequence: sequence, cursor: cursor)]
        }
        if entry.isControl { return [] }
        guard let reported = try FilteredChange.reported(record.changes, by: filter, before: before) else { return nil }
        var changes = reported.compactMap { Change($0, of: record, sequence: sequence, cursor: cursor) }
            .filter(filter.wants)
        if record.kind == .transaction || changes.count > 1 {
            let identifier = Self.identifier(of: record, sequence)
            for index in changes.indices {
                changes[index].transaction = Transaction(identifier: identifier, index: index, count: changes.count)
            }
        }
        return changes
    }

    /// Returns the name of a transaction. An external change has no operation: its sequence number makes the name.
    private static func identifier(of record: ChangeRecord, _ sequence: SequenceNumber) -> String {
        if record.operation != ChangeRecord.noOperation { return Hexadecimal.encode(record.operation) }
        var writer = ByteWriter()
        writer.write(UInt64(0))
        writer.write(sequence.rawValue)
        return Hexadecimal.encode(writer.bytes)
    }

    /// Makes the marker that watching is incomplete.
    init(degraded record: ChangeRecord, sequence: SequenceNumber, cursor: Cursor) {
        self.init(
            .degraded(reason: printable(record.purpose)), ItemPath(bytes: record.path), sequence: sequence,
            cursor: cursor, time: record.time)
    }

    /// Makes a marker, or an item that is present.
    init(_ kind: Kind, _ path: ItemPath = ItemPath(bytes: []), sequence: SequenceNumber, cursor: Cursor, time: Int64) {
        self.kind = kind
        self.path = path
        timeNanoseconds = time
        self.sequence = sequence
        self.cursor = cursor
        generation = Generation(rawValue: sequence.rawValue)
    }

    /// Makes the change of an item that is present; its time is that of its content.
    init(present location: ItemLocation, _ item: TreeIndex.Item, sequence: SequenceNumber, cursor: Cursor) {
        self.init(
            .present, ItemPath(bytes: location.bytes), sequence: sequence, cursor: cursor, time: item.state.modified)
        type = item.state.type
        size = item.state.size
        generation = Generation(rawValue: item.generation)
    }
}

/// What follows a `rescan`.
public enum RescanPolicy: Hashable, Sendable {
    /// Changes from there on.
    case marker
    /// A snapshot, as with `ChangeOrigin.snapshot`: an item that does not come as `present` is gone.
    case snapshot
}

/// The position where following begins.
public enum ChangeOrigin: Hashable, Sendable {
    /// The oldest change that is kept.
    case start
    /// Changes from now on.
    case now
    /// The position right behind the change that had this cursor.
    case cursor(Cursor)
    /// A `present` change for each item in the container, directories before their contents, then a `bookmark`, then
    /// changes from there on: together they make the tree exactly. The snapshot is taken when the follower begins to
    /// read; if there is no leader, external changes are found first by comparing. Memory: a few dozen bytes per item
    /// until the bookmark.
    case snapshot
}
