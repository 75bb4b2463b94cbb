import GroupSystemCalls

/// What stands in the container at one place of its journal, told item by item: directories before what is in them.
struct Listing: Sendable {
    private let items: [(place: ItemLocation, item: TreePicture.Item)]
    private var told = 0
    /// The place in the journal that it is of.
    let position: LogPosition

    /// Linear in the journal's records: its fold, of which only the items are kept.
    init(_ journal: Journal, of filter: ChangeFilter) throws(CoordinationError) {
        var tree = try RecordedTree(journal)
        try tree.catchUp(journal)
        position = tree.position
        items = tree.picture.items.lazy.filter { filter.includes($0.key.bytes) }
            .map { (place: $0.key, item: $0.value) }
            .sorted { $0.place.bytes.lexicographicallyPrecedes($1.place.bytes) }
    }

    /// The next one; nil after the last.
    mutating func next() -> (place: ItemLocation, item: TreePicture.Item)? {
        if told == items.count { return nil }
        defer { told += 1 }
        return items[told]
    }
}

/// The tree at the place of a reader whose filter has to know what is in a directory that moved. One for all copies of
/// the reader; made when it is needed for the first time, and then read on.
final class TreeAtPlace: Sendable {
    private let tree = Guarded<RecordedTree?>(nil)

    /// What stood there at that place. Nil: neither the journal nor its checkpoint goes back so far. Linear in the
    /// records since the last time.
    func picture(_ journal: Journal, at place: LogPosition) throws(CoordinationError) -> TreePicture? {
        try tree.withLock { (kept) throws(CoordinationError) in
            // What is not shared is changed in its place, rather than copied.
            var tree = kept
            kept = nil
            if try tree?.catchUp(journal, to: place) != true { tree = try RecordedTree(journal, at: place) }
            kept = tree
            return tree?.picture
        }
    }
}
