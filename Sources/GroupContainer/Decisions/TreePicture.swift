/// What the journal says that stands in the container: the fold of its records. Lookup is constant; taking a folder out
/// or moving it is linear in the number of items.
struct TreePicture: Equatable, Sendable {
    private(set) var items: [ItemLocation: ItemState] = [:]
    /// Where an inode was last recorded, to recognise what was moved. Hard links: the last one.
    private var places: [UInt64: ItemLocation] = [:]

    subscript(_ location: ItemLocation) -> ItemState? { items[location] }

    func place(ofInode inode: UInt64) -> ItemLocation? { places[inode] }

    /// Everything below a folder, what lies deepest first.
    func below(_ folder: ItemLocation) -> [ItemLocation] {
        if items[folder]?.type != .folder { return [] }
        return items.keys.filter { $0.isBelow(folder) }.sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) }
    }

    mutating func apply(_ record: ChangeRecord) { for change in record.changes { apply(change) } }

    private mutating func apply(_ change: ChangePart) {
        guard let location = try? ItemLocation(change.path) else { return }
        switch change.kind {
        case .created, .modified, .touched:
            let known = change.kind == .touched ? items[location] : nil
            if let state = change.state { set(location, state.knowing(known)) }
        case .removed:
            for inner in below(location) { set(inner, nil) }
            set(location, nil)
        case .moved:
            guard let from = change.from.flatMap({ try? ItemLocation($0) }) else { return }
            if items[from]?.type == .folder {
                for inner in below(from) {
                    let rest = inner.bytes[from.bytes.count...]
                    guard let place = try? ItemLocation(location.bytes + rest) else { continue }
                    let state = items[inner]
                    set(inner, nil)
                    set(place, state)
                }
            }
            let state = change.state?.knowing(items[from]) ?? items[from]
            set(from, nil)
            set(location, state)
        case .term, .transaction: break
        }
    }

    private mutating func set(_ location: ItemLocation, _ state: ItemState?) {
        if let old = items[location], places[old.inode] == location { places[old.inode] = nil }
        items[location] = state
        if let state { places[state.inode] = location }
    }
}
