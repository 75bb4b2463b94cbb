// Imports nothing: no file, clock or process.

/// The rules by which changes of the cluster are applied to a disk that has unsent changes of its own. Three states of
/// an item are compared: the cluster's, the base's and the disk's.
///
///     cluster             disk                        what is done
///     has a new x         nothing at x                x is made
///     has a new x         an equal x, or both are     nothing: the item here is taken over as x
///                         directories
///     has a new x         another item at x           the item here becomes `x (conflict OPERATION)`, then x is made
///     has an equal x of   x                           nothing: the item here is taken over as the other x
///     another machine
///     has moved x to y    x, or moved to z here       x is moved to y: the cluster's path wins
///     has moved x to y    another item at y           the item here becomes `y (conflict OPERATION)`, then x is moved
///     has written x       x as in the base            the content is exchanged
///     has written x       x was written here          exchanged; the content here becomes `x (conflict OPERATION)`
///     has written x       x has another mode here     exchanged; the mode stays, and is sent as a write
///     has another mode    x was written here          x gets the mode; the content stays, and is sent as a write
///     has another mode    x has another mode here     the cluster's mode
///     has written x       x was removed here          x is made again: a modification beats a removal
///     has not written x   x was removed here          nothing: the removal is still to be sent
///     has removed x       x as in the base            x is removed
///     has removed x       x was written here          x stays, and is sent as a new item
///     has removed d       d/new was made here         d stays, and is sent as a new item with d/new
///
/// Example: `list` was edited here and is not sent yet when another machine's `list` arrives. The other content takes
/// the path, and the one from here becomes `list (conflict OPERATION)`, a new item that is sent to all machines.
///
/// These rules and those of `ItemRules.swift` have the same results, so that a change that was sent and one that was
/// not end alike. There are two exceptions. A changed mode and a written content are merged here only: in the log, both
/// are writes. And OPERATION is a random name here.
///
/// An item that gets a conflict name here is sent with that name. An item of the entry in flight is not touched: the
/// log decides first about the change that was sent (see `ItemRules.swift`).
extension ClusterMirror {
    private enum Plan {
        case done
        /// An item that must not be touched now is in the way: it is in flight or deferred.
        case blocked
        case step(MirrorStep)
    }

    /// Returns the next step that brings the disk to the cluster's tree. Returns nil if nothing is left but items that
    /// cannot be changed now.
    ///
    /// `deferred` are the items that are in use, or whose content is not here yet. `fresh` is a random name for
    /// conflict names.
    package mutating func nextStep(
        to tree: ClusterTree, on disk: LocalTree, inFlight: [SentItem], deferred: Set<ItemName> = [],
        fresh: ClusterName
    ) -> MirrorStep? {
        let work = work(to: tree, on: disk, inFlight: inFlight, deferred: deferred, fresh: fresh)
        // A blocked item goes to the end of the worklist, so that the next search begins with the others.
        for _ in 0..<stale.count {
            guard let item = stale.first else { return nil }
            switch plan(item, work) {
            case .step(let step): return step
            case .done: continue
            case .blocked: if stale.contains(item) { stale.insert(item) }
            }
        }
        return nil
    }

    /// Takes over the items of the disk that are as in the cluster's tree, without making a step: these stay to be made.
    /// Linear in the stale items.
    package mutating func takeOver(
        from tree: ClusterTree, on disk: LocalTree, inFlight: [SentItem], deferred: Set<ItemName>, fresh: ClusterName
    ) {
        let work = work(to: tree, on: disk, inFlight: inFlight, deferred: deferred, fresh: fresh)
        for item in stale.elements { _ = plan(item, work) }
    }

    private func work(
        to tree: ClusterTree, on disk: LocalTree, inFlight: [SentItem], deferred: Set<ItemName>, fresh: ClusterName
    ) -> Work {
        var work = Work(
            tree: tree, disk: disk, items: deferred.union(inFlight.map(\.item)), locals: Set(inFlight.map(\.local)),
            fresh: fresh)
        for item in deferred { if let old = base[item] { work.locals.insert(old.local) } }
        return work
    }

    /// The input of a plan. `items` and `locals` are those that must not be touched now: they are in flight or
    /// deferred.
    private struct Work {
        var tree: ClusterTree
        var disk: LocalTree
        var items: Set<ItemName>
        var locals: Set<LocalItem>
        var fresh: ClusterName
    }

    /// Plans the next step for an item. An item that needs no step is not stale any more.
    private mutating func plan(_ item: ItemName, _ work: Work) -> Plan {
        if work.items.contains(item) { return .blocked }
        let plan = work.tree[item].map { bring(item, to: $0, work) } ?? removal(item, work)
        if case .done = plan { stale.remove(item) }
        return plan
    }

    /// Plans the removal of an item that the cluster does not have. An item that differs from its base stays, as a new
    /// item.
    private mutating func removal(_ item: ItemName, _ work: Work) -> Plan {
        guard let old = base[item] else { return .done }
        guard let here = work.disk[old.local] else {
            bind(item, nil)
            return .done
        }
        if let other = successor(of: here, work), let node = work.tree[other] {
            bind(item, nil)
            return bring(other, to: node, work)
        }
        if here.content.kind == .directory {
            for child in work.disk.children(of: old.local) {
                if work.locals.contains(child) { return .blocked }
                if let childItem = items[child], stale.contains(childItem) {
                    let plan = plan(childItem, work)
                    if case .done = plan { continue }
                    return plan
                }
                bind(item, nil)
                look(at: old.local)
                return .done
            }
            // The children that are still here were given up above, and are new items. The directory is kept for them,
            // as a new item.
            if work.disk.children(of: old.local).isEmpty { return .step(.remove(old.local, expected: here.content)) }
            bind(item, nil)
            look(at: old.local)
            return .done
        }
        if here.content == old.node.content { return .step(.remove(old.local, expected: here.content)) }
        bind(item, nil)
        look(at: old.local)
        return .done
    }

