// Imports nothing: no file, clock or process.

/// The result of merging two changes of one path.
enum Net: Equatable, Sendable {
    case nothing
    case one(Change.Kind)
    /// The two changes cannot be merged.
    case both

    static func of(_ before: Change, _ after: Change) -> Net {
        let involvesDirectory = before.type == .directory || after.type == .directory || before.takesDirectory
        switch (before.kind, after.kind) {
        case (.created, .created), (.created, .modified), (.created, .touched):
            return (before.type == .directory) == (after.type == .directory) ? .one(.created) : .both
        // If the created item replaced another one, that one is removed, too.
        case (.created, .removed): return before.mayReplace ? .one(.removed) : .nothing
        case (.touched, .touched): return .one(.touched)
        case (.modified, .modified), (.modified, .touched), (.touched, .modified): return .one(.modified)
        case (.modified, .created), (.touched, .created), (.removed, .created):
            return involvesDirectory ? .both : .one(.modified)
        case (.modified, .removed), (.touched, .removed), (.removed, .removed): return .one(.removed)
        default: return .both
        }
    }
}

extension Debouncer {
    /// Notes a change of one path alone.
    mutating func noteSimple(_ entry: Entry) {
        let path = entry.change.path
        if entry.change.kind == .removed && entry.change.takesDirectory { dropWhatIsBelow(path) }
        guard let position = last(concerning: path), let before = entries[position], before.change.path == path else {
            return append(entry)
        }
        var merged = entry
        merged.first = min(before.first, entry.first)
        merged.begin = before.begin
        if case .moved(let from) = before.change.kind {
            guard entry.change.kind == .removed, !before.change.mayReplace else { return append(entry) }
            // The item came and went: what is left is that it is gone from its first path.
            merged.change.path = from
            merged.change.takesDirectory = before.change.takesDirectory
            return replaceByRemoval(merged, at: position)
        }
        switch Net.of(before.change, entry.change) {
        case .nothing: entries[position] = nil
        case .both: append(entry)
        case .one(.removed):
            entries[position] = nil
            merged.change.takesDirectory = before.change.takesDirectory || entry.change.takesDirectory
            noteSimple(merged)
        case .one(let kind):
            merged.change.kind = kind
            merged.change.mayReplace = before.change.mayReplace
            entries[position] = merged
        }
    }

    /// Puts the removal of an item in the place of the move that took it away, or of the first of several. If a file
    /// was created at that path since, as by an editor that moves its backup aside, the two are one change of the
    /// file.
    private mutating func replaceByRemoval(_ removal: Entry, at position: Int) {
        let path = removal.change.path
        func concerns(_ position: Int) -> Bool {
            entries[position]?.change.paths.contains { $0.concerns(path) } ?? false
        }
        entries[position] = removal
        if let earlier = entries.indices[..<position].last(where: concerns), let before = entries[earlier],
            before.change.path == path, case .moved(let from) = before.change.kind, !before.change.mayReplace
        {
            var moved = removal
            moved.change.path = from
            (moved.first, moved.begin) = (min(before.first, removal.first), before.begin)
            entries[position] = nil
            return replaceByRemoval(moved, at: earlier)
        }
        guard let next = entries.indices[(position + 1)...].first(where: concerns), var later = entries[next],
            later.change.path == path, case .one(let kind) = Net.of(removal.change, later.change)
        else { return }
        later.change.kind = kind
        (later.first, later.begin) = (min(removal.first, later.first), removal.begin)
        (entries[position], entries[next]) = (nil, later)
    }

    /// Drops the changes below a removed directory, except removals, back to the last move or exchange that concerns
    /// the directory: earlier changes stay, because that change may depend on them.
    private mutating func dropWhatIsBelow(_ directory: ItemPath) {
        for position in entries.indices.reversed() {
            guard let change = entries[position]?.change, change.paths.contains(where: { $0.concerns(directory) })
            else {
                continue
            }
            if change.kind.otherPath != nil { return }
            if change.path.isBelow(directory) && change.kind != .removed { entries[position] = nil }
        }
    }
}

extension Debouncer {
    mutating func noteMove(_ move: Entry, _ from: ItemPath) {
        var entry = move
        let to = entry.change.path
        entry.change.mayReplace = entry.change.isCoordinated && !isVacant(to)
        let known = whatIsKnown(of: from)
        if let position = known.exact, let before = entries[position] {
            if case .moved(let first) = before.change.kind, continues(before, at: position, first, to) {
                return prolong(position, first, entry, from, known.inner)
            }
            if before.change.kind == .created && !before.change.mayReplace {
                return create(position, entry, from, known.inner)
            }
            if before.change.kind == .created { return append(entry) }
        }
        dropWhatIsReplaced(&entry)
        let inside = known.inner.compactMap { entries[$0] }
        for position in known.inner { entries[position] = nil }
        append(entry)
        appendMoved(inside, from, to)
    }

    /// Returns whether there is surely no item at a path.
    private func isVacant(_ path: ItemPath) -> Bool {
        guard let position = last(concerning: path), let change = entries[position]?.change else { return false }
        switch change.kind {
        case .removed: return change.path == path || path.isBelow(change.path)
        case .created: return path.isBelow(change.path) && !change.mayReplace
        case .moved(let from): return from == path || path.isBelow(from)
        case .modified, .exchanged, .touched, .present, .bookmark, .rescan, .degraded: return false
        }
    }

