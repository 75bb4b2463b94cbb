// Imports nothing: no file, clock or process.

/// A tree of named items with one item at each path. Every change goes through `put`, which remembers what was there
/// before, so that a strict entry can be rolled back.
package struct ClusterTree: Equatable, Sendable {
    package struct Node: Equatable, Sendable {
        package var parent: ItemName
        package var name: FileName
        /// The operation that put the item at its path.
        package var placed: ClusterName
        package var content: ItemContent
        /// The operation that made the content.
        package var version: ClusterName

        package init(
            _ parent: ItemName, _ name: FileName, placed: ClusterName, _ content: ItemContent, version: ClusterName
        ) {
            self.parent = parent
            self.name = name
            self.placed = placed
            self.content = content
            self.version = version
        }
    }

    package private(set) var nodes: [ItemName: Node] = [:]
    private var children: [ItemName: [FileName: ItemName]] = [:]
    private var replaced: [(item: ItemName, node: Node?)] = []

    package init() {}

    /// Makes a tree from nodes that may be damaged or forged. Error: that of `checkedChildren`
    package init(_ nodes: [ItemName: Node]) throws(ClusterDamage) {
        children = try nodes.checkedChildren(below: .root)
        self.nodes = nodes
    }

    package static func == (left: ClusterTree, right: ClusterTree) -> Bool { left.nodes == right.nodes }

    package subscript(item: ItemName) -> Node? { nodes[item] }

    package func isDirectory(_ item: ItemName) -> Bool { item == .root || nodes[item]?.content.kind == .directory }

    package func child(of parent: ItemName, _ name: FileName) -> ItemName? { children[parent]?[name] }

    /// Returns the item at a path, whose names are separated by slashes.
    package func item(at path: [UInt8]) -> ItemName? {
        var current = ItemName.root
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard let next = child(of: current, Array(name)) else { return nil }
            current = next
        }
        return current
    }

    package func children(of parent: ItemName) -> [ItemName] { Array((children[parent] ?? [:]).values) }

    package func isEmpty(_ directory: ItemName) -> Bool { children[directory] == nil }

    /// Returns whether `item` is `directory` or below it.
    package func isWithin(_ item: ItemName, _ directory: ItemName) -> Bool {
        var current = item
        while current != directory {
            guard let node = nodes[current] else { return false }
            current = node.parent
        }
        return true
    }

    /// The greatest depth of an item. No path of a disk has more directories.
    package static let greatestDepth = 2_048

    /// Returns whether an item fits into a directory. An item does not fit if it, or something in it, would be too deep
    /// for any disk.
    func hasRoom(in directory: ItemName, for item: ItemName) -> Bool {
        var depth = 1
        var current = directory
        while let node = nodes[current] { (depth, current) = (depth + 1, node.parent) }
        var level = [item]
        while !level.isEmpty, depth <= Self.greatestDepth {
            level = level.flatMap { (children[$0] ?? [:]).values }
            depth += 1
        }
        return level.isEmpty
    }

    /// Returns the path of an item, for people and for tests.
    package func path(_ item: ItemName) -> [FileName] {
        guard let node = nodes[item] else { return [] }
        return path(node.parent) + [node.name]
    }

    /// Puts an item at a free path; with nil, removes the item.
    package mutating func put(_ item: ItemName, _ node: Node?) {
        let old = nodes[item]
        replaced.append((item, old))
        if let old {
            children[old.parent]?[old.name] = nil
            if children[old.parent]?.isEmpty == true { children[old.parent] = nil }
        }
        nodes[item] = node
        if let node { children[node.parent, default: [:]][node.name] = item }
    }

    /// Returns the items that were put since the last call, and forgets what was there before.
    package mutating func takeChanges() -> Set<ItemName> {
        defer { replaced = [] }
        return Set(replaced.map(\.item))
    }

    /// Takes back everything that was put since `takeChanges`.
    package mutating func rollBack() {
        let undone = replaced
        for (item, node) in undone.reversed() { put(item, node) }
        replaced = []
    }
}
