// Imports nothing: no file, clock or process.

/// A part of a strict entry, as its caller has requested it.
package enum StrictPart: Equatable, Sendable {
    /// Makes an item, or replaces its content. `mustBe` is whether the item must be there, or must not be there.
    case write([FileName], ItemContent, mustBe: Bool?)
    case createDirectory([FileName])
    case move([FileName], to: [FileName])
    case remove([FileName])
    /// Changes nothing. The item at the path, or its absence, must be the same in the cluster.
    case check([FileName])
}

/// The reason why a strict entry is not sent.
package enum StrictFault: Error, Equatable, Sendable {
    /// The item at the path is not the one that the caller saw or expected.
    case conflict(String)
    /// An item differs from its base. The change that was made here must be sent first.
    case unsent(LocalItem)
    /// The cluster has something newer of an item, which must be applied here first.
    case stale(ItemName)
    /// The request is not possible.
    case invalid(String)
}

extension ClusterMirror {
    /// Returns the changes of a strict entry. Their bases are those of the mirror, so the items on the disk must be as
    /// in their bases.
    package func changes(
        for parts: [StrictPart], on disk: LocalTree, operation: ClusterName
    ) throws(StrictFault) -> [ClusterChange] {
        var draft = StrictDraft(mirror: self, disk: disk, operation: operation)
        for part in parts { try draft.add(part) }
        return draft.changes
    }
}

private struct StrictDraft {
    let mirror: ClusterMirror
    let disk: LocalTree
    let operation: ClusterName
    var changes: [ClusterChange] = []
    /// The directories and files that earlier parts make, by their paths.
    private var made: [[FileName]: ItemName] = [:]
    /// The paths from which earlier parts remove or move items. No part changes an item that another part moves.
    private var vacated: [[FileName]] = []

    init(mirror: ClusterMirror, disk: LocalTree, operation: ClusterName) {
        self.mirror = mirror
        self.disk = disk
        self.operation = operation
    }

    mutating func add(_ part: StrictPart) throws(StrictFault) {
        switch part {
        case .write(let path, let content, let mustBe):
            guard let (item, base) = try present(path) else {
                if mustBe == true { throw .conflict("the item is gone") }
                return try create(path, content)
            }
            if mustBe == false { throw .conflict("there is an item") }
            if base.node.content.kind != content.kind { throw .invalid("the item is of another type") }
            append(item, mirror.ancestors(item), base.node.name, .write(content, base: base.node.version))
        case .createDirectory(let path):
            if let (item, base) = try present(path) {
                if base.node.content.kind != .directory { throw .invalid("the item is not a directory") }
                // The cluster decides whether the directory is still there.
                return append(
                    item, mirror.ancestors(item), base.node.name, .write(base.node.content, base: base.node.version))
            }
            try create(path, ItemContent(.directory, mode: 0o755))
        case .check(let path):
            if let (item, base) = try present(path) {
                return append(item, mirror.ancestors(item), base.node.name, .check(base: base.node.version))
            }
            try checkVacancy(path)
        case .remove(let path):
            guard let (item, base) = try present(path) else { throw .conflict("there is no item") }
            append(item, mirror.ancestors(item), base.node.name, .remove(base: base.node.version))
            vacated.append(path)
        case .move(let path, let goal):
            guard let (item, base) = try present(path) else { throw .conflict("there is no item") }
            if try present(goal) != nil { throw .conflict("there is an item at the destination") }
            guard let name = goal.last else { throw .invalid("the root cannot be replaced") }
            append(item, try directories(above: goal), name, .move(base: base.node.placed))
            vacated.append(path)
        }
    }

    private mutating func append(
        _ item: ItemName, _ ancestors: [Ancestor], _ name: FileName, _ action: ItemChange.Action
    ) {
        changes.append(.item(ItemChange(item, in: ancestors, name, action)))
    }

    /// Adds a check that nothing is at a path. The check is for the first component of the path that is missing.
    private mutating func checkVacancy(_ path: [FileName]) throws(StrictFault) {
        var ancestors: [Ancestor] = []
        for name in path {
            let part = Array(path.prefix(ancestors.count + 1))
            guard let (item, base) = try present(part), base.node.content.kind == .directory else {
                // The item has no name yet, and gets none.
                let item = ItemName(operation, UInt16(truncatingIfNeeded: changes.count))
                return append(item, ancestors, name, .check(base: .zero))
            }
            ancestors.append(Ancestor(item, name))
        }
    }

    private mutating func create(_ path: [FileName], _ content: ItemContent) throws(StrictFault) {
        guard let name = path.last else { throw .invalid("the root cannot be replaced") }
        let ancestors = try directories(above: path)
        let item = ItemName(operation, UInt16(truncatingIfNeeded: changes.count))
        append(item, ancestors, name, .create(content))
        made[path] = item
    }

    /// Returns the ancestor path for a path. Adds changes that make the missing directories.
    private mutating func directories(above path: [FileName]) throws(StrictFault) -> [Ancestor] {
        var ancestors: [Ancestor] = []
        for count in 1..<max(path.count, 1) {
            let directory = Array(path[..<count])
            if made[directory] == nil, try present(directory) == nil {
                try create(directory, ItemContent(.directory, mode: 0o755))
            }
            guard let name = directory.last else { continue }
            if let item = made[directory] {
                ancestors.append(Ancestor(item, name))
            } else if let (item, base) = try present(directory) {
                if base.node.content.kind != .directory { throw .invalid("an item on the path is not a directory") }
                ancestors.append(Ancestor(item, name))
            }
        }
        return ancestors
    }

    /// Returns the item at a path of the disk; nil if there is none. Throws if the item is not as in its base.
    private func present(_ path: [FileName]) throws(StrictFault) -> (ItemName, ClusterMirror.Base)? {
        if vacated.contains(where: { path.starts(with: $0) }) { return nil }
        var local = LocalItem.root
        var parent = ItemName.root
        for (depth, name) in path.enumerated() {
            guard let next = disk.child(of: local, name) else { return nil }
            guard let item = mirror.items[next], let base = mirror.base[item], let here = disk[next] else {
                throw .unsent(next)
            }
            if mirror.stale.contains(item) { throw .stale(item) }
            if base.node.parent != parent || base.node.name != name { throw .unsent(next) }
            if depth == path.count - 1 {
                if here.content.kind != .directory, here.content != base.node.content { throw .unsent(next) }
                return (item, base)
            }
            (local, parent) = (next, item)
        }
        return nil
    }
}
