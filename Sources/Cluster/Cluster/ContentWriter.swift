import GroupBytes
package import GroupContainer

/// The machine that has written a content.
package enum ContentWriter: Equatable, Sendable {
    case thisMachine
    /// Another machine, with this host name.
    case otherMachine(String)
    case unknown
}

extension ClusterStatus {
    /// Returns which machine has made a change of this container's journal.
    ///
    /// The author of a change from another machine is `PURPOSE@HOST` or `@HOST`; programs before version 0.3 wrote
    /// `HOST` for the latter. The author of a strict change of this machine has an '@' and this machine's host name.
    package func writer(of change: Change) -> ContentWriter {
        // A change without an author is an external one, made by a program of this machine.
        guard let author = change.author?.purpose else { return .thisMachine }
        // `group-cluster` puts a content back beside an item under this name. The content was written on this machine.
        if author == "conflict" { return .thisMachine }
        // `group-cluster` applies a change under this name if it does not have the author, as after a restart. Any
        // machine may have made the change.
        if author == "cluster" { return .unknown }
        let isKnown = machines?.contains { $0.host == author } == true
        guard let mark = author.lastIndex(of: "@") else { return isKnown ? .otherMachine(author) : .thisMachine }
        let host = String(author[author.index(after: mark)...])
        if host != printable(Array(self.host.utf8.prefix(200))) { return .otherMachine(host) }
        // Two machines may have one host name.
        return machines?.contains { $0.host == host } == true ? .unknown : .thisMachine
    }
}

extension [Change] {
    /// Returns the change that made the content of the item at a path. The changes are those of a journal, in order;
    /// moves and exchanges are followed back to the last write. Returns nil if the item was removed or moved away, or
    /// if the journal does not reach that far back.
    package func lastWrite(of path: ItemPath) -> Change? {
        var earlier = path.bytes
        for change in reversed() {
            switch change.kind {
            case .created, .modified: if change.path.bytes == earlier { return change }
            case .removed: if earlier.isAtOrBelow(change.path.bytes) { return nil }
            case .moved(let from):
                if earlier.isAtOrBelow(change.path.bytes) {
                    earlier = from.bytes + earlier.dropFirst(change.path.bytes.count)
                } else if earlier.isAtOrBelow(from.bytes) {
                    return nil
                }
            case .exchanged(let other):
                if earlier.isAtOrBelow(change.path.bytes) {
                    earlier = other.bytes + earlier.dropFirst(change.path.bytes.count)
                } else if earlier.isAtOrBelow(other.bytes) {
                    earlier = change.path.bytes + earlier.dropFirst(other.bytes.count)
                }
            case .touched, .present, .bookmark, .rescan, .degraded: continue
            }
        }
        return nil
    }
}

extension [UInt8] {
    /// Returns whether this path is the other one, or that of something in it.
    fileprivate func isAtOrBelow(_ other: [UInt8]) -> Bool {
        starts(with: other) && (count == other.count || self[other.count] == UInt8(ascii: "/"))
    }
}
