// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The journal's view of the items of a container, the result of its records. Iterating returns all items, in the order
/// of their paths' bytes.
///
/// The items are nodes of a tree: each has its name and its directory's number. So the move of a directory changes one
/// node, whatever is in it, and an item takes about 120 bytes. Two hash tables find the entry of a directory by its
/// name, and the items with an inode number. A path is looked up name by name.
struct TreeIndex: RecordedTree {
    /// An item as in its last record.
    struct Item: Equatable, Sendable {
        var state: ItemState
        /// The sequence number of that record. A record of a directory above changes the item's path, not its
        /// generation.
        var generation: UInt64
    }

    private var nodes = Slabs<TreeNode>()
    private var names = NamePool()
    /// The first node of each chain. Their number is a power of two, and at least that of the nodes.
    private var byName: [NodeNumber] = [0]
    private var byInode: [NodeNumber] = [0]
    private var firstFree: NodeNumber = 0
    /// The number of items.
    private(set) var count = 0

    /// Makes the index of an empty tree.
    init() { nodes.append(TreeNode()) }

    /// Adds an item of a stored tree, in any order. Of hard links, the one with the latest record is the inode's
    /// location.
    mutating func add(_ item: Item, at location: ItemLocation) {
        let node = make(location)
        nodes[node].set(item)
        count += 1
        let first = self.first(ofInode: item.state.inode)
        if first != 0, nodes[first].generation > item.generation {
            (nodes[node].nextByInode, nodes[first].nextByInode) = (nodes[first].nextByInode, node)
        } else {
            linkInode(node)
        }
    }

    /// Returns the item at a location.
    func item(at location: ItemLocation) -> Item? { find(location).flatMap { nodes[$0].item } }

    subscript(_ location: ItemLocation) -> ItemState? { item(at: location)?.state }

    func generation(of location: ItemLocation) -> UInt64? { item(at: location)?.generation }

    /// Returns the location where an inode was last recorded, to recognize a move; of several hard links, the last one.
    /// Nil also for an item that cannot be reported as moved: see `isReplaced`.
    func location(ofInode inode: UInt64) -> ItemLocation? {
        let first = first(ofInode: inode)
        return first == 0 || nodes[first].isReplaced ? nil : location(of: first)
    }

    /// Returns the state of an item for readers of the changes; nil for one that is replaced.
    func reported(_ location: ItemLocation) -> ItemState? {
        guard let node = find(location), !nodes[node].isReplaced else { return nil }
        return nodes[node].item?.state
    }

    /// Returns the first location above an item, from the top, where readers of the changes have no directory; nil if
    /// they have all of them. Linear in the depth.
    func firstUnreportedDirectory(above location: ItemLocation) -> ItemLocation? {
        guard let parent = location.parent else { return nil }
        var node: NodeNumber = 0
        var end = -1
        let areReported = parent.withNames { name in
            end += 1 + name.count
            node = entry(name, of: node)
            return node != 0 && !nodes[node].isReplaced && nodes[node].item?.state.type == .directory
        }
        return areReported ? nil : ItemLocation(trusted: Array(parent.bytes[..<end]))
    }

    /// Returns whether an item was in a directory in whose place another item was reported since. Readers of the
    /// changes have dropped it with the directory.
    func isReplaced(_ location: ItemLocation) -> Bool { find(location).map { nodes[$0].isReplaced } ?? false }

    /// Returns all names of a file that has several; otherwise an empty array.
    func names(ofInode inode: UInt64) -> [ItemLocation] {
        var (found, node) = ([NodeNumber](), first(ofInode: inode))
        while node != 0 {
            if nodes[node].inode == inode, nodes[node].type != ItemType.directory.rawValue { found.append(node) }
            node = nodes[node].nextByInode
        }
        return found.count < 2 ? [] : found.compactMap { location(of: $0) }
    }

    /// Returns the number of entries of a directory that are items, or have items below them; nil is the root.
    func entryCount(of directory: ItemLocation?) -> Int {
        guard let directory = find(directory) else { return 0 }
        var (count, entry) = (0, nodes[directory].firstEntry)
        while entry != 0 {
            count += 1
            entry = nodes[entry].next
        }
        return count
    }

    /// Returns the entries that `entryCount` counts, in no order, but no more than `limit`.
    func entries(of directory: ItemLocation?, atMost limit: Int = .max) -> [ItemLocation] {
        guard let directory = find(directory) else { return [] }
        var (found, entry) = ([ItemLocation](), nodes[directory].firstEntry)
        while entry != 0 && found.count < limit {
            if let location = location(of: entry) { found.append(location) }
            entry = nodes[entry].next
        }
        return found
    }

