// Imports nothing: no file, clock or process.

/// A step that brings the disk nearer to the cluster's tree. How a step is made: see `Applying.swift`.
package enum MirrorStep: Equatable, Sendable {
    /// Makes an item at a free path.
    case create(ItemName, in: LocalItem, FileName, ItemContent)
    /// Moves an item to a free path.
    case rename(LocalItem, to: LocalItem, FileName)
    /// Exchanges the content of an item. If the content that comes out is neither `expected` nor `new`, it becomes a
    /// new item with the name `aside`.
    case exchange(LocalItem, expected: ItemContent, new: ItemContent, aside: FileName)
    /// Removes a file with this content, or an empty directory.
    case remove(LocalItem, expected: ItemContent)
}

/// A change that was sent, and that the base takes over when its entry is folded.
package struct SentItem: Equatable, Sendable {
    package enum Change: Equatable, Sendable {
        case created(ItemName, FileName, ItemContent)
        case moved(ItemName, FileName)
        case written(ItemContent)
        case removed
    }
    package var item: ItemName
    package var local: LocalItem
    package var change: Change
}

/// The bases of all items: the state of each item that was last the same in the cluster's tree and on the disk.
///
///     cluster's tree ── differs from the base: MirrorApplying ──▶ disk
///     disk ── differs from the base: MirrorSending ──▶ cluster's tree
///
/// Both are comparisons, so they can be repeated at any time, as after the program was killed.
package struct ClusterMirror: Equatable, Sendable {
    package struct Base: Equatable, Sendable {
        package var node: ClusterTree.Node
        package var local: LocalItem
    }

    package internal(set) var base: [ItemName: Base] = [:]
    /// The items of the disk that have a base.
    package internal(set) var items: [LocalItem: ItemName] = [:]
    /// Items whose base may differ from the cluster's tree.
    package internal(set) var stale = Worklist<ItemName>()
    /// Items of the disk that must be compared with their base again, to be sent.
    private var found: [LocalItem] = []
    /// Items whose base has changed since it was stored.
    private var changed: Set<ItemName> = []

    package init() {}

    /// Makes a mirror from the stored bases.
    package init(base: [ItemName: Base]) {
        self.base = base
        for (item, base) in base { items[base.local] = item }
    }

    /// The item that `nextStep` looks at first.
    package var firstStale: ItemName? { mutating get { stale.first } }

    /// Marks items as stale.
    package mutating func mark(_ items: Set<ItemName>) {
        for item in items.sorted() { stale.insert(item) }
    }

    /// Marks all items of the cluster and of the bases as stale, as when a snapshot has replaced the fold.
    package mutating func markAll(_ tree: ClusterTree) { mark(Set(tree.nodes.keys).union(base.keys)) }

    /// Marks the items whose base differs from the cluster's tree as stale.
    package mutating func markDifferences(to tree: ClusterTree) {
        mark(Set(tree.nodes.keys).union(base.keys).filter { base[$0]?.node != tree[$0] })
    }

    /// Whether a base has changed since `takeChanged`.
    package var hasChanged: Bool { !changed.isEmpty }

    /// Returns the items whose base has changed since the last call.
    package mutating func takeChanged() -> Set<ItemName> {
        defer { changed = [] }
        return changed
    }

    /// Returns the items of the disk that must be compared with their base again.
    package mutating func takeFound() -> [LocalItem] {
        defer { found = [] }
        return found
    }

    /// Takes a local-first entry of this machine that was folded. The base becomes what was sent, because the disk had
    /// it. If the cluster has decided otherwise, its tree now differs from the base, and is applied like any other
    /// change.
    package mutating func folded(_ sent: [SentItem], _ operation: ClusterName) {
        for sent in sent {
            stale.insert(sent.item)
            // A change of the item since then was compared with the older base.
            look(at: sent.local)
            switch sent.change {
            case .created(let parent, let name, let content):
                let node = ClusterTree.Node(parent, name, placed: operation, content, version: operation)
                bind(sent.item, Base(node: node, local: sent.local))
            case .moved(let parent, let name):
                edit(sent.item) { ($0.parent, $0.name, $0.placed) = (parent, name, operation) }
            case .written(let content):
                edit(sent.item) { ($0.content, $0.version) = (content, operation) }
            case .removed: bind(sent.item, nil)
            }
        }
    }

    /// Notes that a step was made. `local` is the item of the disk that a `create` has made.
    package mutating func made(_ step: MirrorStep, by local: LocalItem?, in tree: ClusterTree) {
        switch step {
        case .create(let item, _, _, _):
            if let local, let node = tree[item] { bind(item, Base(node: node, local: local)) }
        case .exchange(let local, _, let new, _):
            guard let item = items[local], let node = tree[item], node.content.isSame(as: new) else { return }
            edit(item) { ($0.content, $0.version) = (node.content, node.version) }
            // A mode of this machine is still to be sent.
            if node.content != new { look(at: local) }
        case .remove(let local, _):
            if let item = items[local] { bind(item, nil) }
        case .rename: return
        }
    }

    /// Notes an exchange that was made before the program was killed, and was not stored. Otherwise the content of the
    /// cluster that is at the path would count as a change of this machine.
    package mutating func madeEarlier(
        exchangeOf local: LocalItem, expected: StoredTaken.Expected, new: StoredTaken.Expected, in tree: ClusterTree
    ) {
        guard let item = items[local], let old = base[item], expected.isSame(as: old.node.content) else { return }
        edit(item) {
            $0.content.digest = new.digest
            if let node = tree[item], new.isSame(as: node.content) {
                ($0.content, $0.version) = (node.content, node.version)
            }
        }
    }

    /// Gives an item another base, or none.
    mutating func bind(_ item: ItemName, _ new: Base?) {
        if let old = base[item], items[old.local] == item { items[old.local] = nil }
        base[item] = new
        changed.insert(item)
        if let new { items[new.local] = item }
    }

    mutating func edit(_ item: ItemName, _ change: (inout ClusterTree.Node) -> Void) {
        guard var new = base[item] else { return }
        change(&new.node)
        base[item] = new
        changed.insert(item)
    }

    mutating func look(at local: LocalItem) { found.append(local) }
}
