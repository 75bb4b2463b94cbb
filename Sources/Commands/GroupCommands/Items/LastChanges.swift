package import GroupContainer

/// The last change of each item in a directory, found in the changes of a container, which are noted from the oldest
/// on. An item keeps its last change when it, or a directory above it, is moved; of a directory, changes below it do
/// not count.
struct LastChanges {
    private(set) var changes: [ItemPath: Change] = [:]
    /// The paths that the directory had; nil for the top.
    private let names: Set<ItemPath>?

    init(of names: Set<ItemPath>?) { self.names = names }

    mutating func note(_ change: Change) {
        switch change.kind {
        case .created, .modified, .touched: break
        case .removed:
            changes = changes.filter { !$0.key.isAt(orBelow: change.path) }
            return
        case .moved(let from):
            for (path, last) in changes {
                guard let now = path.replacing(prefix: from, by: change.path) else { continue }
                changes[path] = nil
                changes[now] = last
            }
        case .exchanged(let other):
            var exchanged: [ItemPath: Change] = [:]
            for (path, last) in changes {
                let now =
                    path.replacing(prefix: other, by: change.path) ?? path.replacing(prefix: change.path, by: other)
                exchanged[now ?? path] = last
            }
            changes = exchanged
            if isInDirectory(other) { changes[other] = change }
        case .present, .bookmark, .rescan, .degraded: return
        }
        if isInDirectory(change.path) { changes[change.path] = change }
    }

    private func isInDirectory(_ path: ItemPath) -> Bool {
        let slash = path.bytes.lastIndex(of: UInt8(ascii: "/"))
        guard let names else { return slash == nil }
        return slash.map { names.contains(ItemPath(bytes: Array(path.bytes[..<$0]))) } ?? false
    }
}

extension Container {
    /// Returns the last change of each item in a directory, as far back as the journal goes.
    package func lastChanges(in directory: ItemPath?) throws -> [ItemPath: Change] {
        let names = try directory.map { ItemHistory.names(of: $0, moved: try moves().changes) }
        var last = LastChanges(of: names)
        var follower = try recordedChanges(since: .start)
        while let change = try follower.next(timeout: .zero) { last.note(change) }
        return last.changes
    }
}
