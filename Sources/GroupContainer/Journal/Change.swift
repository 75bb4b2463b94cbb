/// One change of an item, as the journal has it.
public struct Change: Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// Nothing stood there before.
        case created
        /// The content is another.
        case modified
        /// Nothing stands there any more.
        case removed
        /// It stands elsewhere now; the place where it stood.
        case moved(from: ItemPath)
        /// Both stand there still, but at each other's place; the other place.
        case exchanged(with: ItemPath)
        /// Mode, owner or dates changed, or the same bytes were written again.
        case touched
        /// The place in the journal was lost: the cursor is of another history. Compare everything; what follows is
        /// complete.
        case rescan
        /// Watching is incomplete: why, with `path` the folder that it is about, empty for all. Coordinated changes are
        /// complete still; others come when the steward compares.
        case degraded(reason: String)

        /// Where it stood before, or the other place of an exchange.
        public var otherPath: ItemPath? {
            switch self {
            case .moved(let other), .exchanged(let other): other
            default: nil
            }
        }

        /// The name that the commands print.
        public var name: String {
            switch self {
            case .created: "created"
            case .modified: "modified"
            case .removed: "removed"
            case .moved: "moved"
            case .exchanged: "exchanged"
            case .touched: "touched"
            case .rescan: "rescan"
            case .degraded: "degraded"
            }
        }
    }

    /// Who made it.
    public struct Author: Hashable, Sendable {
        /// Its process.
        public var processIdentifier: Int32
        /// What it said it was.
        public var purpose: String
    }

    /// The transaction that a change is part of: its changes became visible together, follow each other without another
    /// one in between, and share sequence, generation and cursor.
    public struct Transaction: Hashable, Sendable {
        /// 32 hex digits: the operation's name, which no other transaction has.
        public var identifier: String
        /// Which one of its changes this is, from 0, among those that the follower's patterns match.
        public var index: Int
        /// How many of its changes the follower's patterns match: the last one that it gets has `index + 1 == count`.
        public var count: Int
    }

    /// Its number: 1 for the container's first change, without gaps. The changes of a transaction share one.
    public var sequence: UInt64
    /// The place right behind it; for a change of a transaction, the one behind the transaction's last: to be kept only
    /// once that was seen, as `ChangeFollower.cursor` does.
    public var cursor: Cursor
    /// What happened.
    public var kind: Kind
    /// To which item; empty for `rescan`, and for `degraded` where it is about the whole container.
    public var path: ItemPath
    /// What stands there now; nil once it is gone.
    public var type: ItemType?
    /// The content's size in bytes.
    public var size: UInt64?
    /// Who made it under a lease; nil where it was made without coordination and found by the steward.
    public var by: Author?
    /// When, in nanoseconds since 1970 by the author's clock; for people.
    public var time: Int64
    /// Which transaction it is part of; nil for one that stands alone.
    public var transaction: Transaction?

    /// The item's version: the sequence of its last record.
    public var generation: UInt64 { sequence }
    /// A folder was moved or removed with everything in it, which has no changes of its own.
    var takesFolder = false
    /// Made under a lease.
    public var isCoordinated: Bool { by != nil }

    private init?(_ part: ChangePart, of record: ChangeRecord, sequence: UInt64, cursor: Cursor) {
        switch part.kind {
        case .created: kind = .created
        case .modified: kind = .modified
        case .removed: kind = .removed
        case .moved: kind = .moved(from: ItemPath(bytes: part.from ?? []))
        case .exchanged: kind = .exchanged(with: ItemPath(bytes: part.from ?? []))
        case .touched: kind = .touched
        case .term, .degraded, .transaction: return nil
        }
        (self.sequence, self.cursor) = (sequence, cursor)
        path = ItemPath(bytes: part.path)
        type = part.state?.type
        takesFolder =
            part.wasFolder || (part.kind == .moved && type == .folder)
            || (part.kind == .exchanged && (type == .folder || part.otherState?.type == .folder))
        size = part.state?.size
        if record.isCoordinated {
            by = Author(processIdentifier: record.processIdentifier, purpose: printable(record.purpose))
        }
        time = record.time
    }

    /// What an entry of the journal says, as far as `isWanted`: nothing for a control record or one that only a newer
    /// version understands, one change, or those of a transaction.
    static func changes(in entry: Journal.Entry, cursor: Cursor, where isWanted: (Change) -> Bool) -> [Change] {
        guard let record = entry.record else { return [] }
        if record.kind == .degraded && !record.purpose.isEmpty {
            return [Change(record, sequence: entry.position.sequence, cursor: cursor)]
        }
        if entry.isControl { return [] }
        var changes = record.changes.compactMap { part in
            Change(part, of: record, sequence: entry.position.sequence, cursor: cursor)
        }.filter(isWanted)
        if record.kind == .transaction {
            let identifier = Hexadecimal.encode(record.operation)
            for index in changes.indices {
                changes[index].transaction = Transaction(identifier: identifier, index: index, count: changes.count)
            }
        }
        return changes
    }

    /// The marker that says that watching is incomplete.
    private init(_ degraded: ChangeRecord, sequence: UInt64, cursor: Cursor) {
        kind = .degraded(reason: printable(degraded.purpose))
        (self.sequence, self.cursor, path, time) = (sequence, cursor, ItemPath(bytes: degraded.path), degraded.time)
    }

    /// The marker that says that the place was lost.
    init(rescanAt cursor: Cursor, time: Int64) {
        (kind, sequence, self.cursor, path, self.time) = (.rescan, cursor.sequence, cursor, ItemPath(bytes: []), time)
    }
}

/// Where following begins.
public enum ChangeOrigin: Hashable, Sendable {
    /// The oldest change that is kept.
    case start
    /// What happens from now on.
    case now
    /// Right behind the change that had this cursor.
    case cursor(Cursor)
}
