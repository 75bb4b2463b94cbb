import GroupSystemCalls

/// What the journal says that stands in the container, up to the place that was read: the checkpoint, and the records
/// behind it. Memory: linear in the items; of one that is only for looking up, in the records behind the checkpoint.
struct JournalView: Sendable {
    private(set) var treeIndex = TreeIndex()
    /// Of the latest leader that took office.
    private(set) var newestTerm: UInt64 = 0
    /// Up to here the journal was read.
    private(set) var position: LogPosition
    /// What the tree index stands on, if it is only for looking up.
    private var base: MappedCheckpoint?

    private static let attempts = 8

    /// As the checkpoint has it; without one, nothing, from the journal's beginning. Linear in the items. Errors:
    /// `damaged` where there is neither the one nor the other.
    init(_ journal: Journal) throws(CoordinationError) {
        self = try Self.begin(journal) { () throws(CoordinationError) in
            guard let (header, treeIndex) = try journal.checkpoint.read() else { return nil }
            return JournalView(header, treeIndex, nil)
        }
    }

    /// The same, but for single items, which are looked up in the checkpoint's file. Constant.
    init(forLookingUpIn journal: Journal) throws(CoordinationError) {
        self = try Self.begin(journal) { () throws(CoordinationError) in
            guard let checkpoint = try journal.checkpoint.open() else { return nil }
            return JournalView(checkpoint.header, TreeIndex(on: checkpoint), checkpoint)
        }
    }

    private init(_ header: CheckpointHeader, _ treeIndex: TreeIndex, _ base: MappedCheckpoint?) {
        (self.treeIndex, self.base, newestTerm) = (treeIndex, base, header.newestTerm)
        (position, fileSalt) = (header.position, header.fileSalt)
    }

    /// Nothing yet, from a place on.
    init(beginningAt start: LogPosition) { position = start }

    private var fileSalt: UInt64 = 0

    private static func begin(
        _ journal: Journal, _ read: () throws(CoordinationError) -> JournalView?
    ) throws(CoordinationError) -> JournalView {
        var fault: CoordinationError?
        for _ in 0..<attempts {
            let start = try journal.log.start()
            do {
                // One of another history, or of a file that is gone: it was restored, or a newer one is there by now.
                if let tree = try read(), try journal.log.file(tree.position.file)?.header.salt == tree.fileSalt,
                    try journal.log.contains(tree.position)
                {
                    journal.checkpointed.withLock { $0 = tree.position }
                    return tree
                }
            } catch {
                fault = error
            }
            if start.file == 1 && start.sequence == 0 { return JournalView(beginningAt: start) }
        }
        throw fault
            ?? CheckpointFile.damaged(
                "it is not of this journal, or missing, and the journal's first files were dropped")
    }

    /// Reads the journal to its end. Linear in what is new. Where its place was dropped meanwhile, it begins anew.
    /// Errors: `damaged`; what is before the damage was read.
    mutating func catchUp(_ journal: Journal) throws(CoordinationError) {
        var restarts = 0
        while true {
            switch try journal.step(behind: position) {
            case .entry(let entry):
                position = entry.position
                if let record = entry.record { take(record) }
            // What is not known of the records that are missing shows where the tree is compared.
            case .gap(let place): position = place
            case .end:
                guard base?.isDamaged == true else { return }
                self = try JournalView(journal)
            case .lost:
                restarts += 1
                if restarts > Self.attempts {
                    throw .damaged(".group/journal", operation: "read", "it is dropped faster than it is read")
                }
                self = try base == nil ? JournalView(journal) : JournalView(forLookingUpIn: journal)
            }
        }
    }

    /// As it was at a place. Where the checkpoint is of a later one, from the journal's first record; nil where that
    /// was dropped.
    init?(_ journal: Journal, at place: LogPosition) throws(CoordinationError) {
        self = try JournalView(journal)
        if try catchUp(journal, to: place) { return }
        let start = try journal.log.start()
        if start.file != 1 || start.sequence != 0 { return nil }
        self = JournalView(beginningAt: start)
        if try !catchUp(journal, to: place) { return nil }
    }

