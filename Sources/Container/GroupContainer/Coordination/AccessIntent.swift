import GroupLocking

/// An item, and the access to it that a request needs.
public struct AccessIntent: Hashable, Sendable {
    /// The item.
    public let path: ItemPath
    let kind: Kind

    enum Kind: Hashable, Sendable {
        case reading(ReadingOptions)
        case writing(WritingOptions)
    }

    /// The purpose of a read; the names are those of `NSFileCoordinator`.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Creates options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Reads the item as it is on the disk: its presenters let go of it, but are not asked to save first.
        public static let withoutChanges = ReadingOptions(rawValue: 1)
        /// Reads only what the directory reports of the item at this moment: no lock, no wait, no content.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 2)
        /// Reads a private snapshot, which is made under the lock. If the request needs no other lock, the lock is
        /// released before the closure begins, so that no process waits while the snapshot is uploaded. Throws
        /// `notPermitted` where the container is read-only.
        public static let forUploading = ReadingOptions(rawValue: 4)
        /// Reads a directory with everything in it, as it is at one moment, for copying. No lock shares a whole
        /// directory, so that this access is exclusive, as for deleting.
        public static let recursively = ReadingOptions(rawValue: 8)
    }

    /// The purpose of a write; the names are those of `NSFileCoordinator`.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Creates options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Removes the item; its presenters are asked to close it. A directory is granted with everything below it: the
        /// request waits for all holders of items in it, and keeps later requests out.
        public static let forDeleting = WritingOptions(rawValue: 1)
        /// Moves the item away; its presenters get the new path. A directory as for deleting. A safe move is one
        /// request for both ends.
        public static let forMoving = WritingOptions(rawValue: 2)
        /// Reads the item and writes it anew: its presenters are asked to save first.
        public static let forMerging = WritingOptions(rawValue: 4)
        /// Puts something else in the item's place, also by a move; a directory as for deleting.
        public static let forReplacing = WritingOptions(rawValue: 8)
        /// Changes the item's mode, not its content.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 16)
    }

    /// Returns an intent to read, shared with other readers; writers wait.
    public static func reading(_ path: ItemPath, _ options: ReadingOptions = []) -> AccessIntent {
        AccessIntent(path: path, kind: .reading(options))
    }

    /// Returns an intent to write, exclusively. A directory is granted without its contents, unless the options remove,
    /// move or replace it.
    public static func writing(_ path: ItemPath, _ options: WritingOptions = []) -> AccessIntent {
        AccessIntent(path: path, kind: .writing(options))
    }

    /// Whether the request concerns the directory entry itself instead of the target that it leads to: a symbolic link
    /// is removed or moved as such, and a directory with everything in it.
    var isStructural: Bool {
        if case .writing(let options) = kind {
            return !options.isDisjoint(with: [.forDeleting, .forMoving, .forReplacing])
        }
        return false
    }

    /// Whether the request concerns everything in a directory.
    var readsContents: Bool {
        if case .reading(let options) = kind {
            return !options.isDisjoint(with: [.forUploading, .recursively])
                && !options.contains(.immediatelyAvailableMetadataOnly)
        }
        return false
    }

    /// Whether the closure reads a private copy.
    var wantsSnapshot: Bool {
        if case .reading(let options) = kind {
            return options.contains(.forUploading) && !options.contains(.immediatelyAvailableMetadataOnly)
        }
        return false
    }

    /// Whether the request follows an item that is moved while its lock is awaited. False for an intent that replaces
    /// the item: its path stays.
    var followsMoves: Bool {
        if case .writing(let options) = kind { return !options.contains(.forReplacing) }
        return needsLock
    }

    package var isForWriting: Bool {
        if case .writing = kind { return true }
        return false
    }

    /// Whether a lock is needed; false where the directory's metadata is enough.
    var needsLock: Bool { mode(concernsDirectory: false) != nil }

    /// Returns the lock mode; nil where no lock is needed. If the request contains a directory, the destination of its
    /// move is granted with everything below it, too, because the directory's contents arrive there.
    func mode(concernsDirectory: Bool) -> LockMode? {
        switch kind {
        case .reading(let options):
            // A copy of a directory has everything in it as it is at one moment, and no lock shares a whole directory.
            readsContents && concernsDirectory
                ? .tree : options.contains(.immediatelyAvailableMetadataOnly) ? nil : .shared
        case .writing: isStructural && concernsDirectory ? .tree : .exclusive
        }
    }
}
