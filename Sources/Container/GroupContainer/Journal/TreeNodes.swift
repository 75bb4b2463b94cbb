// Imports nothing: no file, clock or process.

/// The number of a node in its tree; 0 is the root, and means "none" where a node cannot be the root.
typealias NodeNumber = UInt32

/// A name in a directory, and the item that has it. A directory of which no record exists is a node without an item, as
/// long as there are items in it.
struct TreeNode: Sendable {
    // The item's state and generation; meaningless without a type. In this order, so that a node takes 88 bytes.
    var inode: UInt64 = 0
    var size: UInt64 = 0
    var modified: Int64 = 0
    var changed: Int64 = 0
    var contentHash: UInt64 = 0
    var generation: UInt64 = 0
    var mode: UInt32 = 0
    var owner: UInt32 = 0
    var group: UInt32 = 0

    var parent: NodeNumber = 0
    var firstEntry: NodeNumber = 0
    /// The next and the previous entry of the same directory; for a node that is free, the next free one.
    var next: NodeNumber = 0
    var previous: NodeNumber = 0
    /// The next node in the same chain of the table of names, and of the table of inode numbers.
    var nextByName: NodeNumber = 0
    var nextByInode: NodeNumber = 0
    var name = NamePool.Name(offset: 0, count: 0)
    var view: UInt16 = 0
    /// The raw value of the item's type; 0 without an item.
    var type: UInt8 = 0
    private var flags: UInt8 = 0

    var hasContentHash: Bool {
        get { flags & 1 != 0 }
        set { flags = flags & ~1 | (newValue ? 1 : 0) }
    }

    /// Whether another item has taken the place of a directory around the item since the item's last record. To a
    /// reader of the changes the item is gone with that directory.
    var isReplaced: Bool {
        get { flags & 2 != 0 }
        set { flags = flags & ~2 | (newValue ? 2 : 0) }
    }

    var isItem: Bool { type != 0 }

    var item: TreeIndex.Item? {
        guard let type = ItemType(rawValue: type) else { return nil }
        let state = ItemState(
            type: type, inode: inode, size: size, modified: modified, changed: changed, mode: mode, owner: owner,
            group: group, contentHash: hasContentHash ? contentHash : nil, view: view)
        return TreeIndex.Item(state: state, generation: generation)
    }

    mutating func set(_ item: TreeIndex.Item) {
        let state = item.state
        (type, generation) = (state.type.rawValue, item.generation)
        (inode, size, modified, changed) = (state.inode, state.size, state.modified, state.changed)
        (mode, owner, group, view) = (state.mode, state.owner, state.group, state.view)
        (hasContentHash, contentHash) = (state.contentHash != nil, state.contentHash ?? 0)
        isReplaced = false
    }
}

/// An array in pieces of a fixed size: it grows without being copied, and a copy that is changed shares the pieces that
/// were not changed.
struct Slabs<Element: Sendable>: Sendable {
    private var slabs: [[Element]] = []
    private(set) var count = 0
    private static var shift: Int { 12 }
    private static var slabSize: Int { 1 << shift }

    subscript(_ number: NodeNumber) -> Element {
        get { slabs[Int(number) >> Self.shift][Int(number) & (Self.slabSize - 1)] }
        _modify { yield &slabs[Int(number) >> Self.shift][Int(number) & (Self.slabSize - 1)] }
    }

    mutating func append(_ element: Element) {
        if count == slabs.count << Self.shift {
            var slab: [Element] = []
            slab.reserveCapacity(Self.slabSize)
            slabs.append(slab)
        }
        slabs[slabs.count - 1].append(element)
        count += 1
    }
}

/// The bytes of names, each at a fixed offset. The offset of a name that was removed is used again for one of about the
/// same length.
struct NamePool: Sendable {
    struct Name: Sendable {
        /// The offset in units of eight bytes.
        var offset: UInt32
        var count: UInt16
    }

    private static let unit = 8
    private static let slabUnits = 8_192
    private var slabs: [[UInt8]] = []
    /// The units of the last slab that are in use.
    private var used = slabUnits
    /// The free offsets of each length in units.
    private var free: [[UInt32]] = []

    private static func units(_ count: Int) -> Int { max(1, (count + unit - 1) / unit) }

    private static func position(_ name: Name) -> (slab: Int, bytes: Range<Int>) {
        let start = Int(name.offset) % slabUnits * unit
        return (Int(name.offset) / slabUnits, start..<(start + Int(name.count)))
    }

    /// Stores the name of an entry of a directory.
    mutating func add(_ bytes: Span<UInt8>) -> Name {
        let units = Self.units(bytes.count)
        let reused = units < free.count ? free[units].popLast() : nil
        let name = Name(offset: reused ?? makeRoom(units), count: UInt16(truncatingIfNeeded: bytes.count))
        let (slab, range) = Self.position(name)
        for (index, target) in range.enumerated() { slabs[slab][target] = bytes[index] }
        return name
    }

    mutating func remove(_ name: Name) {
        let units = Self.units(Int(name.count))
        while free.count <= units { free.append([]) }
        free[units].append(name.offset)
    }

    private mutating func makeRoom(_ units: Int) -> UInt32 {
        if used + units > Self.slabUnits {
            slabs.append([UInt8](repeating: 0, count: Self.slabUnits * Self.unit))
            used = 0
        }
        defer { used += units }
        return UInt32((slabs.count - 1) * Self.slabUnits + used)
    }

    /// Calls `body` with the bytes of a name.
    func with<Answer>(_ name: Name, _ body: (Span<UInt8>) -> Answer) -> Answer {
        let (slab, range) = Self.position(name)
        let bytes = slabs[slab]
        return body(bytes.span.extracting(range))
    }

    func isEqual(_ name: Name, to other: Span<UInt8>) -> Bool {
        if Int(name.count) != other.count { return false }
        let (slab, range) = Self.position(name)
        for index in other.indices where slabs[slab][range.lowerBound + index] != other[index] { return false }
        return true
    }

    func append(_ name: Name, to path: inout [UInt8]) {
        let (slab, range) = Self.position(name)
        path.append(contentsOf: slabs[slab][range])
    }
}
