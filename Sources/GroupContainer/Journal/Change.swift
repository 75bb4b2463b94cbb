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
        /// Mode, owner or dates changed, or the same bytes were written again.
        case touched
        /// The place in the journal was lost: the cursor is of another history. Compare everything; what follows is
        /// complete.
        case rescan

        /// The name that the commands print.
        public var name: String {
            switch self {
            case .created: "created"
            case .modified: "modified"
            case .removed: "removed"
            case .moved: "moved"
            case .touched: "touched"
            case .rescan: "rescan"
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

    /// Its number: 1 for the container's first change, without gaps.
    public var sequence: UInt64
    /// The place right behind it.
    public var cursor: Cursor
    /// What happened.
    public var kind: Kind
    /// To which item; empty for `rescan`.
    public var path: ItemPath
    /// What stands there now; nil once it is gone.
    public var type: ItemType?
    /// The content's size in bytes.
    public var size: UInt64?
    /// Who made it under a lease; nil where it was made without coordination and found by the steward.
    public var by: Author?
    /// When, in nanoseconds since 1970 by the author's clock; for people.
    public var time: Int64

    /// The item's version: the sequence of its last record.
    public var generation: UInt64 { sequence }
    /// A folder was moved or removed with everything in it, which has no changes of its own.
    var takesFolder = false
    /// Made under a lease.
    public var isCoordinated: Bool { by != nil }

    init?(_ entry: Journal.Entry, cursor: Cursor) {
        guard !entry.isControl, let record = entry.record else { return nil }
        switch record.kind {
        case .created: kind = .created
        case .modified: kind = .modified
        case .removed: kind = .removed
        case .moved: kind = .moved(from: ItemPath(bytes: record.from ?? []))
        case .touched: kind = .touched
        case .term: return nil
        }
        sequence = entry.position.sequence
        self.cursor = cursor
        path = ItemPath(bytes: record.path)
        type = record.state?.type
        takesFolder = record.wasFolder || (record.kind == .moved && type == .folder)
        size = record.state?.size
        if record.isCoordinated {
            by = Author(processIdentifier: record.processIdentifier, purpose: printable(record.purpose))
        }
        time = record.time
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
