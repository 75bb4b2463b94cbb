// Imports nothing: no file, clock or process.

extension ClusterMirror {
    /// Returns what is to be sent of items of the disk, with what must be sent before them: directories above them that
    /// are new, and items whose places they take. To be called when nothing is in flight and none of the result is stale.
    package mutating func changes(
        of locals: [LocalItem], on disk: LocalTree, in tree: ClusterTree, operation: ClusterName
    ) -> (changes: [ClusterChange], sent: [SentItem]) {
        var draft = Draft(disk: disk, tree: tree, operation: operation)
        for local in locals { collect(local, &draft) }
        return (draft.changes, draft.sent)
    }

    /// Returns all items of the disk that differ from the base, in an order in which they can be sent.
    package func differences(on disk: LocalTree) -> [LocalItem] {
        let gone = base.filter { disk[$0.value.local] == nil }
        let depths = gone.map { (depth: line($0.key).count, local: $0.value.local) }
        let removed = depths.sorted { ($1.depth, $0.local) < ($0.depth, $1.local) }.map(\.local)
        let changed = disk.nodes.keys.filter { local in
            guard let item = items[local], let old = base[item], let here = disk[local] else { return true }
            return isMoved(here, old) || here.content != old.node.content && here.content.kind != .directory
        }
        return removed + changed.sorted()
    }

    /// Takes items of the disk that stand where items of the base are gone for those: what was put back is no new item.
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

    private mutating func takeOver(
        _ local: LocalItem, _ here: LocalTree.Node, in parent: ItemName, _ disk: LocalTree, _ tree: ClusterTree
    ) {
        guard items[local] == nil, let item = tree.child(of: parent, here.name), let old = base[item],
            disk[old.local] == nil, old.node.content.kind == here.content.kind
        else { return }
        bind(item, Base(node: old.node, local: local))
    }

    private struct Draft {
        var disk: LocalTree
        var tree: ClusterTree
        var operation: ClusterName
        var seen: Set<LocalItem> = []
        var named: [LocalItem: ItemName] = [:]
        var lifted: Set<ItemName> = []
        var changes: [ClusterChange] = []
        var sent: [SentItem] = []
    }

    private mutating func collect(_ local: LocalItem, _ draft: inout Draft) {
        guard local != .root, draft.seen.insert(local).inserted else { return }
        guard let here = draft.disk[local] else {
            guard let item = items[local], let old = base[item] else { return }
            let parent = old.node.parent == .root ? LocalItem.root : base[old.node.parent]?.local
            if let parent, let other = draft.disk.child(of: parent, old.node.name), items[other] == nil {
                collect(other, &draft)
                if base[item]?.local != local { return }
            }
            add(.remove(base: old.node.version), item, local, line(item), old.node.name, .removed, &draft)
            return
        }
        if here.parent != .root, items[here.parent] == nil { collect(here.parent, &draft) }
        let parent = here.parent == .root ? ItemName.root : items[here.parent] ?? draft.named[here.parent] ?? .root
        // A file was replaced by another one under its name, as editors do: that is a write.
        takeOver(local, here, in: parent, draft.disk, draft.tree)
        if let other = draft.tree.child(of: parent, here.name), other != items[local], let old = base[other],
            draft.disk[old.local].map({ isMoved($0, old) }) ?? true
        {
            if draft.seen.contains(old.local) { lift(other, old, &draft) } else { collect(old.local, &draft) }
        }
        let line = draft.disk.ancestors(local).compactMap { above in
            (items[above] ?? draft.named[above]).flatMap { item in
                draft.disk[above].map { Ancestor(item, $0.name) }
            }
        }
        guard let item = items[local], let old = base[item] else {
            let item = ItemName(draft.operation, UInt16(truncatingIfNeeded: draft.changes.count))
            draft.named[local] = item
            let change = SentItem.Change.created(parent, here.name, here.content)
            add(.create(here.content), item, local, line, here.name, change, &draft)
            return
        }
        if isMoved(here, old) {
            let base = draft.lifted.contains(item) ? draft.operation : old.node.placed
            add(.move(base: base), item, local, line, here.name, .moved(parent, here.name), &draft)
        }
        if here.content != old.node.content, here.content.kind != .directory {
            let action = ItemChange.Action.write(here.content, base: old.node.version)
            add(action, item, local, line, here.name, .written(here.content), &draft)
        }
    }

    /// Sends an item that takes part in an exchange of places to a name of its own first.
    private func lift(_ item: ItemName, _ old: Base, _ draft: inout Draft) {
        guard draft.lifted.insert(item).inserted, draft.disk[old.local] != nil else { return }
        let name = FileNames.conflict(old.node.name, draft.operation) { _ in false }
        add(
            .move(base: old.node.placed), item, old.local, line(item), name, .moved(old.node.parent, name), &draft)
    }

    private func add(
        _ action: ItemChange.Action, _ item: ItemName, _ local: LocalItem, _ line: [Ancestor], _ name: FileName,
        _ change: SentItem.Change, _ draft: inout Draft
    ) {
        draft.changes.append(.item(ItemChange(item, in: line, name, action)))
        draft.sent.append(SentItem(item: item, local: local, change: change))
    }

    /// Returns whether an item of the disk is elsewhere than in the base.
    private func isMoved(_ here: LocalTree.Node, _ old: Base) -> Bool {
        let parent = here.parent == .root ? ItemName.root : items[here.parent]
        return parent != old.node.parent || here.name != old.node.name
    }

    /// Returns the line of an item of the base. While something is stale, the base may have circles.
    func line(_ item: ItemName) -> [Ancestor] {
        var line: [Ancestor] = []
        var seen: Set<ItemName> = [item]
        var place = base[item]?.node.parent
        while let directory = place, let above = base[directory]?.node, seen.insert(directory).inserted {
            line.append(Ancestor(directory, above.name))
            place = above.parent
        }
        return line.reversed()
    }
}