    /// Returns whether a location is an item, or has items below it.
    func contains(_ location: ItemLocation) -> Bool { find(location) != nil }

    /// Returns whether there are items below a location.
    func hasItems(below directory: ItemLocation) -> Bool {
        guard let node = find(directory), nodes[node].firstEntry != 0 else { return false }
        return Iterator(self, below: directory, node).hasNext()
    }

    /// Returns everything below a directory, the deepest first.
    func below(_ directory: ItemLocation) -> [ItemLocation] {
        guard let node = find(directory), nodes[node].firstEntry != 0 else { return [] }
        return IteratorSequence(Iterator(self, below: directory, node)).map(\.location).reversed()
    }

    // MARK: Changes

    mutating func set(_ item: Item, at location: ItemLocation, replacing: Bool = false) {
        let node = make(location)
        if replacing && nodes[node].isItem && nodes[node].firstEntry != 0 { noteReplaced(below: node) }
        if nodes[node].isItem { unlinkInode(node) } else { count += 1 }
        nodes[node].set(item)
        linkInode(node)
    }

    private mutating func noteReplaced(below directory: NodeNumber) {
        var next = [directory]
        while let node = next.popLast() {
            var entry = nodes[node].firstEntry
            while entry != 0 {
                nodes[entry].isReplaced = true
                next.append(entry)
                entry = nodes[entry].next
            }
        }
    }

    mutating func remove(_ location: ItemLocation) {
        guard let node = find(location) else { return }
        removeItem(of: node)
        prune(node)
    }

    mutating func removeTree(at location: ItemLocation) {
        guard let top = detach(location) else { return }
        var next = [top]
        while let node = next.popLast() {
            var entry = nodes[node].firstEntry
            while entry != 0 {
                next.append(entry)
                unlinkName(entry)
                entry = nodes[entry].next
            }
            free(node)
        }
    }

    /// Moves trees: each leaves its location before the first arrives, so two can be exchanged, and a directory cannot
    /// come into itself.
    mutating func moveTrees(_ moves: [(from: ItemLocation, to: ItemLocation)]) -> [Item?] {
        let detached = moves.map { detach($0.from) }
        let items = detached.map { $0.flatMap { nodes[$0].item } }
        for (top, move) in zip(detached, moves) {
            if let top { attach(top, at: move.to) }
        }
        return items
    }

    /// Adds the hash of a content that was read when the item's state was `seen`. Changes the hash alone, and only if
    /// the item still looks like that.
    mutating func learn(hash: UInt64, of location: ItemLocation, seen: ItemState) {
        guard let node = find(location), let state = nodes[node].item?.state, state.type == .file,
            state.looksLike(seen)
        else { return }
        (nodes[node].hasContentHash, nodes[node].contentHash) = (true, hash)
    }

    // MARK: Nodes

    private func find(_ location: ItemLocation?) -> NodeNumber? {
        guard let location else { return 0 }
        var node: NodeNumber = 0
        let isFound = location.withNames { name in
            node = entry(name, of: node)
            return node != 0
        }
        return isFound ? node : nil
    }

    /// Returns the node of a location; those that are missing are made, without items.
    private mutating func make(_ location: ItemLocation?) -> NodeNumber {
        guard let location else { return 0 }
        var node: NodeNumber = 0
        _ = location.withNames { name in
            var next = entry(name, of: node)
            if next == 0 {
                next = firstFree
                if next == 0 {
                    next = NodeNumber(nodes.count)
                    nodes.append(TreeNode())
                    growTables()
                } else {
                    firstFree = nodes[next].next
                    nodes[next] = TreeNode()
                }
                nodes[next].name = names.add(name)
                link(next, to: node)
            }
            node = next
            return true
        }
        return node
    }

    /// Returns the path of a node's item; nil if it is longer than a path may be, as after moves of directories.
    private func location(of node: NodeNumber) -> ItemLocation? {
        var (path, next) = ([NodeNumber](), node)
        while next != 0 {
            path.append(next)
            next = nodes[next].parent
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.reduce(0) { $0 + 1 + Int(nodes[$1].name.count) })
        for node in path.reversed() {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            names.append(nodes[node].name, to: &bytes)
        }
        return bytes.count > ItemLocation.longestPath ? nil : ItemLocation(trusted: bytes)
    }

