// Imports nothing: no file, clock or process.

/// The journal's view of the items of a container, the result of its records. A lookup is constant; the removal or move
/// of a directory is linear in its content.
///
/// A tree index on a base, a checkpoint that was not read, holds only what is new since; it is for lookups.
struct TreeIndex: Equatable, Sendable {
    /// An item as in its last record.
    struct Item: Equatable, Sendable {
        var state: ItemState
        /// The sequence number of that record. A record of a directory above changes the item's path, not its
        /// generation.
        var generation: UInt64
    }

    /// The tree below a tree index, which is read at each lookup.
    protocol Base: AnyObject, Sendable {
        func item(at location: ItemLocation) -> Item?
        func below(_ directory: ItemLocation) -> [ItemLocation]
    }

    private let base: (any Base)?
    /// All items; on a base, only those that differ from it.
    private(set) var items: [ItemLocation: Item] = [:]
    /// The items of the base that are gone.
    private var gone: Set<ItemLocation> = []
    /// The location where an inode was last recorded, to recognize a move; the last one of several hard links. Not on a
    /// base.
    private var places: [UInt64: ItemLocation] = [:]
    /// All names of each file that has several.
    private var names: [UInt64: Set<ItemLocation>] = [:]
    /// The entries of each directory that are items, or have items below them; nil is the root. Not on a base.
    private var entries: [ItemLocation?: Set<ItemLocation>] = [:]

    static func == (left: TreeIndex, right: TreeIndex) -> Bool {
        left.base === right.base && left.items == right.items && left.gone == right.gone && left.places == right.places
    }

    /// Makes the index of an empty tree.
    init() { base = nil }

    init(on base: any Base) { self.base = base }

    /// Makes an index of items in any order; fastest if the entries of a directory come together. Of hard links, the
    /// one with the latest record is the inode's location.
    init(_ all: [(location: ItemLocation, item: Item)]) {
        base = nil
        items.reserveCapacity(all.count)
        places.reserveCapacity(all.count)
        var (directory, inner): (ItemLocation?, [ItemLocation]) = (nil, [])
        for (location, item) in all {
            items[location] = item
            let other = places[item.state.inode].flatMap { items[$0]?.generation } ?? 0
            if other <= item.generation { places[item.state.inode] = location }
            if !location.stands(in: directory) {
                if !inner.isEmpty { entries[directory, default: []].formUnion(inner) }
                (directory, inner) = (location.parent, [])
            }
            inner.append(location)
        }
        if !inner.isEmpty { entries[directory, default: []].formUnion(inner) }
    }

    /// Returns the item at a location.
    func item(at location: ItemLocation) -> Item? {
        if let item = items[location] { return item }
        guard let base else { return nil }
        return gone.contains(location) ? nil : base.item(at: location)
    }

    subscript(_ location: ItemLocation) -> ItemState? { item(at: location)?.state }

    func generation(of location: ItemLocation) -> UInt64? { item(at: location)?.generation }

    func place(ofInode inode: UInt64) -> ItemLocation? { places[inode] }

    /// Returns all names of a file that has several; otherwise an empty set.
    func names(ofInode inode: UInt64) -> Set<ItemLocation> { names[inode] ?? [] }

    /// Returns the entries of a directory that are items, or have items below them, in no order; nil is the root. Not
    /// on a base.
    func entries(of directory: ItemLocation?) -> Set<ItemLocation> { entries[directory] ?? [] }

