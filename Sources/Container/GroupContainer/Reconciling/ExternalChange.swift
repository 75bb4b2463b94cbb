// Imports nothing: no file, clock or process.

/// The reason to compare an item. The strongest one counts where there are several.
enum Hint: Int, Comparable, Sendable {
    /// An inotify event of attributes: mode, owner, dates.
    case attributes = 0
    /// A comparison of the tree.
    case comparison = 1
    /// An event of content.
    case content = 2
    /// An event of the item's removal or renaming away. An item that stands there again is another one.
    case removal = 3

    /// Whether the event shows only that the item existed. If the item is missing now, an event that is still to be
    /// read reports the removal or the rename, so no removal is recorded yet.
    var awaitsEventOfRemoval: Bool { self == .attributes || self == .content }

    static func < (left: Hint, right: Hint) -> Bool { left.rawValue < right.rawValue }
}

/// An external change of an item: the difference between its last record and what stands on the disk.
enum ExternalChange: Equatable, Sendable {
    case nothing
    case created
    case modified
    case touched
    case removed
    /// The item has another type now: the old item went, a new one came.
    case replaced
    /// The dates are not enough to decide: the content is to be read and passed to `decide(hash:known:found:)`.
    case needsContent

    static func decide(known: ItemState?, found: ItemState?, by hint: Hint) -> ExternalChange {
        guard let known else { return found == nil ? .nothing : .created }
        guard let found else { return .removed }
        if known.type != found.type { return .replaced }
        let isSame = known.looksLike(found)
        guard found.type == .file else {
            if isSame { return .nothing }
            let keepsContent =
                found.type == .directory || (known.inode, known.modified) == (found.inode, found.modified)
            return keepsContent ? .touched : .modified
        }
        if isSame && hint < .content { return .nothing }
        if known.size != found.size { return .modified }
        let canCompare = known.contentHash != nil && found.size <= ItemState.largestHashed
        // Dates that differ may be those of a write whose event was lost.
        let keepsDate = known.modified == found.modified || !canCompare
        if hint == .attributes && known.inode == found.inode && keepsDate { return .touched }
        if canCompare { return .needsContent }
        if isSame { return .nothing }
        // The date of the content can be put back after a write, the inode's date cannot.
        let keepsContent = (known.inode, known.modified) == (found.inode, found.modified) && hint < .content
        return keepsContent && known.hasOtherAttributes(than: found) ? .touched : .modified
    }

    /// Decides as `decide(known:found:by:)` does, once the content was read.
    static func decide(hash: UInt64, known: ItemState, found: ItemState) -> ExternalChange {
        if hash != known.contentHash { return .modified }
        return known.looksLike(found) ? .nothing : .touched
    }

    /// Returns whether an item that is gone from one location is the one that is new at another. The dates count
    /// because file systems reuse inode numbers at once.
    static func isMove(of old: ItemState, to new: ItemState) -> Bool {
        (old.type, old.inode, old.size, old.modified) == (new.type, new.inode, new.size, new.modified)
    }
}
