// Imports nothing: no file, clock or process.

/// One change as a follower gets it.
struct ReportedPart: Equatable, Sendable {
    var part: ChangePart
    /// The item's own generation, where a directory around it changed; nil: that of the record.
    var generation: UInt64?
    /// Whether the item may have replaced another one: the change is `created`, but the item came by a move.
    var mayReplace = false

    init(_ part: ChangePart, generation: UInt64? = nil) { (self.part, self.generation) = (part, generation) }

    /// Returns the change of an item that was moved in from where the filter lets nothing through.
    static func arrival(_ path: [UInt8], _ state: ItemState?) -> ReportedPart {
        var reported = ReportedPart(ChangePart(kind: .created, path: path, state: state))
        reported.mayReplace = true
        return reported
    }
}

/// The changes of a record that a filter's paths let through, for a follower that keeps a copy of what it gets.
struct FilteredChange {
    private let filter: ChangeFilter
    private var reported: [ReportedPart] = []

    private init(_ filter: ChangeFilter) { self.filter = filter }

    /// Returns the changes that the filter lets through. `before` returns the tree before the record; it is called only
    /// if that matters: a directory crosses the filter's border, and the items in it have no changes of their own; or the
    /// type of the item that was at a path decides, and the record does not have it.
    /// Returns nil if `before` does, since the changes cannot be decided then.
    static func reported<Failure: Error>(
        _ changes: [ChangePart], by filter: ChangeFilter, before: () throws(Failure) -> TreeIndex?
    ) throws(Failure) -> [ReportedPart]? {
        if !filter.concernsPaths { return changes.map { ReportedPart($0) } }
        var parts = FilteredChange(filter)
        var treeIndex: TreeIndex?
        for (index, change) in changes.enumerated() {
            if parts.reportWithoutLooking(change) {
                treeIndex?.apply(change, at: 0)
                continue
            }
            if treeIndex == nil {
                treeIndex = try before()
                for earlier in changes[..<index] { treeIndex?.apply(earlier, at: 0) }
            }
            guard let known = treeIndex else { return nil }
            parts.report(change, known)
            if index + 1 < changes.count { treeIndex?.apply(change, at: 0) }
        }
        return parts.reported
    }

    private mutating func report(_ part: ChangePart) { reported.append(ReportedPart(part)) }

    /// Adds a change, if the filter lets it through. Returns false if that depends on what is in the directories,
    /// or was at the path before.
    private mutating func reportWithoutLooking(_ change: ChangePart) -> Bool {
        let isIn = filter.matches(change.path, isDirectory: change.isDirectory)
        if change.kind != .exchanged && (!isIn || change.state == nil) && filter.dependsOnType(change.path) {
            return false
        }
        switch change.kind {
        case .removed:
            if isIn || (change.wasDirectory && filter.coverage(below: change.path) != .none) { report(change) }
        case .moved: return reportMove(change, isIn)
        case .exchanged: return reportExchange(change, isIn)
        case .created, .modified, .touched, .transaction, .term, .degraded: if isIn { report(change) }
        }
        return true
    }

    private mutating func reportMove(_ change: ChangePart, _ isIn: Bool) -> Bool {
        guard let from = change.from else { return true }
        let isDirectory = change.isDirectory
        let wasIn = filter.matches(from, isDirectory: isDirectory)
        let (old, new) = (filter.coverage(below: from), filter.coverage(below: change.path))
        if !isIn && (!isDirectory || new == .none) {
            if wasIn || (isDirectory && old != .none) { report(Self.removal(from, wasDirectory: isDirectory)) }
        } else if wasIn == isIn && (!isDirectory || filter.coversAlike(below: from, change.path)) {
            report(change)
        } else if !isDirectory {
            report(ReportedPart.arrival(change.path, change.state))
        } else {
            return false
        }
        return true
    }

    private mutating func reportExchange(_ change: ChangePart, _ isIn: Bool) -> Bool {
        guard let other = change.from else { return true }
        let otherIsDirectory = change.otherState?.type == .directory
        if change.isDirectory != otherIsDirectory && (filter.dependsOnType(change.path) || filter.dependsOnType(other))
        {
            return false
        }
        let otherIsIn = filter.matches(other, isDirectory: otherIsDirectory)
        if change.isDirectory || otherIsDirectory {
            let (here, there) = (filter.coverage(below: change.path), filter.coverage(below: other))
            if !isIn && !otherIsIn && here == .none && there == .none { return true }
            guard isIn == otherIsIn && filter.coversAlike(below: change.path, other) else { return false }
            report(change)
        } else if isIn && otherIsIn {
            report(change)
        } else if isIn {
            report(ChangePart(kind: .modified, path: change.path, state: change.state))
        } else if otherIsIn {
            report(ChangePart(kind: .modified, path: other, state: change.otherState))
        }
        return true
    }

    private static func removal(_ path: [UInt8], wasDirectory: Bool) -> ChangePart {
        ChangePart(kind: .removed, path: path, state: nil, wasDirectory: wasDirectory)
    }

