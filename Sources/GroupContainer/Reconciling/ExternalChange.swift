// Imports nothing: no file, clock or process.

/// What made somebody look at an item. The stronger one counts where there are several.
enum Hint: Int, Comparable, Sendable {
    /// An event of attributes: mode, owner, dates.
    case attributes = 0
    /// A comparison of the tree.
    case comparison = 1
    /// An event of content.
    case content = 2
    /// An event of its removal, or of its leaving. What stands there again is another thing.
    case removal = 3

    /// It only tells of what was there. Where that has gone since, an event that is still to be read tells how: a
    /// rename is not to be taken for a removal.
    var awaitsEventOfRemoval: Bool { self == .attributes || self == .content }

    static func < (left: Hint, right: Hint) -> Bool { left.rawValue < right.rawValue }
}

/// What was done to an item without coordination, from what its last record says and what stands there now.
enum ExternalChange: Equatable, Sendable {
    case nothing
    case created
    case modified
    case touched
    case removed
    /// Another kind of thing stands there: the old one went, the new one came.
    case replaced
    /// Dates alone do not tell: the content is to be read and `decide(hash:…)` asked.
    case needsContent

    static func decide(known: ItemState?, found: ItemState?, by evidence: Hint) -> ExternalChange {
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
        if isSame && evidence < .content { return .nothing }
        if known.size != found.size { return .modified }
        let canCompare = known.contentHash != nil && found.size <= ItemState.largestHashed
        // Other dates may be those of a content whose event was lost.
        let keepsDate = known.modified == found.modified || !canCompare
        if evidence == .attributes && known.inode == found.inode && keepsDate { return .touched }
        if canCompare { return .needsContent }
        if isSame { return .nothing }
        return (known.inode, known.modified) == (found.inode, found.modified) && evidence < .content
            ? .touched : .modified
    }

    /// The same once the content was read.
    static func decide(hash: UInt64, known: ItemState, found: ItemState) -> ExternalChange {
        if hash != known.contentHash { return .modified }
        return known.looksLike(found) ? .nothing : .touched
    }

    /// Whether what is gone from one place is what is new at another. The dates count because file systems give an
    /// inode's number again at once.
    static func isMove(of gone: ItemState, to new: ItemState) -> Bool {
        (gone.type, gone.inode, gone.size, gone.modified) == (new.type, new.inode, new.size, new.modified)
    }
}