    private func entry(_ name: Span<UInt8>, of directory: NodeNumber) -> NodeNumber {
        var node = byName[chain(ofName: name, in: directory)]
        while node != 0 {
            if nodes[node].parent == directory, names.isEqual(nodes[node].name, to: name) { return node }
            node = nodes[node].nextByName
        }
        return 0
    }

    /// Makes a node an entry of a directory, by the node's name.
    private mutating func link(_ node: NodeNumber, to directory: NodeNumber) {
        let first = nodes[directory].firstEntry
        (nodes[node].parent, nodes[node].next, nodes[node].previous) = (directory, first, 0)
        if first != 0 { nodes[first].previous = node }
        nodes[directory].firstEntry = node
        let chain = chain(ofName: node)
        nodes[node].nextByName = byName[chain]
        byName[chain] = node
    }

    private mutating func unlink(_ node: NodeNumber) {
        let (directory, next, previous) = (nodes[node].parent, nodes[node].next, nodes[node].previous)
        if previous == 0 { nodes[directory].firstEntry = next } else { nodes[previous].next = next }
        if next != 0 { nodes[next].previous = previous }
        unlinkName(node)
    }

    /// Takes the node of a location out of its directory, with everything below it.
    private mutating func detach(_ location: ItemLocation) -> NodeNumber? {
        guard let node = find(location), node != 0 else { return nil }
        let directory = nodes[node].parent
        unlink(node)
        prune(directory)
        return node
    }

    /// Puts a tree at a location. What stands there stays, where the tree has no item at the same location.
    private mutating func attach(_ top: NodeNumber, at location: ItemLocation) {
        var moves = [(node: top, target: make(location))]
        while let (node, target) = moves.popLast() {
            if nodes[target].firstEntry == 0 && (nodes[node].isItem || !nodes[target].isItem) {
                // Nothing of the old node is left: the new one takes its name and its location.
                removeItem(of: target)
                let (directory, name) = (nodes[target].parent, nodes[target].name)
                unlink(target)
                names.remove(nodes[node].name)
                nodes[node].name = name
                link(node, to: directory)
                release(target)
                continue
            }
            var entry = nodes[node].firstEntry
            while entry != 0 {
                let next = nodes[entry].next
                let name = nodes[entry].name
                unlinkName(entry)
                let there = names.with(name) { self.entry($0, of: target) }
                if there == 0 { link(entry, to: target) } else { moves.append((entry, there)) }
                entry = next
            }
            if let item = nodes[node].item {
                if nodes[target].isItem { unlinkInode(target) } else { count += 1 }
                nodes[target].set(item)
                nodes[target].isReplaced = nodes[node].isReplaced
                linkInode(target)
            }
            free(node)
        }
    }

    private mutating func removeItem(of node: NodeNumber) {
        guard nodes[node].isItem else { return }
        unlinkInode(node)
        nodes[node].type = 0
        count -= 1
    }

    /// Frees a node without an item and without entries, and then its directory, if that is such a node, too.
    private mutating func prune(_ node: NodeNumber) {
        var node = node
        while node != 0, !nodes[node].isItem, nodes[node].firstEntry == 0 {
            let directory = nodes[node].parent
            unlink(node)
            free(node)
            node = directory
        }
    }

    /// Frees a node that is in no directory any more.
    private mutating func free(_ node: NodeNumber) {
        removeItem(of: node)
        names.remove(nodes[node].name)
        release(node)
    }

    private mutating func release(_ node: NodeNumber) {
        nodes[node].next = firstFree
        firstFree = node
    }

    // MARK: Tables

    /// Random in each process, so that names cannot be chosen that share a chain.
    private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

    private func chain(ofName name: Span<UInt8>, in directory: NodeNumber) -> Int {
        let hash = SipHash(key: (Self.seed, UInt64(directory))).hash(name)
        return Int(truncatingIfNeeded: hash) & (byName.count - 1)
    }

    private func chain(ofName node: NodeNumber) -> Int {
        let directory = nodes[node].parent
        return names.with(nodes[node].name) { chain(ofName: $0, in: directory) }
    }

    private func chain(ofInode inode: UInt64) -> Int {
        Int(truncatingIfNeeded: (inode &* 0x9e37_79b9_7f4a_7c15) >> 32) & (byInode.count - 1)
    }

    private mutating func unlinkName(_ node: NodeNumber) {
        let (chain, next) = (chain(ofName: node), nodes[node].nextByName)
        var before = byName[chain]
        if before == node {
            byName[chain] = next
            return
        }
        while before != 0, nodes[before].nextByName != node { before = nodes[before].nextByName }
        nodes[before].nextByName = next
    }

