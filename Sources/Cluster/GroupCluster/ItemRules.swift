// Imports nothing: no file, clock or process.

// The rules for changes of items: which of two changes wins, and what becomes of the other.
//
// Machines A and B start from the same tree, and each makes a change without the change of the other. A's change is
// first in the log. The entries are local-first: each machine has made its change on its own disk before it sends the
// entry. The table has the state of all machines after B's entry:
//
//     A (first)        B (later)                 result
//     creates x        creates x                 A's x keeps the path; B's becomes `x (conflict OPERATION)`
//     creates x        creates a directory x     the same: B's directory gets the conflict name, with its items
//     creates x        creates an equal x        one x; two directories become one, too
//     writes x         writes x                  A's content; B's content is beside it, as `x (conflict OPERATION)`
//     writes x         writes the same           one x with that content, and A's mode
//     writes x         removes x                 x with A's content: a modification beats a removal
//     removes x        writes x                  x with B's content, made anew with its directories
//     removes x        moves x to z              x is removed: a move is no modification
//     changes x's mode writes x                  A's mode; B's content is beside it: a mode counts as a write
//     moves x to y     writes x                  y with B's content: a write follows its item
//     moves x to y     removes x                 y is removed
//     moves x to y     moves x to z              y: the first move counts, B's is undone on B
//     creates y        moves x to y              A's y keeps the path; x becomes `y (conflict OPERATION)`
//     moves d to e     writes d/f, creates d/g   e/f, e/g: items follow their directory
//     removes d        writes d/f, creates d/g   d is made anew
//     creates d/g      removes d                 d stays, since it is not empty
//     moves a to b/a   moves b to a/b            b/a: the later move would make a circle, and is undone on B
//
// Example: both write `plan.txt`. All machines then have A's content as `plan.txt`, and B's as a new item `plan
// (conflict OPERATION).txt`. OPERATION is the name of B's operation, so that every machine gives the same name to the
// copy. Each write and each removal names its *base*: the operation that made the content which its machine had before
// (`version`). A move names the operation that had put the item at its path (`placed`). If the tree has another
// operation there, the change of another machine was first.
//
// A strict entry is made as a whole or not at all, and on no disk before it is in the log. If one of its changes finds
// another version, a taken path or a missing directory, the entry is rolled back and changes nothing on any machine.
//
// Each function returns true if its change was made as it was meant.
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

    /// Returns whether the item is at its path with the base as its version; with `.zero`, whether the path is free.
    private mutating func check(_ change: ItemChange, base: ClusterName, _ operation: ClusterName) -> Bool {
        guard let parent = directory(change.ancestors, operation, isStrict: true) else { return base == .zero }
        let other = child(of: parent, change.name)
        if base == .zero { return other == nil }
        return other == change.item && nodes[change.item]?.version == base
    }

    /// Adds an item at the end of its ancestor path. If the path is taken, the item gets a conflict name. Two
    /// directories become one, and equal contents need no copy.
    private mutating func add(_ change: ItemChange, _ content: ItemContent, _ operation: ClusterName, isStrict: Bool)
        -> Bool
    {
        guard let parent = directory(change.ancestors, operation, isStrict: isStrict) else { return false }
        if let other = child(of: parent, change.name), !isStrict {
            let stands = nodes[other]?.content
            if stands?.isSame(as: content) == true { return true }
        }
        return put(
            change.item, parent, change.name, isStrict: isStrict,
            Node(parent, change.name, placed: operation, content, version: operation))
    }

    private mutating func write(
        _ change: ItemChange, _ content: ItemContent, base: ClusterName, _ operation: ClusterName, part: UInt16,
        isStrict: Bool
    ) -> Bool {
        guard var node = nodes[change.item] else {
            // The item was removed: a modification beats a removal.
            if isStrict { return false }
            return add(change, content, operation, isStrict: false)
        }
        // A strict write of a directory only makes sure that the directory is there. The write changes nothing, so two
        // machines that do this at once do not conflict.
        if content.kind == .directory && node.content == content { return true }
        if node.version == base, node.content.kind == content.kind {
            (node.content, node.version) = (content, operation)
            put(change.item, node)
            return true
        }
        if isStrict { return false }
        if node.content.isSame(as: content) { return true }
        if content.kind == .directory { return false }
        let copy = ItemName(operation, ItemName.firstCopy | part)
        if nodes[copy] != nil { return false }
        (node.placed, node.content, node.version) = (operation, content, operation)
        _ = put(copy, node.parent, node.name, isStrict: false, node)
        return false
    }

    private mutating func move(_ change: ItemChange, base: ClusterName, _ operation: ClusterName, isStrict: Bool)
        -> Bool
    {
        // A circle is found before missing directories are made: a move that is refused changes nothing.
        guard var node = nodes[change.item], node.placed == base,
            !isWithin(resolve(change.ancestors).last, change.item),
            let parent = directory(change.ancestors, operation, isStrict: isStrict)
        else { return false }
        node.placed = operation
        return put(change.item, parent, change.name, isStrict: isStrict, node)
    }

    /// Removes an item if its content is the base and it has no children.
    private mutating func remove(_ change: ItemChange, base: ClusterName) -> Bool {
        guard let node = nodes[change.item] else { return true }
        if node.version != base || !isEmpty(change.item) { return false }
        put(change.item, nil)
        return true
    }

    /// Puts an item at a path. If another item is there, puts it beside that one, with a conflict name.
    private mutating func put(
        _ item: ItemName, _ parent: ItemName, _ name: FileName, isStrict: Bool, _ node: Node
    ) -> Bool {
        var node = node
        // No correct machine sends an item that is too deep.
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

    /// Returns the directory at the end of an ancestor path. A missing one was removed, and is made anew, except for a
    /// strict entry, which gets nil.
    private mutating func directory(_ ancestors: [Ancestor], _ operation: ClusterName, isStrict: Bool) -> ItemName? {
        let (last, missing, isWhole) = resolve(ancestors)
        if isStrict { return isWhole ? last : nil }
        var parent = last
        for ancestor in missing {
            let content = ItemContent(.directory, mode: 0o755)
            _ = put(
                ancestor.item, parent, ancestor.name, isStrict: false,
                Node(parent, ancestor.name, placed: operation, content, version: operation))
            if nodes[ancestor.item] == nil { return nil }
            parent = ancestor.item
        }
        return parent
    }

    /// Returns the last directory of an ancestor path that is in the tree, and the directories below it, which are
    /// missing. Each directory is found by its `ItemName`, wherever it is now; or else by its path. `isWhole` is
    /// false if a directory of the path was removed, or is a file. No correct machine sends a file as a directory; a
    /// local-first entry passes over the file.
    private func resolve(_ ancestors: [Ancestor]) -> (last: ItemName, missing: [Ancestor], isWhole: Bool) {
        var (last, missing, isWhole) = (ItemName.root, [Ancestor](), true)
        for ancestor in ancestors {
            if isDirectory(ancestor.item) {
                (last, missing) = (ancestor.item, [])
            } else if nodes[ancestor.item] != nil {
                isWhole = false
            } else if missing.isEmpty, let other = child(of: last, ancestor.name), isDirectory(other) {
                last = other
            } else {
                isWhole = false
                missing.append(ancestor)
            }
        }
        return (last, missing, isWhole)
    }
}
