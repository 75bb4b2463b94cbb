// Imports nothing: no file, clock or process.

/// A tree of items to which records are applied.
protocol RecordedTree: Sendable {
    func item(at location: ItemLocation) -> TreeIndex.Item?
    /// Makes an item the one at its location. With `replacing`, what is below it stays, and has no longer the location
    /// that the changes reported for it.
    mutating func set(_ item: TreeIndex.Item, at location: ItemLocation, replacing: Bool)
    /// Removes an item. What is below it stays.
    mutating func remove(_ location: ItemLocation)
    /// Removes an item and everything below it.
    mutating func removeTree(at location: ItemLocation)
    /// Moves items with everything below them, with their generations. Each leaves its location before the first
    /// arrives. What stands at a goal stays, where the tree that arrives has no item at the same location. Returns the
    /// items that were at the locations that were left.
    mutating func moveTrees(_ moves: [(from: ItemLocation, to: ItemLocation)]) -> [TreeIndex.Item?]
}

extension RecordedTree {
    /// Applies the next record, whose number is `sequence`.
    mutating func apply(_ record: ChangeRecord, at sequence: UInt64) {
        for change in record.changes { apply(change, at: sequence) }
    }

    /// Applies one change of a record.
    mutating func apply(_ change: ChangePart, at sequence: UInt64) {
        guard let location = try? ItemLocation(change.path) else { return }
        switch change.kind {
        case .created, .modified, .touched:
            let known = change.kind == .touched ? item(at: location)?.state : nil
            arrive(location, change.state, known, sequence, replacing: change.kind != .touched)
        case .removed: removeTree(at: location)
        case .moved:
            guard let from = change.from.flatMap({ try? ItemLocation($0) }) else { return }
            if let item = item(at: from), item.state.type != .directory {
                remove(from)
                arrive(location, change.state, item.state, sequence)
            } else {
                let moved = moveTrees([(from, location)])
                arrive(location, change.state, moved[0]?.state, sequence)
            }
        case .exchanged:
            guard let other = change.from.flatMap({ try? ItemLocation($0) }) else { return }
            let moved = moveTrees([(other, location), (location, other)])
            arrive(location, change.state, moved[0]?.state, sequence)
            arrive(other, change.otherState, moved[1]?.state, sequence)
        case .term, .degraded, .transaction: break
        }
    }

    /// Sets an item by its record: `state` is as in the record, and `known` is as in the record before.
    private mutating func arrive(
        _ location: ItemLocation, _ state: ItemState?, _ known: ItemState?, _ sequence: UInt64,
        replacing: Bool = false
    ) {
        guard let state = state?.knowing(known) ?? known else { return }
        set(TreeIndex.Item(state: state, generation: sequence), at: location, replacing: replacing)
    }
}
