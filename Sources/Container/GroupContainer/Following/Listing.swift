import GroupLog

/// The items of a container at one position of its journal, one by one: directories before their content.
struct Listing: Sendable {
    private let items: [(location: ItemLocation, item: TreeIndex.Item)]
    private var index = 0
    /// The position in the journal.
    let position: LogPosition

    /// Makes the listing from the journal view, of which only the matching items are kept. Linear in the journal's
    /// records.
    init(_ journal: Journal, of filter: ChangeFilter) throws(CoordinationError) {
        var tree = try JournalView(journal)
        try tree.catchUp(journal)
        position = tree.position
        items = tree.treeIndex.lazy
            .filter { filter.matches($0.location.bytes, isDirectory: $0.item.state.type == .directory) }
            .map { (location: $0.location, item: $0.item) }
    }

    /// Returns the next item; nil after the last.
    mutating func next() -> (location: ItemLocation, item: TreeIndex.Item)? {
        if index == items.count { return nil }
        defer { index += 1 }
        return items[index]
    }
}
