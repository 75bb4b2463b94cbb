extension NSFileCoordinator {
    /// The purpose of a coordinated read.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as on Apple's systems.
        public let rawValue: UInt
        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Reads the item as it is on the disk: presenters let go of it, but do not save first.
        public static let withoutChanges = ReadingOptions(rawValue: 1)
        /// Reads what a symbolic link leads to, as every coordinated read does here.
        public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
        /// Reads only what the directory reports of the item at this moment: no lock, no wait.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
        /// Reads a private copy, which is made under the lock and deleted after the accessor. The accessor's URL is
        /// that of the copy, which has the item's name, in a private directory. A directory is copied as a directory.
        public static let forUploading = ReadingOptions(rawValue: 8)
    }

    /// The purpose of a coordinated write.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as on Apple's systems.
        public let rawValue: UInt
        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Removes the item: its presenters are asked to close it. A directory is granted with everything in it.
        public static let forDeleting = WritingOptions(rawValue: 1)
        /// Moves the item away. A directory is granted with everything in it.
        public static let forMoving = WritingOptions(rawValue: 2)
        /// Reads the item and writes it anew: its presenters are asked to save first.
        public static let forMerging = WritingOptions(rawValue: 4)
        /// Puts another item in its place. A directory is granted with everything in it.
        public static let forReplacing = WritingOptions(rawValue: 8)
        /// Changes only metadata that does not concern presenters.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 16)
    }
}