    private mutating func linkInode(_ node: NodeNumber) {
        let chain = chain(ofInode: nodes[node].inode)
        nodes[node].nextByInode = byInode[chain]
        byInode[chain] = node
    }

    private mutating func unlinkInode(_ node: NodeNumber) {
        let (chain, next) = (chain(ofInode: nodes[node].inode), nodes[node].nextByInode)
        var before = byInode[chain]
        if before == node {
            byInode[chain] = next
            return
        }
        while before != 0, nodes[before].nextByInode != node { before = nodes[before].nextByInode }
        nodes[before].nextByInode = next
    }

    private func first(ofInode inode: UInt64) -> NodeNumber {
        var node = byInode[chain(ofInode: inode)]
        while node != 0, nodes[node].inode != inode { node = nodes[node].nextByInode }
        return node
    }

    /// Doubles the tables where there are more nodes than chains. The nodes of a chain keep their order, which is that
    /// of their records.
    private mutating func growTables() {
        if nodes.count <= byName.count { return }
        let (oldNames, oldInodes) = (byName, byInode)
        byName = Array(repeating: 0, count: oldNames.count * 2)
        byInode = byName
        for first in oldNames {
            var node = first
            while node != 0 {
                let next = nodes[node].nextByName
                let chain = chain(ofName: node)
                nodes[node].nextByName = byName[chain]
                byName[chain] = node
                node = next
            }
        }
        for first in oldInodes {
            var (chained, node) = ([NodeNumber](), first)
            while node != 0 {
                chained.append(node)
                node = nodes[node].nextByInode
            }
            for node in chained.reversed() { linkInode(node) }
        }
    }
}

extension TreeIndex: Sequence {
    /// Walks a tree in the order of the paths' bytes. (That is not the order of the names: `a-b` comes between `a` and
    /// `a/b`.)
    struct Iterator: IteratorProtocol {
        /// A node, or what is below it, as `a` and `a/` come at different positions of the order.
        private typealias Step = (node: NodeNumber, isBelow: Bool)
        private let tree: TreeIndex
        private var levels: [(steps: [Step], next: Int, pathCount: Int)] = []
        /// The path of the last level's directory, with a slash at its end.
        private var path: [UInt8]

        fileprivate init(_ tree: TreeIndex, below directory: ItemLocation? = nil, _ node: NodeNumber = 0) {
            self.tree = tree
            path = directory.map { $0.bytes + [UInt8(ascii: "/")] } ?? []
            enter(node)
        }

        private mutating func enter(_ directory: NodeNumber) {
            var (steps, node) = ([Step](), tree.nodes[directory].firstEntry)
            while node != 0 {
                if tree.nodes[node].isItem { steps.append((node, false)) }
                if tree.nodes[node].firstEntry != 0 { steps.append((node, true)) }
                node = tree.nodes[node].next
            }
            steps.sort { tree.isBefore($0, $1) }
            levels.append((steps, 0, path.count))
        }

        /// Returns whether anything is left.
        fileprivate consuming func hasNext() -> Bool { next() != nil }

        mutating func next() -> (location: ItemLocation, item: Item)? {
            while let level = levels.last {
                path.removeSubrange(level.pathCount...)
                if level.next == level.steps.count {
                    levels.removeLast()
                    continue
                }
                levels[levels.count - 1].next += 1
                let step = level.steps[level.next]
                tree.names.append(tree.nodes[step.node].name, to: &path)
                if path.count > ItemLocation.longestPath { continue }
                if step.isBelow {
                    path.append(UInt8(ascii: "/"))
                    enter(step.node)
                } else if let item = tree.nodes[step.node].item {
                    return (ItemLocation(trusted: path), item)
                }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }

    private func isBefore(
        _ left: (node: NodeNumber, isBelow: Bool), _ right: (node: NodeNumber, isBelow: Bool)
    ) -> Bool {
        names.with(nodes[left.node].name) { leftName in
            names.with(nodes[right.node].name) { rightName in
                let common = Swift.min(leftName.count, rightName.count)
                for index in 0..<common where leftName[index] != rightName[index] {
                    return leftName[index] < rightName[index]
                }
                // The shorter name is followed by its end, or by a slash.
                if leftName.count == rightName.count { return !left.isBelow && right.isBelow }
                if leftName.count < rightName.count { return !left.isBelow || UInt8(ascii: "/") < rightName[common] }
                return right.isBelow && leftName[common] < UInt8(ascii: "/")
            }
        }
    }
}
