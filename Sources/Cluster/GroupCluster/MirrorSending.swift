// Imports nothing: no file, clock or process.

/// The rules by which changes of the disk become changes of an entry. Each item of the disk is compared with its base.
///
///     disk                                       what is sent
///     x has no base                              create x
///     x is at y                                  move x to y
///     x has another content                      write x; a directory has no content of its own
///     x is gone                                  remove x
///     x is gone, and a new file is at x          write x: editors save a file by renaming a new one into place
///     x is at y, and a new item is at x          move x to y, create x; where both are found in one look, write x and
///                                                create y, as for an editor that keeps the old file
///     x and y have exchanged their paths         move x to a conflict name, move y to x, move x to y
///     d is new, and d/f in it                    create d, create d/f
///
/// A write, a removal and a move name the operation of the base, by which the rules of `ItemRules.swift` recognize that
/// another machine's change was first. Example: `list` was saved here and its base is the content of operation P, so
/// "write `list`, base P" is sent. The write replaces the content only while P is the last operation that has written
/// `list`.
extension ClusterMirror {
    /// Returns the changes of some items, with the changes that must precede them in the entry: those of new
    /// directories above them, and those of items whose paths they take. To be called while nothing is in flight. A
    /// result with a stale item must not be sent.
    package mutating func changes(
        of locals: [LocalItem], on disk: LocalTree, in tree: ClusterTree, operation: ClusterName
    ) -> (changes: [ClusterChange], sent: [SentItem]) {
        var draft = Draft(disk: disk, tree: tree, operation: operation)
        for local in locals { collect(local, &draft) }
        return (draft.changes, draft.sent)
    }

    /// Returns all items of the disk that differ from their bases, in an order in which they can be sent.
    package func differences(on disk: LocalTree) -> [LocalItem] {
        let missing = base.filter { disk[$0.value.local] == nil }
        let depths = missing.map { (depth: ancestors($0.key).count, local: $0.value.local) }
        let removed = depths.sorted { ($1.depth, $0.local) < ($0.depth, $1.local) }.map(\.local)
        let changed = disk.nodes.keys.filter { local in
            guard let item = items[local], let old = base[item], let here = disk[local] else { return true }
            return isMoved(here, old) || here.content != old.node.content && here.content.kind != .directory
        }
        return removed + changed.sorted()
    }

    /// Takes items that were put back for the items that were gone: an item without a base is at the path of an item
    /// whose file is missing. So an item that was put back is not sent as a new one.
    package mutating func takeBack(on disk: LocalTree, in tree: ClusterTree) {
        var directories: [LocalItem] = [.root]
        while let directory = directories.popLast() {
            guard let parent = directory == .root ? ItemName.root : items[directory] else { continue }
            for local in disk.children(of: directory) {
                guard let here = disk[local] else { continue }
                takeOver(local, here, in: parent, disk, tree)
                if here.content.kind == .directory { directories.append(local) }
            }
        }
    }

    /// Takes an item of the disk without a base for the item of the cluster with its path, if the file of that item is
    /// gone.
    private mutating func takeOver(
        _ local: LocalItem, _ here: LocalTree.Node, in parent: ItemName, _ disk: LocalTree, _ tree: ClusterTree
    ) {
        guard items[local] == nil, let item = tree.child(of: parent, here.name), let old = base[item],
            disk[old.local] == nil, old.node.content.kind == here.content.kind
        else { return }
        bind(item, Base(node: old.node, local: local))
    }

    /// The entry that is being made. `seen` are the items that were looked at, `open` those of them whose changes are
    /// not added yet, because others must precede them, `named` the names of items that the entry creates, and `lifted`
    /// the items that it moves to a conflict name first.
    private struct Draft {
        var disk: LocalTree
        var tree: ClusterTree
        var operation: ClusterName
        var seen: Set<LocalItem> = []
        var open: Set<LocalItem> = []
        var named: [LocalItem: ItemName] = [:]
        var lifted: Set<ItemName> = []
        var changes: [ClusterChange] = []
        var sent: [SentItem] = []
    }

