// Imports nothing: no file, clock or process.

/// An item of this machine's disk, by a number that stays the same while the item is moved, as its inode does.
package struct LocalItem: Hashable, Comparable, Sendable {
    package var number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package static let root = LocalItem(0)

    package static func < (left: LocalItem, right: LocalItem) -> Bool { left.number < right.number }
}

/// The tree of the items that were seen on this machine's disk.
package struct LocalTree: Equatable, Sendable {
    package struct Node: Equatable, Sendable {
        package var parent: LocalItem
        package var name: FileName
        package var content: ItemContent

        package init(_ parent: LocalItem, _ name: FileName, _ content: ItemContent) {
            self.parent = parent
            self.name = name
            self.content = content
        }
    }

    package private(set) var nodes: [LocalItem: Node] = [:]
    private var children: [LocalItem: [FileName: LocalItem]] = [:]

    package init() {}

    /// Makes a tree from nodes that may be damaged or forged. Error: that of `checkedChildren`
    package init(_ nodes: [LocalItem: Node]) throws(ClusterDamage) {
        children = try nodes.checkedChildren(below: .root)
        self.nodes = nodes
    }

    package subscript(item: LocalItem) -> Node? { nodes[item] }

    package func child(of parent: LocalItem, _ name: FileName) -> LocalItem? { children[parent]?[name] }

    package func children(of parent: LocalItem) -> [LocalItem] { (children[parent] ?? [:]).values.sorted() }

    package func isDirectory(_ item: LocalItem) -> Bool { item == .root || nodes[item]?.content.kind == .directory }

    /// Returns everything below a directory. Each item comes after its directory.
    package func descendants(of directory: LocalItem) -> [LocalItem] {
        var found = children(of: directory)
        var next = 0
        while next < found.count, found.count <= nodes.count {
            found += children(of: found[next])
            next += 1
        }
        return found
    }

    /// Returns whether `item` is `directory` or below it.
    package func isWithin(_ item: LocalItem, _ directory: LocalItem) -> Bool {
        item == directory || way(from: item).contains(directory)
    }

    /// Returns the directories above an item, without the root, from the outermost one to its own.
    package func ancestors(_ item: LocalItem) -> [LocalItem] { way(from: item).reversed().filter { $0 != .root } }

    /// Returns the directories above an item, from its own to the root.
    private func way(from item: LocalItem) -> [LocalItem] {
        var way: [LocalItem] = []
        var current = item
        // `put` may have made circles. No way is longer than the number of items.
        while way.count <= nodes.count, let node = nodes[current] {
            way.append(node.parent)
            current = node.parent
        }
        return way
    }

    /// Puts an item at a free path; with nil, removes the item.
    package mutating func put(_ item: LocalItem, _ node: Node?) {
        if let old = nodes[item] { children[old.parent]?[old.name] = nil }
        nodes[item] = node
        if let node { children[node.parent, default: [:]][node.name] = item }
    }
}