    /// Reads the journal up to a place of it. False: it is not behind what was read already.
    mutating func catchUp(_ journal: Journal, to place: LogPosition) throws(CoordinationError) -> Bool {
        while position != place {
            if (position.file, position.offset) >= (place.file, place.offset) { return false }
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

    /// Appends a record only if there is nothing that was not read. False: there is, and its writer must read on and
    /// decide again.
    mutating func append(_ record: ChangeRecord, to journal: Journal) throws(CoordinationError) -> Bool {
        guard let place = try journal.append(record, exactlyAt: position) else { return false }
        position = place
        take(record)
        return true
    }

    /// Somebody read the content of what stood there as `seen`: see `TreeIndex.learn`.
    mutating func learn(hash: UInt64, of location: ItemLocation, seen: ItemState) {
        treeIndex.learn(hash: hash, of: location, seen: seen)
    }

    /// An item as its last record has it. Nil also where the checkpoint turned out to be damaged: `isBroken`.
    func item(at location: ItemLocation) -> TreeIndex.Item? { treeIndex.item(at: location) }

    /// Its answers are not to be believed.
    var isBroken: Bool { base?.isDamaged == true }
    var isForLookingUp: Bool { base != nil }

    private mutating func take(_ record: ChangeRecord) {
        if record.kind == .term { newestTerm = max(newestTerm, record.term) }
        treeIndex.apply(record, at: position.sequence)
    }
}

extension Member {
    /// The journal's fold up to its end. The first time linear in the items and in the records behind the checkpoint,
    /// then in what is new. Errors: `damaged`
    func recordedTree() throws(CoordinationError) -> JournalView {
        try withRecordedTree(forLookingUp: false) { $0 }
    }

    /// An item as its last record has it; nil where nothing is recorded to stand. The first time linear in the records
    /// behind the checkpoint, then in what is new. Errors: `damaged`
    func recordedItem(at location: ItemLocation) throws(CoordinationError) -> TreeIndex.Item? {
        try recordedItemAndPlace(at: location).item
    }

    /// The same, and the place up to which the journal was read.
    func recordedItemAndPlace(
        at location: ItemLocation
    ) throws(CoordinationError) -> (item: TreeIndex.Item?, place: LogPosition) {
        let (item, place, isBroken) = try withRecordedTree(forLookingUp: true) {
            ($0.item(at: location), $0.position, $0.isBroken)
        }
        if !isBroken { return (item, place) }
        return try withRecordedTree(forLookingUp: false) { ($0.item(at: location), $0.position) }
    }

    private func withRecordedTree<Answer>(
        forLookingUp: Bool, _ look: (JournalView) -> Answer
    ) throws(CoordinationError) -> Answer {
        try recorded.withLock { (kept) throws(CoordinationError) in
            var tree: JournalView
            if let kept, forLookingUp || !kept.isForLookingUp {
                tree = kept
            } else {
                tree = try forLookingUp ? JournalView(forLookingUpIn: journal) : JournalView(journal)
            }
            // What is not shared is changed in its place, rather than copied.
            kept = nil
            defer { kept = tree }
            try tree.catchUp(journal)
            return look(tree)
        }
    }
}

/// What stands in the container at one place of its journal, told item by item: directories before what is in them.
struct Listing: Sendable {
    private let items: [(place: ItemLocation, item: TreeIndex.Item)]
    private var told = 0
    /// The place in the journal that it is of.
    let position: LogPosition

    /// Linear in the journal's records: its fold, of which only the items are kept.
    init(_ journal: Journal, of filter: ChangeFilter) throws(CoordinationError) {
        var tree = try JournalView(journal)
        try tree.catchUp(journal)
        position = tree.position
        items = tree.treeIndex.items.lazy.filter { filter.includes($0.key.bytes) }
            .map { (place: $0.key, item: $0.value) }
            .sorted { $0.place.bytes.lexicographicallyPrecedes($1.place.bytes) }
    }

    /// The next one; nil after the last.
    mutating func next() -> (place: ItemLocation, item: TreeIndex.Item)? {
        if told == items.count { return nil }
        defer { told += 1 }
        return items[told]
    }
}

/// The tree at the place of a reader whose filter has to know what is in a directory that moved. One for all copies of
/// the reader; made when it is needed for the first time, and then read on.
final class TreeAtPlace: Sendable {
    private let tree = Guarded<JournalView?>(nil)

    /// What stood there at that place. Nil: neither the journal nor its checkpoint goes back so far. Linear in the
    /// records since the last time.
    func treeIndex(_ journal: Journal, at place: LogPosition) throws(CoordinationError) -> TreeIndex? {
        try tree.withLock { (kept) throws(CoordinationError) in
            // What is not shared is changed in its place, rather than copied.
            var tree = kept
            kept = nil
            if try tree?.catchUp(journal, to: place) != true { tree = try JournalView(journal, at: place) }
            kept = tree
            return tree?.treeIndex
        }
    }
}
