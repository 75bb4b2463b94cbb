// Imports nothing: no file, clock or process.

/// An item of this machine's disk, by a number that stays while the item is moved, as that of its inode does.
package struct LocalItem: Hashable, Comparable, Sendable {
    package var number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package static let root = LocalItem(0)

    package static func < (left: LocalItem, right: LocalItem) -> Bool { left.number < right.number }
}

/// What is seen of this machine's disk.
package struct LocalTree: Equatable, Sendable {
    package struct Node: Equatable, Sendable {
        package var parent: LocalItem
        package var name: FileName
        package var content: ItemContent

        package init(_ parent: LocalItem, _ name: FileName, _ content: ItemContent) {
            (self.parent, self.name, self.content) = (parent, name, content)
        }
    }

    package private(set) var nodes: [LocalItem: Node] = [:]
    private var children: [LocalItem: [FileName: LocalItem]] = [:]

    package init() {}

    package subscript(item: LocalItem) -> Node? { nodes[item] }

    package func child(of parent: LocalItem, _ name: FileName) -> LocalItem? { children[parent]?[name] }

    package func children(of parent: LocalItem) -> [LocalItem] { (children[parent] ?? [:]).values.sorted() }

    package func isDirectory(_ item: LocalItem) -> Bool { item == .root || nodes[item]?.content.kind == .directory }

    /// Returns whether `item` is `directory` or below it.
    package func isWithin(_ item: LocalItem, _ directory: LocalItem) -> Bool {
        var place = item
        while place != directory {
            guard let node = nodes[place] else { return false }
            place = node.parent
        }
        return true
    }

    /// Returns the directories above an item, from the one below the root on.
    package func ancestors(_ item: LocalItem) -> [LocalItem] {
        guard let parent = nodes[item]?.parent, parent != .root else { return [] }
        return ancestors(parent) + [parent]
    }

    /// Puts an item where no other is, or removes the item.
    package mutating func put(_ item: LocalItem, _ node: Node?) {
        if let old = nodes[item] { children[old.parent]?[old.name] = nil }
        nodes[item] = node
        if let node { children[node.parent, default: [:]][node.name] = item }
    }
}