    /// Adds the changes of an item, after those that must precede them.
    private mutating func collect(_ local: LocalItem, _ draft: inout Draft) {
        guard local != .root, draft.seen.insert(local).inserted else { return }
        draft.open.insert(local)
        defer { draft.open.remove(local) }
        guard let here = draft.disk[local] else {
            guard let item = items[local], let old = base[item] else { return }
            let parent = old.node.parent == .root ? LocalItem.root : base[old.node.parent]?.local
            // A new item of the same kind at its path is the same item, written. An item of another kind is created
            // behind the removal.
            if let parent, let other = draft.disk.child(of: parent, old.node.name), items[other] == nil,
                draft.disk[other]?.content.kind == old.node.content.kind
            {
                collect(other, &draft)
                if base[item]?.local != local { return }
            }
            add(.remove(base: old.node.version), item, local, self.ancestors(item), old.node.name, .removed, &draft)
            return
        }
        if here.parent != .root, items[here.parent] == nil { collect(here.parent, &draft) }
        let parent = here.parent == .root ? ItemName.root : items[here.parent] ?? draft.named[here.parent] ?? .root
        // Editors save a file by a new one with its name. The new file counts as a write of the item.
        takeOver(local, here, in: parent, draft.disk, draft.tree)
        if let other = draft.tree.child(of: parent, here.name), other != items[local], let old = base[other],
            draft.disk[old.local].map({ isMoved($0, old) }) ?? true
        {
            if draft.open.contains(old.local) { lift(other, old, &draft) } else { collect(old.local, &draft) }
        }
        let ancestors = draft.disk.ancestors(local).compactMap { above in
            (items[above] ?? draft.named[above]).flatMap { item in
                draft.disk[above].map { Ancestor(item, $0.name) }
            }
        }
        guard let item = items[local], let old = base[item] else {
            let item = ItemName(draft.operation, UInt16(truncatingIfNeeded: draft.changes.count))
            draft.named[local] = item
            let change = SentItem.Change.created(parent, here.name, here.content)
            add(.create(here.content), item, local, ancestors, here.name, change, &draft)
            return
        }
        if isMoved(here, old) {
            let base = draft.lifted.contains(item) ? draft.operation : old.node.placed
            add(.move(base: base), item, local, ancestors, here.name, .moved(parent, here.name), &draft)
        }
        if here.content != old.node.content, here.content.kind != .directory {
            let action = ItemChange.Action.write(here.content, base: old.node.version)
            add(action, item, local, ancestors, here.name, .written(here.content), &draft)
        }
    }

    /// Sends an item of a circle of moves to a conflict name first, so that its path is free for another one.
    private func lift(_ item: ItemName, _ old: Base, _ draft: inout Draft) {
        guard draft.lifted.insert(item).inserted, draft.disk[old.local] != nil else { return }
        let name = FileNames.conflict(old.node.name, draft.operation) { _ in false }
        add(
            .move(base: old.node.placed), item, old.local, ancestors(item), name, .moved(old.node.parent, name), &draft)
    }

    private func add(
        _ action: ItemChange.Action, _ item: ItemName, _ local: LocalItem, _ ancestors: [Ancestor], _ name: FileName,
        _ change: SentItem.Change, _ draft: inout Draft
    ) {
        draft.changes.append(.item(ItemChange(item, in: ancestors, name, action)))
        draft.sent.append(SentItem(item: item, local: local, change: change))
    }

    /// Returns whether an item of the disk has another path than in its base.
    private func isMoved(_ here: LocalTree.Node, _ old: Base) -> Bool {
        let parent = here.parent == .root ? ItemName.root : items[here.parent]
        return parent != old.node.parent || here.name != old.node.name
    }

    /// Returns the ancestor path of an item by its base. While items are stale, the bases may have circles.
    package func ancestors(_ item: ItemName) -> [Ancestor] {
        var ancestors: [Ancestor] = []
        var seen: Set<ItemName> = [item]
        var next = base[item]?.node.parent
        while let directory = next, let above = base[directory]?.node, seen.insert(directory).inserted {
            ancestors.append(Ancestor(directory, above.name))
            next = above.parent
        }
        return ancestors.reversed()
    }
}
