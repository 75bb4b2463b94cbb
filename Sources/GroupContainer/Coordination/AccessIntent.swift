/// One item, and how it is wanted.
public struct AccessIntent: Hashable, Sendable {
    /// The item.
    public let path: ItemPath
    let kind: Kind

    enum Kind: Hashable, Sendable {
        case reading(ReadingOptions)
        case writing(WritingOptions)
    }

    /// What a reading is for; the names are those of `NSFileCoordinator`.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int
        /// From bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// As the item is, without asking anybody to save first. Nobody is ever asked here, so this is plain reading.
        public static let withoutChanges = ReadingOptions(rawValue: 1)
        /// What the directory says of the item, as it is at this moment: no lock, no wait, no content.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 2)
        /// A private snapshot is made under the lock; the lock is given back before the closure begins, so that
        /// nobody waits while the snapshot is sent somewhere. `notPermitted` where the container is read-only.
        public static let forUploading = ReadingOptions(rawValue: 4)
        /// A directory with everything in it, as it is at one moment: to copy it. Locks that share a whole directory
        /// there are none, so that it is granted alone, as for deleting.
        public static let recursively = ReadingOptions(rawValue: 8)
    }

    /// What a writing is for; the names are those of `NSFileCoordinator`.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int
        /// From bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// To remove it. A directory is granted with everything below it: who holds anything in it is waited for, and
        /// kept out from then on.
        public static let forDeleting = WritingOptions(rawValue: 1)
        /// To move it away; a directory as for deleting. A safe move is one request for both ends.
        public static let forMoving = WritingOptions(rawValue: 2)
        /// To read it and write it anew; plain writing.
        public static let forMerging = WritingOptions(rawValue: 4)
        /// To put something else in its place, also by a move; a directory as for deleting.
        public static let forReplacing = WritingOptions(rawValue: 8)
        /// To change its mode, not its content.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 16)
    }

    /// Shared with other readers; writers wait.
    public static func reading(_ path: ItemPath, _ options: ReadingOptions = []) -> AccessIntent {
        AccessIntent(path: path, kind: .reading(options))
    }

    /// Alone. A directory is granted without what is in it, unless the options say that it goes.
    public static func writing(_ path: ItemPath, _ options: WritingOptions = []) -> AccessIntent {
        AccessIntent(path: path, kind: .writing(options))
    }

    /// The entry itself is concerned, rather than what it leads to: a symbolic link is removed or moved as such, and a
    /// directory with all that is in it.
    var isStructural: Bool {
        if case .writing(let options) = kind {
            return !options.isDisjoint(with: [.forDeleting, .forMoving, .forReplacing])
        }
        return false
    }

    /// Of a directory, everything in it is concerned.
    var readsContents: Bool {
        if case .reading(let options) = kind {
            return !options.isDisjoint(with: [.forUploading, .recursively])
                && !options.contains(.immediatelyAvailableMetadataOnly)
        }
        return false
    }

    /// A private copy is to be read.
    var wantsSnapshot: Bool {
        if case .reading(let options) = kind {
            return options.contains(.forUploading) && !options.contains(.immediatelyAvailableMetadataOnly)
        }
        return false
    }

    /// If the item is moved while its lock is awaited, that is where it is wanted. Not what is to be put in its place.
    var followsMoves: Bool {
        if case .writing(let options) = kind { return !options.contains(.forReplacing) }
        return needsLock
    }

    /// False where what the directory says of the item is enough.
    var needsLock: Bool { mode(concernsDirectory: false) != nil }

    /// Nil where no lock is needed. With a directory in the request, the place that it moves to is granted with
    /// everything below, too: it comes to be there.
    func mode(concernsDirectory: Bool) -> LockMode? {
        switch kind {
        case .reading(let options):
            // A directory's copy has everything in it as it is at one moment. Locks that share a whole directory there
            // are none.
            readsContents && concernsDirectory
                ? .structural : options.contains(.immediatelyAvailableMetadataOnly) ? nil : .reading
        case .writing: isStructural && concernsDirectory ? .structural : .writing
        }
    }
}

/// What a write did.
public enum WriteOutcome: Hashable, Sendable {
    /// The item has new content; the generation is the sequence of its record in the journal.
    case written(UInt64)
    /// It had this content already: nothing was written, nobody is told.
    case unchanged
}
