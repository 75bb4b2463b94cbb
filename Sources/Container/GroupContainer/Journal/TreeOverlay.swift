// Imports nothing: no file, clock or process.

/// What records have changed in a tree that is not read, but looked up item by item: a checkpoint. For lookups only.
struct TreeOverlay: RecordedTree {
    /// The tree below, which is read at each lookup.
    protocol Base: AnyObject, Sendable {
        func item(at location: ItemLocation) -> TreeIndex.Item?
        func below(_ directory: ItemLocation) -> [ItemLocation]
    }

    private let base: any Base
    /// The items that differ from the base.
    private var items: [ItemLocation: TreeIndex.Item] = [:]
    /// The items of the base that are gone.
    private var removed: Set<ItemLocation> = []
    /// How much was looked at and moved because a directory was moved or removed: linear in what is in it, and in the
    /// items that differ from the base.
    private(set) var work = 0

    init(on base: any Base) { self.base = base }

    func item(at location: ItemLocation) -> TreeIndex.Item? {
        items[location] ?? (removed.contains(location) ? nil : base.item(at: location))
    }

    /// Returns everything below a directory, the deepest first.
    func below(_ directory: ItemLocation) -> [ItemLocation] {
        let inner =
            items.keys.filter { $0.isBelow(directory) }
            + base.below(directory).filter { items[$0] == nil && !removed.contains($0) }
        return inner.sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) }
    }

    mutating func set(_ item: TreeIndex.Item, at location: ItemLocation, replacing: Bool) {
        items[location] = item
        removed.remove(location)
    }

    mutating func remove(_ location: ItemLocation) {
        items[location] = nil
        removed.insert(location)
    }

    mutating func removeTree(at location: ItemLocation) {
        for inner in inner(of: location) { remove(inner) }
        remove(location)
    }

    /// Returns everything below an item, which may be no directory.
    private mutating func inner(of location: ItemLocation) -> [ItemLocation] {
        if let item = item(at: location), item.state.type != .directory { return [] }
        let inner = below(location)
        work += items.count + inner.count
        return inner
    }

    mutating func moveTrees(_ moves: [(from: ItemLocation, to: ItemLocation)]) -> [TreeIndex.Item?] {
        var arriving: [(location: ItemLocation, item: TreeIndex.Item)] = []
        var tops: [TreeIndex.Item?] = []
        for (from, to) in moves {
            tops.append(item(at: from))
            for inner in [from] + inner(of: from) {
                guard let item = item(at: inner) else { continue }
                remove(inner)
                let location = inner == from ? to : inner.moved(from: from, to: to)
                if let location { arriving.append((location, item)) }
            }
        }
        for (location, item) in arriving { set(item, at: location, replacing: false) }
        return tops
    }
}
