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

    /// What whoever decides takes, and where the contents are to be.
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

    /// The item that the proposal is about, at its place afterwards; nil where it is about several.
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

/// The largest content that a writer takes.
package struct ContentLimit: Sendable {
    var bytes: UInt64
    /// Who takes no more, for errors.
    var whose: String

    /// Checks the size of a content. Error: `limitReached`
    package func check(_ size: UInt64, _ item: String, _ operation: String) throws(CoordinationError) {
        if size <= bytes { return }
        throw CoordinationError(
            .limitReached, operation: operation, item: item,
            reason: "\(whose) takes contents of at most \(bytes) bytes; nothing was changed",
            remedy: .init(.reduceSize, "divide the content into several items"))
    }
}

/// The contents of a proposal, in the terms' directory, which whoever decides reads.
///
/// The names are `OPERATION.NUMBER`. The caller removes the files when it is decided, or was not asked for after all. What
/// a killed caller leaves is to be removed by whoever decides: the files of an operation that nobody has asked about, and
/// whose caller is not present. The caller is present from before the first file until its wait has ended.
final class ProposalFiles: Sendable {
    let directory: FileDescriptor
    private let operation: String
    private let mode: UInt32
    private let presence: Presence

    init(of operation: String, _ terms: Proposal.Terms, in opened: OpenContainer) throws(CoordinationError) {
        self.operation = operation
        mode = opened.directory.fileMode
        let container = Container(opened)
        presence = try Presence(terms.presence(operation), in: container)
        directory = try PrivateDirectory(terms.directory, in: container).open()
    }

    static func name(_ operation: String, _ number: Int) -> [UInt8] { Array("\(operation).\(number)".utf8) }

    func name(_ number: Int) -> [UInt8] { Self.name(operation, number) }

    /// Writes a content, or moves its file here from staging. System calls: openat2, write or renameat2, fsync
    func stage(
        _ content: NewContent, as name: [UInt8], from staging: borrowing FileDescriptor
    ) throws(Errno) {
        switch content {
        case .bytes(let bytes):
            let file = try create(name)
            try file.writeAll(bytes)
            try finish(file)
        case .staged(let file):
            try staging.rename(file.name, to: name, in: directory, replacing: false)
            try finish(file.descriptor)
        }
    }

    /// Copies a file. The surrounding program may have it open and locked, so it is opened in a separate table of
    /// descriptors.
    func copy(
        _ original: [UInt8], in root: borrowing FileDescriptor, as name: [UInt8], atMost limit: UInt64
    ) throws(Errno) {
        try SeparateTable.within(root, directory) { root, directory throws(Errno) in
            let source = try FileDescriptor.open(original, in: root, [.reading, .notFollowing, .nonBlocking])
            let copy = try FileDescriptor.open(name, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
            try copy.copyContent(of: source)
            // The file may have grown since.
            if try copy.status().size > limit { throw .tooLarge }
            try finish(copy)
        }
    }

    private func create(_ name: [UInt8]) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(name, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
    }

    private func finish(_ file: borrowing FileDescriptor) throws(Errno) {
        // Whoever decides may be another user of the Unix group.
        if mode != 0o600 { try file.setMode(mode) }
        try file.synchronize()
    }

    func remove(_ number: Int) { remove(name(number)) }

    func remove(_ name: [UInt8]) { try? directory.unlink(name) }

    func discard(_ numbers: [Int]) { for number in numbers { remove(number) } }
}