    /// Returns the item of the cluster that has taken the path of an item of this machine and is the same. Two machines
    /// have made an equal item, and the other machine's was first.
    private func successor(of here: LocalTree.Node, _ work: Work) -> ItemName? {
        guard let parent = here.parent == .root ? ItemName.root : items[here.parent],
            let other = work.tree.child(of: parent, here.name), base[other] == nil,
            work.tree[other]?.content.isSame(as: here.content) == true
        else { return nil }
        return other
    }

    /// Plans an item of the cluster: first its directory, then its path, then its content.
    private mutating func bring(_ item: ItemName, to node: ClusterTree.Node, _ work: Work) -> Plan {
        let isGone = base[item].map { work.disk[$0.local] == nil } ?? false
        if isGone && base[item]?.node.version == node.version {
            // The item was removed here, which is still to be sent. Its directory may be gone as well, and is not made
            // for it.
            edit(item) { $0 = node }
            return .done
        }
        if node.parent != .root {
            if let old = base[node.parent], work.disk[old.local] == nil { bind(node.parent, nil) }
            if stale.contains(node.parent) || base[node.parent] == nil {
                let plan = plan(node.parent, work)
                guard case .done = plan else { return plan }
            }
        }
        guard let directory = local(node.parent) else { return .blocked }
        if isGone { bind(item, nil) }
        guard let old = base[item], let here = work.disk[old.local] else {
            return make(item, node, in: directory, work)
        }
        if (old.node.parent, old.node.name) != (node.parent, node.name),
            (here.parent, here.name) != (directory, node.name)
        {
            return move(old.local, node, to: directory, work)
        }
        edit(item) { ($0.parent, $0.name, $0.placed) = (node.parent, node.name, node.placed) }
        if old.node.version != node.version, here.content.kind != .directory {
            var new = node.content
            if here.content.isSame(as: old.node.content) {
                // A mode that was changed on this machine only stays, and is sent afterwards.
                if node.content.mode == old.node.content.mode { new.mode = here.content.mode }
            } else if node.content.isSame(as: old.node.content) {
                // So does a content, if the cluster has changed the mode only.
                new.digest = here.content.digest
            }
            if here.content != new {
                let aside = conflictName(node.name, in: here.parent, work)
                return .step(.exchange(old.local, expected: old.node.content, new: new, aside: aside))
            }
            if here.content != node.content { look(at: old.local) }
            edit(item) { $0 = node }
            return .done
        }
        // The content of the base stays. It is ahead of the cluster's tree where an exchange was made before this program
        // was killed (`madeEarlier`), and the entry that it was made for is not read again yet.
        if here.content.kind == .directory || old.node.content.isSame(as: node.content) { edit(item) { $0 = node } }
        return .done
    }

    /// Plans to make an item, or takes over an item that is at its path already: a directory for a directory, or a file
    /// with equal content.
    private mutating func make(_ item: ItemName, _ node: ClusterTree.Node, in directory: LocalItem, _ work: Work)
        -> Plan
    {
        guard let other = work.disk.child(of: directory, node.name), let here = work.disk[other] else {
            return .step(.create(item, in: directory, node.name, node.content))
        }
        let isUnbound = items[other].map { work.tree[$0] == nil } ?? true
        if isUnbound && here.content.isSame(as: node.content) && !work.locals.contains(other) {
            if let otherItem = items[other] { bind(otherItem, nil) }
            // With another mode, the item is written as if it had an older base.
            let isEqual = here.content == node.content || here.content.kind == .directory
            var taken = node
            if !isEqual { (taken.content, taken.version) = (here.content, .zero) }
            bind(item, Base(node: taken, local: other))
            return isEqual ? .done : bring(item, to: node, work)
        }
        return clear(other, work)
    }

    /// Plans to move an item to its path in the cluster.
    private mutating func move(_ local: LocalItem, _ node: ClusterTree.Node, to directory: LocalItem, _ work: Work)
        -> Plan
    {
        if work.disk.isWithin(directory, local) {
            // A directory above the destination was moved into this item, on this machine only, and is moved back
            // first.
            var item = node.parent
            var misplaced: Plan = .blocked
            while let above = work.tree[item], let old = base[item], let parent = self.local(above.parent) {
                if let here = work.disk[old.local], (here.parent, here.name) != (parent, above.name),
                    !work.disk.isWithin(parent, old.local), !work.locals.contains(old.local)
                {
                    let other = work.disk.child(of: parent, above.name)
                    misplaced = other.map { clear($0, work) } ?? .step(.rename(old.local, to: parent, above.name))
                }
                item = above.parent
            }
            return misplaced
        }
        if let other = work.disk.child(of: directory, node.name), other != local { return clear(other, work) }
        return .step(.rename(local, to: directory, node.name))
    }

    /// Gives a conflict name to an item that is in the way.
    private mutating func clear(_ other: LocalItem, _ work: Work) -> Plan {
        guard let here = work.disk[other], !work.locals.contains(other) else { return .blocked }
        look(at: other)
        return .step(.rename(other, to: here.parent, conflictName(here.name, in: here.parent, work)))
    }

    private func conflictName(_ name: FileName, in directory: LocalItem, _ work: Work) -> FileName {
        FileNames.conflict(name, work.fresh) { work.disk.child(of: directory, $0) != nil }
    }

    private func local(_ item: ItemName) -> LocalItem? { item == .root ? .root : base[item]?.local }
}
