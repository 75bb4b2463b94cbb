// Imports nothing: no file, clock or process.

/// The directory of each watch. A watch stays with its directory when that is moved, and so do those of the directories
/// in it: each is stored by its name in the directory around it, so a move is one step, however much moves with it.
///
/// After events were lost, a location may be out of date until its directory is listed again. A location is therefore
/// only used as a hint where to look.
struct WatchTable: Equatable, Sendable {
    private struct Node: Equatable, Sendable {
        var parent: Int?
        var name: [UInt8]
        /// The directory's watch; nil for a directory that is not watched, but contains one that is.
        var watch: Int32?
        var inode: UInt64
    }

    /// A directory that was renamed away, with those in it, to a location that is not known yet.
    struct Detached: Equatable, Sendable {
        fileprivate var node: Int
        var inode: UInt64
    }

    private var nodes: [Int: Node] = [0: Node(parent: nil, name: [], watch: nil, inode: 0)]
    /// The directories in each directory, by name, without those that were detached or replaced.
    private var entries: [Int: [[UInt8]: Int]] = [:]
    private var numbered: [Int32: Int] = [:]
    /// Directories whose place another one took before an event reported that they had left: the kernel reports an
    /// exchange as two renames, one after the other.
    private var replaced: [Int: [[UInt8]: Int]] = [:]
    private var last = 0
    /// Watches of directories that are containers themselves.
    private var closed: Set<Int32> = []

    func isWatched(_ watch: Int32) -> Bool { numbered[watch] != nil }
    func inode(at location: ItemLocation) -> UInt64? { find(location).flatMap { nodes[$0]?.inode } }
    var numbers: [Int32] { Array(numbered.keys) }

    /// Returns the location of a watch's directory, nil inside for the root; nil if there is no such watch. Linear in
    /// the depth.
    func location(of watch: Int32) -> ItemLocation?? {
        guard var node = numbered[watch] else { return nil }
        var names: [[UInt8]] = []
        while let known = nodes[node], let parent = known.parent {
            names.append(known.name)
            node = parent
        }
        if names.isEmpty { return .some(nil) }
        return (try? ItemLocation(Array(names.reversed().joined(separator: [UInt8(ascii: "/")])))).map { .some($0) }
    }

    /// Notes that a directory was found, and watched, at a location.
    mutating func set(_ watch: Int32, _ location: ItemLocation?, inode: UInt64) {
        guard let location else {
            if let other = numbered[watch], other != 0 { drop(other) }
            nodes[0]?.watch = watch
            nodes[0]?.inode = inode
            numbered[watch] = 0
            return
        }
        let parent = node(at: location.parent)
        let here = entries[parent]?[location.name]
        if let known = numbered[watch] {
            nodes[known]?.inode = inode
            if known == here || known == 0 || isInside(parent, known) { return }
            unlink(known)
            link(known, parent, location.name)
            return
        }
        if let here, nodes[here]?.watch == nil {
            nodes[here]?.watch = watch
            nodes[here]?.inode = inode
            numbered[watch] = here
            return
        }
        link(make(watch, inode), parent, location.name)
    }

    /// Notes whether a watch's directory is a container itself. Returns the watches of the directories in it that are
    /// of no use then.
    mutating func close(_ watch: Int32, _ isContainer: Bool) -> [Int32] {
        guard isContainer, let node = numbered[watch] else {
            closed.remove(watch)
            return []
        }
        closed.insert(watch)
        return [entries[node], replaced[node]].flatMap { ($0 ?? [:]).values.map { $0 } }.flatMap { drop($0) }
    }

    func isClosed(_ watch: Int32) -> Bool { closed.contains(watch) }

    /// Notes that a watch has ended: its directory is gone.
    mutating func end(_ watch: Int32) {
        closed.remove(watch)
        guard let node = numbered.removeValue(forKey: watch) else { return }
        nodes[node]?.watch = nil
        if node != 0 && entries[node] == nil { drop(node) }
    }