    /// Returns the held-back entries about a path as it is called now: how the item came there, and what changed there
    /// and below since.
    private func whatIsKnown(of path: ItemPath) -> (exact: Int?, inner: [Int]) {
        var inner: [Int] = []
        guard let end = last(concerning: path) else { return (nil, []) }
        for position in (0...end).reversed() {
            guard let change = entries[position]?.change, change.paths.contains(where: { $0.concerns(path) }) else {
                continue
            }
            switch change.kind {
            case .created where change.path == path: return (position, inner.reversed())
            case .moved where change.path == path: return (position, inner.reversed())
            case .modified where change.path == path, .touched where change.path == path: break
            default: if change.kind.otherPath != nil || !change.path.isBelow(path) { return (nil, inner.reversed()) }
            }
            inner.append(position)
        }
        return (nil, inner.reversed())
    }

    /// Returns whether a held-back move to `first` and a later move to `to` can become one: the held-back move replaced
    /// no item, neither path is below the other, and no later entry concerns `to`.
    private func continues(_ move: Entry, at position: Int, _ first: ItemPath, _ to: ItemPath) -> Bool {
        if move.change.mayReplace || (first != to && first.concerns(to)) { return false }
        return !entries[(position + 1)...].contains { later in
            later?.change.paths.contains { $0.concerns(to) } ?? false
        }
    }

    private mutating func prolong(
        _ position: Int, _ first: ItemPath, _ move: Entry, _ from: ItemPath, _ inner: [Int]
    ) {
        let to = move.change.path
        var merged = move
        merged.change.kind = .moved(from: first)
        merged.first = entries[position]?.first ?? move.first
        merged.begin = entries[position]?.begin ?? move.begin
        entries[position] = first == to ? nil : merged
        noteAgain(position)
        for position in inner {
            guard let path = entries[position]?.change.path else { continue }
            entries[position]?.change.path = path.moved(from: from, to: to)
            noteAgain(position)
        }
    }

    /// Merges a creation and a move: the item was created at its new path.
    private mutating func create(_ position: Int, _ move: Entry, _ from: ItemPath, _ inner: [Int]) {
        guard let before = entries[position] else { return }
        var created = move
        created.change.kind = .created
        (created.first, created.begin) = (before.first, before.begin)
        let inside = inner.compactMap { entries[$0] }
        for position in [position] + inner { entries[position] = nil }
        noteSimple(created)
        appendMoved(inside, from, move.change.path)
    }

    /// Appends the entries of items in a moved directory, under their new paths.
    private mutating func appendMoved(_ inside: [Entry], _ from: ItemPath, _ to: ItemPath) {
        for entry in inside {
            var renamed = entry
            renamed.change.path = entry.change.path.moved(from: from, to: to)
            append(renamed)
        }
    }

    /// Drops the creation or change of an item that the move replaces.
    private mutating func dropWhatIsReplaced(_ move: inout Entry) {
        guard let position = last(concerning: move.change.path), let change = entries[position]?.change,
            change.path == move.change.path
        else { return }
        switch change.kind {
        case .created:
            entries[position] = nil
            move.change.mayReplace = change.mayReplace
        case .modified, .touched: entries[position] = nil
        case .removed, .moved, .exchanged, .present, .bookmark, .rescan, .degraded: break
        }
    }
}

extension ItemPath {
    /// Returns whether the paths are equal, or one is below the other.
    func concerns(_ other: ItemPath) -> Bool { self == other || isBelow(other) || other.isBelow(self) }

    /// Every directory that the path is in.
    var directories: [ItemPath] {
        bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }.map { ItemPath(bytes: Array(bytes[..<$0])) }
    }

    /// Returns the path after the directory that it is, or is in, has moved.
    func moved(from directory: ItemPath, to path: ItemPath) -> ItemPath {
        ItemPath(bytes: path.bytes + bytes[directory.bytes.count...])
    }
}

/// The last entry of a list that concerns a path.
struct RelatedPaths: Sendable {
    private var at: [ItemPath: Int] = [:]
    private var below: [ItemPath: Int] = [:]

    mutating func note(_ paths: [ItemPath], at position: Int) {
        for path in paths {
            at[path] = max(at[path] ?? 0, position)
            for directory in path.directories { below[directory] = max(below[directory] ?? 0, position) }
        }
    }

    func last(concerning path: ItemPath) -> Int? {
        ([at[path], below[path]] + path.directories.map { at[$0] }).compactMap { $0 }.max()
    }
}

/// A set of paths that can be searched for those that concern another path.
struct PathSet: Sendable {
    private var paths: Set<ItemPath> = []
    private var around: Set<ItemPath> = []

    mutating func insert(_ path: ItemPath) {
        paths.insert(path)
        around.formUnion(path.directories)
    }

    func concerns(_ path: ItemPath) -> Bool {
        paths.contains(path) || around.contains(path) || path.directories.contains(where: paths.contains)
    }
}
