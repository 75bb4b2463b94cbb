import SystemCalls

/// What the journal says that stands in the container, up to the place that was read. Memory: linear in the items.
struct RecordedTree: Sendable {
    private(set) var picture = TreePicture()
    /// Of the latest steward that took office.
    private(set) var newestTerm: UInt64 = 0
    private var position: LogPosition

    /// Nothing yet: from the oldest place that is kept.
    init(_ journal: Journal) throws(CoordinationError) { position = try journal.log.start() }

    /// Reads the journal to its end. Linear in what is new. Errors: `damaged`; what is before the damage was read.
    mutating func catchUp(_ journal: Journal) throws(CoordinationError) {
        while let entry = try journal.entry(behind: position) {
            position = entry.position
            if let record = entry.record { take(record) }
        }
    }

    /// Appends a record only if there is nothing that was not read. False: there is, and its writer must read on and
    /// decide again.
    mutating func append(_ record: ChangeRecord, to journal: Journal) throws(CoordinationError) -> Bool {
        guard let place = try journal.append(record, exactlyAt: position) else { return false }
        position = place
        take(record)
        return true
    }

    /// The content's hash, for what was recorded without one.
    mutating func learn(hash: UInt64, of location: ItemLocation, seen: ItemState) {
        picture.learn(hash: hash, of: location, seen: seen)
    }

    private mutating func take(_ record: ChangeRecord) {
        if record.kind == .term { newestTerm = max(newestTerm, record.term) }
        picture.apply(record, at: position.sequence)
    }
}

extension Member {
    /// The journal's fold up to its end. The first time linear in the journal, then in what is new. Errors: `damaged`
    func recordedTree() throws(CoordinationError) -> RecordedTree {
        try withRecordedTree { $0 }
    }

    /// An item as its last record has it; nil where nothing is recorded to stand.
    func recordedItem(at location: ItemLocation) throws(CoordinationError) -> TreePicture.Item? {
        try withRecordedTree { $0.picture.items[location] }
    }

    private func withRecordedTree<Answer>(_ look: (RecordedTree) -> Answer) throws(CoordinationError) -> Answer {
        try recorded.withLock { (kept) throws(CoordinationError) in
            var tree = if let kept { kept } else { try RecordedTree(journal) }
            // What is not shared is changed in its place, rather than copied.
            kept = nil
            defer { kept = tree }
            try tree.catchUp(journal)
            return look(tree)
        }
    }
}