    /// Adds the changes of the items one by one, from the tree before the record.
    private mutating func report(_ change: ChangePart, _ treeIndex: TreeIndex) {
        guard let new = try? ItemLocation(change.path) else { return }
        if change.kind != .exchanged {
            let isIn = reportByType(change, treeIndex.item(at: new)?.state.type)
            if change.kind != .moved || reportMove(change, isIn) { return }
        }
        guard let from = change.from, let old = try? ItemLocation(from) else { return }
        if change.kind == .moved {
            if filter.matches(from, isDirectory: true) && filter.matches(change.path, isDirectory: true) {
                report(change)
                adjust(Self.tree(at: old, treeIndex).dropFirst(), movedTo: new, from: old)
            } else {
                relocate(Self.tree(at: old, treeIndex), to: new, from: old, change.state)
            }
            return
        }
        // First the removal of both trees, then the creation of each item at its new path.
        let (here, there) = (Self.tree(at: new, treeIndex), Self.tree(at: old, treeIndex))
        for tree in [here, there] {
            for item in tree.reversed() where matches(item.location.bytes, item.item) {
                report(Self.removal(item.location.bytes, wasDirectory: item.item.state.type == .directory))
            }
        }
        create(there, at: new, from: old, change.state)
        create(here, at: old, from: new, change.otherState)
    }

    /// Adds a change of an item at a path where the filter lets directories through and nothing else, or everything
    /// else. An item of the other type that was there is reported as removed. Returns whether the new item is in; its
    /// move is not added.
    private mutating func reportByType(_ change: ChangePart, _ old: ItemType?) -> Bool {
        let wasDirectory = old.map { $0 == .directory } ?? change.wasDirectory
        let wasIn = filter.matches(change.path, isDirectory: wasDirectory)
        if change.kind == .removed {
            if wasIn || (wasDirectory && filter.coverage(below: change.path) != .none) { report(change) }
            return false
        }
        let isDirectory = change.state.map { $0.type == .directory } ?? wasDirectory
        let isIn = filter.matches(change.path, isDirectory: isDirectory)
        if isIn {
            if change.kind != .moved { report(change) }
        } else if old != nil && wasIn {
            report(Self.removal(change.path, wasDirectory: wasDirectory))
        }
        return isIn
    }

    private func matches(_ path: [UInt8], _ item: TreeIndex.Item) -> Bool {
        filter.matches(path, isDirectory: item.state.type == .directory)
    }

    private typealias Tree = [(location: ItemLocation, item: TreeIndex.Item)]

    /// Returns the items of a tree, the deepest last.
    private static func tree(at top: ItemLocation, _ treeIndex: TreeIndex) -> Tree {
        ([top] + treeIndex.below(top).reversed()).compactMap { location in
            treeIndex.item(at: location).map { (location, $0) }
        }
    }

    private static func moved(_ location: ItemLocation, to new: ItemLocation, from old: ItemLocation) -> [UInt8] {
        new.bytes + location.bytes[old.bytes.count...]
    }

    /// Adds the changes of items in a directory that moved with all its contents: the filter lets some through only at
    /// the old path (removed) or only at the new one (created).
    private mutating func adjust(
        _ inner: ArraySlice<(location: ItemLocation, item: TreeIndex.Item)>,
        movedTo new: ItemLocation, from old: ItemLocation
    ) {
        for (location, item) in inner.reversed() where matches(location.bytes, item) {
            let path = Self.moved(location, to: new, from: old)
            if !matches(path, item) { report(Self.removal(path, wasDirectory: item.state.type == .directory)) }
        }
        for (location, item) in inner where !matches(location.bytes, item) {
            let path = Self.moved(location, to: new, from: old)
            if matches(path, item) { report(creation(path, item)) }
        }
    }

    private func creation(_ path: [UInt8], _ item: TreeIndex.Item) -> ReportedPart {
        ReportedPart(ChangePart(kind: .created, path: path, state: item.state), generation: item.generation)
    }

    private mutating func report(_ part: ReportedPart) { reported.append(part) }

    private mutating func create(_ tree: Tree, at new: ItemLocation, from old: ItemLocation, _ state: ItemState?) {
        for (location, item) in tree {
            let path = Self.moved(location, to: new, from: old)
            if !matches(path, item) { continue }
            let isTop = location == old
            reported.append(
                isTop
                    ? ReportedPart(ChangePart(kind: .created, path: path, state: state ?? item.state))
                    : creation(path, item))
        }
    }

    /// Adds the changes of a move: files one by one; directories are created before their files and removed after them.
    private mutating func relocate(_ tree: Tree, to new: ItemLocation, from old: ItemLocation, _ state: ItemState?) {
        for (location, item) in tree {
            let path = Self.moved(location, to: new, from: old)
            let isIn = matches(path, item)
            if item.state.type == .directory || !matches(location.bytes, item) {
                let isTop = location == old
                if isIn {
                    report(isTop ? .arrival(path, state) : creation(path, item))
                }
            } else if isIn {
                report(
                    ReportedPart(
                        ChangePart(kind: .moved, path: path, from: location.bytes, state: item.state),
                        generation: item.generation))
            } else {
                report(Self.removal(location.bytes, wasDirectory: false))
            }
        }
        for (location, item) in tree.reversed() where item.state.type == .directory && matches(location.bytes, item) {
            report(Self.removal(location.bytes, wasDirectory: true))
        }
    }
}

extension ChangePart {
    /// Whether the item is a directory, as far as the record has it.
    fileprivate var isDirectory: Bool { state.map { $0.type == .directory } ?? wasDirectory }
}
