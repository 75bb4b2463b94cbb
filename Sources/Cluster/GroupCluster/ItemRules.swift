// Imports nothing: no file, clock or process.

// The rules for changes of items. Each returns true if its change was made as it was meant. Otherwise a strict change
// has changed nothing that counts (its entry is rolled back), and a local-first one has kept its content all the same.
extension ClusterTree {
    mutating func change(_ change: ItemChange, _ operation: ClusterName, part: UInt16, isStrict: Bool) -> Bool {
        switch change.action {
        case .create(let content):
            if nodes[change.item] != nil { return false }
            return add(change, content, operation, isStrict: isStrict)
        case .write(let content, let base):
            return write(change, content, base: base, operation, part: part, isStrict: isStrict)
        case .move(let base):
            return move(change, base: base, operation, isStrict: isStrict)
        case .remove(let base):
            return remove(change, base: base)
        case .check(let base):
            return check(change, base: base, operation)
        }
    }

    /// Returns whether the item is at its place with its base as its version; with `.zero`, whether nothing is there.
    private mutating func check(_ change: ItemChange, base: ClusterName, _ operation: ClusterName) -> Bool {
        guard let parent = directory(change.line, operation, isStrict: true) else { return base == .zero }
        let other = child(of: parent, change.name)
        if base == .zero { return other == nil }
        return other == change.item && nodes[change.item]?.version == base
    }

    /// Adds an item at the end of its line. Who comes later gets the conflict name; two directories become one, and
    /// equal contents need no copy.
    private mutating func add(_ change: ItemChange, _ content: ItemContent, _ operation: ClusterName, isStrict: Bool)
        -> Bool
    {
        guard let parent = directory(change.line, operation, isStrict: isStrict) else { return false }
        if let other = child(of: parent, change.name), !isStrict {
            let stands = nodes[other]?.content
            if stands == content || stands?.kind == .directory && content.kind == .directory { return true }
        }
        return place(
            change.item, parent, change.name, isStrict: isStrict,
            Node(parent, change.name, placed: operation, content, version: operation))
    }

    private mutating func write(
        _ change: ItemChange, _ content: ItemContent, base: ClusterName, _ operation: ClusterName, part: UInt16,
        isStrict: Bool
    ) -> Bool {
        guard var node = nodes[change.item] else {
            // The item was removed: a modification beats a deletion.
            if isStrict { return false }
            return add(change, content, operation, isStrict: false)
        }
        // A strict write of a directory only makes sure that the directory stands. It changes nothing, so that two machines that
        // do this at once do not conflict.
        if content.kind == .directory && node.content == content { return true }
        if node.version == base, node.content.kind == content.kind {
            (node.content, node.version) = (content, operation)
            put(change.item, node)
            return true
        }
        if node.content == content && !isStrict { return true }
        if isStrict || content.kind == .directory { return false }
        let copy = ItemName(operation, ItemName.firstCopy | part)
        if nodes[copy] != nil { return false }
        (node.placed, node.content, node.version) = (operation, content, operation)
        _ = place(copy, node.parent, node.name, isStrict: false, node)
        return false
    }

    private mutating func move(_ change: ItemChange, base: ClusterName, _ operation: ClusterName, isStrict: Bool)
        -> Bool
    {
        guard var node = nodes[change.item], node.placed == base,
            let parent = directory(change.line, operation, isStrict: isStrict), !isWithin(parent, change.item)
        else { return false }
        node.placed = operation
        return place(change.item, parent, change.name, isStrict: isStrict, node)
    }

    /// Removes an item whose content is the base, and that has no children.
    private mutating func remove(_ change: ItemChange, base: ClusterName) -> Bool {
        guard let node = nodes[change.item] else { return true }
        if node.version != base || !isEmpty(change.item) { return false }
        put(change.item, nil)
        return true
    }

    /// Puts an item at a place, or, if another one stands there, under its conflict name beside it.
    private mutating func place(
        _ item: ItemName, _ parent: ItemName, _ name: FileName, isStrict: Bool, _ node: Node
    ) -> Bool {
        var node = node
        // No honest machine has such an item.
        if !hasRoom(in: parent, for: item) { return false }
        (node.parent, node.name) = (parent, name)
        let other = child(of: parent, name)
        let isFree = other == nil || other == item
        if !isFree {
            if isStrict { return false }
            node.name = FileNames.conflict(name, node.placed) { taken in
                child(of: parent, taken).map { $0 != item } ?? false
            }
        }
        put(item, node)
        return isFree
    }

    /// Returns the directory at the end of a line: by its name as an item, wherever it is now; else the directory that
    /// has its place. What is missing was removed, and is made anew, but for a strict entry.
    private mutating func directory(_ line: [Ancestor], _ operation: ClusterName, isStrict: Bool) -> ItemName? {
        var parent = ItemName.root
        for ancestor in line {
            if nodes[ancestor.item] != nil {
                // No honest machine takes a file for a directory; the rest of the line is kept all the same.
                if isDirectory(ancestor.item) { parent = ancestor.item } else if isStrict { return nil }
            } else if let other = child(of: parent, ancestor.name), isDirectory(other) {
                parent = other
            } else {
                if isStrict { return nil }
                let content = ItemContent(.directory, mode: 0o755)
                _ = place(
                    ancestor.item, parent, ancestor.name, isStrict: false,
                    Node(parent, ancestor.name, placed: operation, content, version: operation))
                if nodes[ancestor.item] == nil { return nil }
                parent = ancestor.item
            }
        }
        return parent
    }
}
