import GroupLog
import GroupSystemCalls

/// The journal's view of the container, up to the position that was read: the checkpoint, and the records after it.
/// Memory: linear in the items; for a view that is only for lookups, linear in the records after the checkpoint.
struct JournalView: Sendable {
    /// The items; empty if the view is only for lookups.
    private(set) var treeIndex = TreeIndex()
    /// The items of a view that is only for lookups.
    private var overlay: TreeOverlay?
    /// The term of the latest leader.
    private(set) var newestTerm: UInt64 = 0
    /// The position up to which the journal was read.
    private(set) var position: LogPosition
    /// The checkpoint below the overlay.
    private var base: MappedCheckpoint?

    private static let attempts = 8
    /// The work of an overlay above which the whole tree is read: to that, the move of a directory costs the same
    /// whatever is in it. It is then some tenths of a second.
    private static let mostWork = 2_000_000
    private var mostWork = Self.mostWork

    /// Makes the view at the checkpoint; without one, an empty view at the journal's beginning. Linear in the items.
    /// Errors: `damaged`, `newerFormat` if there is neither a usable checkpoint nor the beginning.
    init(_ journal: Journal) throws(CoordinationError) {
        self = try Self.begin(journal) { () throws(CoordinationError) in
            guard let (header, treeIndex) = try journal.checkpoint.read() else { return nil }
            return JournalView(header, treeIndex: treeIndex)
        }
    }

    /// Makes a view for lookups of single items, which are read from the checkpoint's file. Constant time. Where many
    /// directories were moved or removed since the checkpoint, `catchUp` makes it a view of all items. Errors: as above.
    init(forLookingUpIn journal: Journal, mostWork: Int = mostWork) throws(CoordinationError) {
        self = try Self.begin(journal) { () throws(CoordinationError) in
            guard let checkpoint = try journal.checkpoint.open() else { return nil }
            return JournalView(lookingUpIn: checkpoint)
        }
        self.mostWork = mostWork
    }

    private init(_ header: CheckpointHeader, treeIndex: TreeIndex = TreeIndex()) {
        self.treeIndex = treeIndex
        newestTerm = header.newestTerm
        position = header.position
        segmentSalt = header.segmentSalt
    }

    private init(lookingUpIn checkpoint: MappedCheckpoint) {
        self.init(checkpoint.header)
        base = checkpoint
        overlay = TreeOverlay(on: checkpoint)
    }

    /// Makes an empty view at a position.
    init(beginningAt start: LogPosition) { position = start }

    private var segmentSalt: UInt64 = 0

    private static func begin(
        _ journal: Journal, _ read: () throws(CoordinationError) -> JournalView?
    ) throws(CoordinationError) -> JournalView {
        var fault: CoordinationError?
        for _ in 0..<attempts {
            let start = try translating(journal.log.start())
            do {
                // A checkpoint is not usable if it is of another history, or of a segment that is gone: the container
                // was restored, or a newer checkpoint exists by now.
                if let tree = try read(), tree.position.segment >= start.segment,
                    try translating(journal.log.segment(tree.position.segment))?.header.salt == tree.segmentSalt,
                    try translating(journal.log.contains(tree.position))
                {
                    journal.checkpointed.withLock { $0 = tree.position }
                    return tree
                }
            } catch {
                fault = error
            }
            if start.segment == 1 && start.sequence == 0 { return JournalView(beginningAt: start) }
        }
        throw fault
            ?? CheckpointFile.damaged(
                "the checkpoint is missing or of another journal, and the journal's first segments were dropped")
    }

    /// Reads the journal to its end. Linear in the new records. If the position was dropped meanwhile, begins again.
    /// Errors: `damaged`; the records before the damage were applied.
    mutating func catchUp(_ journal: Journal) throws(CoordinationError) {
        var losses = Journal.Losses()
        while true {
            switch try journal.step(behind: position) {
            case .entry(let entry):
                position = entry.position
                if let record = entry.record { take(record) }
                if let overlay, overlay.work > mostWork { self = try JournalView(journal) }
            // The next comparison of the tree finds the effect of the missing records.
            case .gap(let next): position = next
            case .end:
                guard base?.isDamaged == true else { return }
                self = try JournalView(journal)
            case .lost:
                try losses.note(position, in: journal)
                self = try base == nil ? JournalView(journal) : JournalView(forLookingUpIn: journal)
            }
        }
    }

    /// Makes the view at a position. If the checkpoint is of a later one, reads from the journal's first record; nil if
    /// that was dropped.
    init?(_ journal: Journal, at goal: LogPosition) throws(CoordinationError) {
        self = try JournalView(journal)
        if try catchUp(journal, to: goal) { return }
        let start = try translating(journal.log.start())
        if start.segment != 1 || start.sequence != 0 { return nil }
        self = JournalView(beginningAt: start)
        if try !catchUp(journal, to: goal) { return nil }
    }

    /// Reads the journal up to a position. Returns false if that is not after what was read already.
    mutating func catchUp(_ journal: Journal, to goal: LogPosition) throws(CoordinationError) -> Bool {
        while position != goal {
            if (position.segment, position.offset) >= (goal.segment, goal.offset) { return false }
            switch try journal.step(behind: position) {
            case .entry(let entry):
                position = entry.position
                if let record = entry.record { take(record) }
            case .gap(let behind): position = behind
            case .end, .lost: return false
            }
        }
        return true
    }

    /// Appends a record only if every record was read. Returns false if there are others; then the caller must read on
    /// and decide again.
    mutating func append(
        _ record: ChangeRecord, to journal: Journal, wakesReaders: Bool = true
    ) throws(CoordinationError) -> Bool {
        guard let end = try journal.append(record, exactlyAt: position, wakesReaders: wakesReaders) else {
            return false
        }
        position = end
        take(record)
        return true
    }

    /// Adds the hash of a content that was read when the item's state was `seen`: see `TreeIndex.learn`.
    mutating func learn(hash: UInt64, of location: ItemLocation, seen: ItemState) {
        treeIndex.learn(hash: hash, of: location, seen: seen)
    }

    /// Returns an item as in its last record. Nil also if the checkpoint turned out to be damaged: `isBroken`.
    func item(at location: ItemLocation) -> TreeIndex.Item? {
        overlay.map { $0.item(at: location) } ?? treeIndex.item(at: location)
    }

    /// Whether the results are unreliable, because the checkpoint is damaged.
    var isBroken: Bool { base?.isDamaged == true }
    var isForLookingUp: Bool { base != nil }

    private mutating func take(_ record: ChangeRecord) {
        if record.kind == .term { newestTerm = max(newestTerm, record.term) }
        if base == nil {
            treeIndex.apply(record, at: position.sequence)
        } else {
            overlay?.apply(record, at: position.sequence)
        }
    }
}

/// The tree at the position of a reader whose filter needs the content of a directory that moved. All copies of the
/// reader share it; it is made at the first need, and then read on.
final class TreeAtPosition: Sendable {
    private let tree = Guarded<JournalView?>(nil)

    /// Returns the tree index at a position. Nil if neither the journal nor its checkpoint goes back so far. Linear in
    /// the records since the last call.
    func treeIndex(_ journal: Journal, at goal: LogPosition) throws(CoordinationError) -> TreeIndex? {
        try tree.withLock { (kept) throws(CoordinationError) in
            // A view without a second reference is changed in place, rather than copied.
            var tree = kept
            kept = nil
            if try tree?.catchUp(journal, to: goal) != true { tree = try JournalView(journal, at: goal) }
            kept = tree
            return tree?.treeIndex
        }
    }
}
