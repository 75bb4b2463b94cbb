/// What the journal says that stands in the container: the fold of its records. Lookup is constant; taking a folder out
/// or moving it is linear in the number of items.
struct TreePicture: Equatable, Sendable {
    /// An item as its last record has it.
    struct Item: Equatable, Sendable {
        var state: ItemState
        /// The sequence of that record. One of a folder around it changes where it stands, not its generation.
        var generation: UInt64
    }

    private(set) var items: [ItemLocation: Item] = [:]
    /// Where an inode was last recorded, to recognise what was moved. Hard links: the last one.
    private var places: [UInt64: ItemLocation] = [:]

    subscript(_ location: ItemLocation) -> ItemState? { items[location]?.state }

    func generation(of location: ItemLocation) -> UInt64? { items[location]?.generation }

    func place(ofInode inode: UInt64) -> ItemLocation? { places[inode] }

    /// Everything below a folder, what lies deepest first.
    func below(_ folder: ItemLocation) -> [ItemLocation] {
        if self[folder]?.type != .folder { return [] }
        return items.keys.filter { $0.isBelow(folder) }.sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) }
    }

    /// Takes in the next record, whose number is `sequence`.
    mutating func apply(_ record: ChangeRecord, at sequence: UInt64) {
        for change in record.changes { apply(change, at: sequence) }
    }

    private mutating func apply(_ change: ChangePart, at sequence: UInt64) {
        guard let location = try? ItemLocation(change.path) else { return }
        switch change.kind {
        case .created, .modified, .touched:
            let known = change.kind == .touched ? self[location] : nil
            if let state = change.state { set(location, Item(state: state.knowing(known), generation: sequence)) }
        case .removed:
            for inner in below(location) { set(inner, nil) }
            set(location, nil)
        case .moved:
            guard let from = change.from.flatMap({ try? ItemLocation($0) }) else { return }
            if self[from]?.type == .folder {
                for inner in below(from) {
                    let rest = inner.bytes[from.bytes.count...]
                    guard let place = try? ItemLocation(location.bytes + rest) else { continue }
                    let item = items[inner]
                    set(inner, nil)
                    set(place, item)
                }
            }
            let state = change.state?.knowing(self[from]) ?? self[from]
            set(from, nil)
            set(location, state.map { Item(state: $0, generation: sequence) })
        case .term, .transaction: break
        }
    }

    private mutating func set(_ location: ItemLocation, _ item: Item?) {
        if let old = self[location], places[old.inode] == location { places[old.inode] = nil }
        items[location] = item
        if let item { places[item.state.inode] = location }
    }
}