    /// Returns everything below a directory, the deepest first.
    func below(_ directory: ItemLocation) -> [ItemLocation] {
        let inner = base.map { base in
            items.keys.filter { $0.isBelow(directory) }
                + base.below(directory).filter { items[$0] == nil && !gone.contains($0) }
        }
        return (inner ?? standing(below: directory)).sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) }
    }

    private func standing(below directory: ItemLocation) -> [ItemLocation] {
        var (found, next) = ([ItemLocation](), Array(entries[directory] ?? []))
        while let location = next.popLast() {
            if items[location] != nil { found.append(location) }
            next += entries[location] ?? []
        }
        return found
    }

    /// Applies the next record, whose number is `sequence`.
    mutating func apply(_ record: ChangeRecord, at sequence: UInt64) {
        for change in record.changes { apply(change, at: sequence) }
    }

    /// Applies one change of a record.
    mutating func apply(_ change: ChangePart, at sequence: UInt64) {
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
            guard let item = item(at: from), item.state.type != .directory else {
                put(take(from: from), at: location, change.state, sequence)
                return
            }
            set(from, nil)
            set(location, Item(state: change.state?.knowing(item.state) ?? item.state, generation: sequence))
        case .exchanged: exchange(change, location, at: sequence)
        case .term, .degraded, .transaction: break
        }
    }

    /// Adds the hash of a content that was read when the item's state was `seen`. Changes the hash alone, and only if
    /// the item still looks like that.
    mutating func learn(hash: UInt64, of location: ItemLocation, seen: ItemState) {
        guard var item = item(at: location), item.state.type == .file, item.state.looksLike(seen) else { return }
        item.state.contentHash = hash
        items[location] = item
    }

    private mutating func exchange(_ change: ChangePart, _ location: ItemLocation, at sequence: UInt64) {
        guard let other = change.from.flatMap({ try? ItemLocation($0) }) else { return }
        let (here, there) = (take(from: location), take(from: other))
        put(there, at: location, change.state, sequence)
        put(here, at: other, change.otherState, sequence)
    }

    /// Removes an item and everything below it; returns each with the rest of its path, the item itself first.
    private mutating func take(from place: ItemLocation) -> [(rest: ArraySlice<UInt8>, item: Item)] {
        ([place] + below(place)).compactMap { inner in
            guard let item = item(at: inner) else { return nil }
            set(inner, nil)
            return (inner.bytes[place.bytes.count...], item)
        }
    }

    private mutating func put(
        _ taken: [(rest: ArraySlice<UInt8>, item: Item)], at place: ItemLocation, _ state: ItemState?,
        _ sequence: UInt64
    ) {
        for (rest, item) in taken where !rest.isEmpty {
            if let inner = try? ItemLocation(place.bytes + rest) { set(inner, item) }
        }
        let known = taken.first { $0.rest.isEmpty }?.item.state
        guard let state = state?.knowing(known) ?? known else { return }
        set(place, Item(state: state, generation: sequence))
    }

    private mutating func set(_ location: ItemLocation, _ item: Item?) {
        if base != nil {
            items[location] = item
            if item == nil { gone.insert(location) } else { gone.remove(location) }
            return
        }
        if let old = items[location]?.state { forget(location, inode: old.inode) }
        guard let item else {
            if items.removeValue(forKey: location) != nil { leave(location) }
            return
        }
        if items.updateValue(item, forKey: location) == nil { enter(location) }
        let inode = item.state.inode
        if let place = places.updateValue(location, forKey: inode), place != location, item.state.type != .directory {
            names[inode, default: [place]].insert(location)
        }
    }

    private mutating func forget(_ location: ItemLocation, inode: UInt64) {
        guard var rest = names.removeValue(forKey: inode) else {
            if places[inode] == location { places[inode] = nil }
            return
        }
        rest.remove(location)
        if places[inode] == location { places[inode] = rest.first }
        if rest.count > 1 { names[inode] = rest }
    }

    /// Adds a location to its directory, also if no record of that directory exists, so that it is found from above.
    private mutating func enter(_ location: ItemLocation) {
        var location = location
        while entries[location.parent, default: []].insert(location).inserted, let directory = location.parent {
            location = directory
        }
    }

    private mutating func leave(_ location: ItemLocation) {
        var location = location
        while items[location] == nil && entries[location] == nil {
            let directory = location.parent
            entries[directory]?.remove(location)
            if entries[directory]?.isEmpty == true { entries[directory] = nil }
            guard let directory else { return }
            location = directory
        }
    }
}
