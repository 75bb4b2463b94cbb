package import GroupSystemCalls

/// The changes of one call that somebody else decides about: collected under the call's locks, and not made. When the
/// locks have ended, they are made or not, as is decided.
package struct Proposal: Sendable {
    /// A change of one item, or the condition that an item is as it was.
    package struct Part: Codable, Equatable, Sendable {
        package enum Action: String, Codable, Sendable {
            case write, createDirectory, move, remove
            /// Nothing: the item was read, and must be as it was.
            case check
        }
        package var action: Action
        /// The item, as text.
        package var path: String
        /// Where a move leads to.
        package var destination: String?
        /// The name of the file, in the terms' directory, that a write makes the item's content.
        package var content: String?
        /// The permission bits; nil for those that the item has, or that the umask leaves.
        package var mode: UInt16?
        /// The item's generation when the call first looked at it; nil where there was no item.
        package var before: UInt64?
        /// Whether the part fits only the item as it was then. Otherwise it replaces what the item is when its turn
        /// comes.
        package var isConditional: Bool

        package init(
            _ action: Action, path: String, destination: String? = nil, content: String? = nil, mode: UInt16? = nil,
            before: UInt64?, isConditional: Bool
        ) {
            self.action = action
            self.path = path
            self.destination = destination
            self.content = content
            self.mode = mode
            self.before = before
            self.isConditional = isConditional
        }
    }

    /// What the decider takes, and where the contents are to be.
    package struct Terms: Sendable {
        /// Who decides, for errors: "the …".
        package var decider: String
        /// The directory below `.group` for the contents.
        package var directory: String
        /// The largest content of an item, in bytes.
        package var largestContent: UInt64
        /// The largest number of parts.
        package var largestCount: Int
        /// Returns the name under which the caller of an operation is present, from before its first file is staged.
        package var presence: @Sendable (_ operation: String) -> String

        package init(
            decider: String, directory: String, largestContent: UInt64, largestCount: Int,
            presence: @escaping @Sendable (_ operation: String) -> String
        ) {
            self.decider = decider
            self.directory = directory
            self.largestContent = largestContent
            self.largestCount = largestCount
            self.presence = presence
        }

        /// Checks the size of a content. Error: `limitReached`
        func checkSize(_ size: UInt64, _ item: String, _ operation: String) throws(CoordinationError) {
            try contentLimit.check(size, item, operation)
        }

        package var contentLimit: ContentLimit { ContentLimit(bytes: largestContent, whose: decider) }
    }

    /// The name of the operation, 32 hexadecimal digits.
    package let operation: String
    package private(set) var parts: [Part] = []
    private let files: ProposalFiles?

    init(operation: String, files: ProposalFiles?) {
        self.operation = operation
        self.files = files
    }

    mutating func add(_ part: Part) { parts.append(part) }

    /// The item that the proposal is about, at its path afterwards; nil where it is about several.
    package var onlyItem: ItemPath? {
        let changes = parts.filter { $0.action != .check }
        let named = changes.filter { $0.action != .createDirectory || $0.isConditional }
        guard let only = named.count == 1 ? named.first : changes.count == 1 ? changes.first : nil else { return nil }
        return ItemPath(only.destination ?? only.path)
    }

    /// Writes the names of the contents to the disk. System calls: fsync
    package func synchronize() throws(Errno) { try files?.directory.synchronize() }

    /// Removes the contents: it is decided, or is not to be.
    package func discard() {
        for part in parts { if let name = part.content { files?.remove(Array(name.utf8)) } }
    }

    /// Returns a name for an operation or a request: 32 hexadecimal digits.
    package static func newName() -> String {
        randomBytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