    /// Notes that a directory was renamed away; nil if it is not in the table.
    mutating func detach(_ location: ItemLocation) -> Detached? {
        let parent = location.parent.flatMap(find) ?? (location.parent == nil ? 0 : nil)
        guard let parent else { return nil }
        let name = location.name
        let old = replaced[parent]?.removeValue(forKey: name)
        guard let node = old ?? entries[parent]?.removeValue(forKey: name), let known = nodes[node] else { return nil }
        return Detached(node: node, inode: known.inode)
    }

    /// Notes where a detached directory went. Constant time, apart from the depth.
    mutating func attach(_ directory: Detached, at goal: ItemLocation) {
        let parent = node(at: goal.parent)
        guard let known = nodes[directory.node], !isInside(parent, directory.node) else { return }
        // The directory may have been found somewhere since.
        if let before = known.parent, entries[before]?[known.name] == directory.node { return }
        link(directory.node, parent, goal.name)
    }

    /// Removes a directory that left the container. Returns its watch and those in it, unless the directory was found
    /// somewhere since.
    mutating func remove(_ directory: Detached) -> [Int32] {
        guard let known = nodes[directory.node], let parent = known.parent,
            entries[parent]?[known.name] != directory.node
        else { return [] }
        return drop(directory.node)
    }

    /// Removes the replaced directories that no event reported as having left: they are gone. Returns their watches and
    /// those in them, with their last locations. A directory that was found in another one before that was replaced may
    /// still be there.
    mutating func forgetReplaced() -> [(watch: Int32, location: ItemLocation?)] {
        let left = replaced.values.flatMap(\.values)
        replaced = [:]
        return left.flatMap { top in
            let inner = watches(within: top).map { ($0, location(of: $0) ?? nil) }
            drop(top)
            return inner
        }
    }

    private func watches(within top: Int) -> [Int32] {
        var (found, next) = ([Int32](), [top])
        while let node = next.popLast() {
            next += (entries[node] ?? [:]).values
            if let watch = nodes[node]?.watch { found.append(watch) }
        }
        return found
    }

    // MARK: Nodes

    private func find(_ location: ItemLocation) -> Int? {
        var node = 0
        for name in location.components {
            guard let next = entries[node]?[Array(name)] else { return nil }
            node = next
        }
        return node
    }

    /// Returns the node at a location. Nodes that are missing are made, without a watch.
    private mutating func node(at location: ItemLocation?) -> Int {
        var node = 0
        for name in location?.components ?? [] {
            let name = Array(name)
            if let next = entries[node]?[name] {
                node = next
            } else {
                let next = make(nil, 0)
                link(next, node, name)
                node = next
            }
        }
        return node
    }

    private mutating func make(_ watch: Int32?, _ inode: UInt64) -> Int {
        last += 1
        nodes[last] = Node(parent: nil, name: [], watch: watch, inode: inode)
        if let watch { numbered[watch] = last }
        return last
    }

    private mutating func link(_ node: Int, _ parent: Int, _ name: [UInt8]) {
        nodes[node]?.parent = parent
        nodes[node]?.name = name
        if let before = entries[parent, default: [:]].updateValue(node, forKey: name), before != node {
            if let older = replaced[parent, default: [:]].updateValue(before, forKey: name) { drop(older) }
        }
    }

    private mutating func unlink(_ node: Int) {
        guard let known = nodes[node], let parent = known.parent else { return }
        if entries[parent]?[known.name] == node { entries[parent]?[known.name] = nil }
        if replaced[parent]?[known.name] == node { replaced[parent]?[known.name] = nil }
        if entries[parent]?.isEmpty == true { entries[parent] = nil }
    }

    private func isInside(_ node: Int, _ top: Int) -> Bool {
        var node: Int? = node
        while let present = node {
            if present == top { return true }
            node = nodes[present]?.parent
        }
        return false
    }

    /// Removes a node with everything in it. Returns the watches that end by that.
    @discardableResult
    private mutating func drop(_ top: Int) -> [Int32] {
        unlink(top)
        var (watches, next) = ([Int32](), [top])
        while let node = next.popLast() {
            next += (entries.removeValue(forKey: node) ?? [:]).values
            next += (replaced.removeValue(forKey: node) ?? [:]).values
            guard let watch = nodes.removeValue(forKey: node)?.watch else { continue }
            numbered[watch] = nil
            closed.remove(watch)
            watches.append(watch)
        }
        return watches
    }
}
