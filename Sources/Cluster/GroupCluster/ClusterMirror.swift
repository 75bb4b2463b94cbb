// Imports nothing: no file, clock or process.

/// One change of the disk, which is made only as far as the disk still is what it was.
package enum MirrorStep: Equatable, Sendable {
    /// Makes an item where none is.
    case create(ItemName, in: LocalItem, FileName, ItemContent)
    /// Moves an item to where none is.
    case rename(LocalItem, to: LocalItem, FileName)
    /// Exchanges a content. What comes out and is neither `expected` nor `new` gets the name `aside`, as a new item.
    case exchange(LocalItem, expected: ItemContent, new: ItemContent, aside: FileName)
    /// Removes a file with this content, or an empty directory.
    case remove(LocalItem, expected: ItemContent)
}

/// What the base becomes when the entry with this change is folded.
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

/// The base: what was last the same in the cluster's tree and on the disk. What differs between the cluster's tree and
/// the base is applied; what differs between the disk and the base is sent.
package struct ClusterMirror: Equatable, Sendable {
    package struct Base: Equatable, Sendable {
        package var node: ClusterTree.Node
        package var local: LocalItem
    }

    package internal(set) var base: [ItemName: Base] = [:]
    package internal(set) var items: [LocalItem: ItemName] = [:]
    /// Items whose base may not be the cluster's.
    package internal(set) var stale = Worklist<ItemName>()
    /// Items of the disk that are to be looked at for what is to be sent.
    private var found: [LocalItem] = []
    /// Items whose base was changed since the owner has stored it.
    private var changed: Set<ItemName> = []

    package init() {}

    /// Makes a mirror of what its owner has stored.
    package init(base: [ItemName: Base]) {
        self.base = base
        for (item, base) in base { items[base.local] = item }
    }

    /// The item that `nextStep` looks at first.
    package var firstStale: ItemName? { mutating get { stale.first } }

    package mutating func mark(_ items: Set<ItemName>) {
        for item in items.sorted() { stale.insert(item) }
    }

    package mutating func markAll(_ tree: ClusterTree) { mark(Set(tree.nodes.keys).union(base.keys)) }

    /// Marks the items whose base is not the cluster's.
    package mutating func markDifferences(to tree: ClusterTree) {
        mark(Set(tree.nodes.keys).union(base.keys).filter { base[$0]?.node != tree[$0] })
    }

    /// Whether the base of an item was changed since `takeChanged`.
    package var hasChanged: Bool { !changed.isEmpty }

    /// Returns the items whose base was changed since the last call.
    package mutating func takeChanged() -> Set<ItemName> {
        defer { changed = [] }
        return changed
    }

    package mutating func takeFound() -> [LocalItem] {
        defer { found = [] }
        return found
    }

    /// Takes a local-first entry of this machine that was folded: the base becomes what was sent, whatever the entry's
    /// fate. If the cluster has something else, that is applied like any other change.
    package mutating func folded(_ sent: [SentItem], _ operation: ClusterName) {
        for sent in sent {
            stale.insert(sent.item)
            // A change since then may have been seen when the base was still an older one.
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

    /// Notes that a step for an item was made, with the local item that `create` has made.
    package mutating func made(_ step: MirrorStep, by local: LocalItem?, in tree: ClusterTree) {
        switch step {
        case .create(let item, _, _, _):
            if let local, let node = tree[item] { bind(item, Base(node: node, local: local)) }
        case .exchange(let local, _, let new, _):
            guard let item = items[local], let node = tree[item], node.content == new else { return }
            edit(item) { ($0.content, $0.version) = (new, node.version) }
        case .remove(let local, _):
            if let item = items[local] { bind(item, nil) }
        case .rename: return
        }
    }

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
