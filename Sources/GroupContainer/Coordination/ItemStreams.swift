import GroupSystemCalls

/// Reads an item's content piece by piece, in a constant amount of memory. Valid during its closure.
public struct ItemReader: ~Copyable {
    /// The size in bytes, when reading began.
    public let size: UInt64
    let status: FileStatus
    private let file: FileDescriptor
    private let label: String
    /// Content that was read already and is still to be returned.
    private var held: ArraySlice<UInt8>

    /// Opens a regular file. Errors: `notFound`, `wrongType`, and those of the system. System calls: openat2, statx
    init(
        of path: [UInt8], in directory: borrowing FileDescriptor, label: String
    ) throws(CoordinationError) {
        let file = try translating(label, "read") { () throws(Errno) in
            // Opening a FIFO without `nonBlocking` would wait.
            try FileDescriptor.open(path, in: directory, [.reading, .notFollowing, .nonBlocking])
        }
        let status = try translating(label, "read") { () throws(Errno) in try file.status() }
        if !status.isRegularFile {
            throw CoordinationError(
                .wrongType, item: label, operation: "read",
                cause: status.isDirectory ? "it is a directory" : "it is not a regular file")
        }
        (self.label, self.status, size, held) = (label, status, status.size, [])
        self.file = file
    }

    /// Returns the next piece, at least one byte and at most `count`; nil at the end. Errors: `inputOutput`.
    /// System calls: read(2)
    public mutating func read(upToCount count: Int = 65_536) throws(CoordinationError) -> [UInt8]? {
        if !held.isEmpty {
            defer { held = held.dropFirst(max(1, count)) }
            return Array(held.prefix(max(1, count)))
        }
        var piece = [UInt8](repeating: 0, count: max(1, min(count, 1 << 20)))
        let found = try translating(label, "read") { () throws(Errno) in try file.read(into: &piece) }
        if found == 0 { return nil }
        if found < piece.count { piece.removeLast(piece.count - found) }
        return piece
    }

    /// Reads all content and keeps it for later calls of `read`.
    mutating func hold() throws(CoordinationError) -> [UInt8] {
        let content = try translating(label, "read") { () throws(Errno) in try file.readAll() }
        held = content[...]
        return content
    }
}

/// Collects new content for an item piece by piece: as much as the disk has room for, in a constant amount of memory.
/// The content becomes visible only after the closure has returned; if the closure throws, or the process dies, nothing
/// of it remains.
public struct ItemWriter: ~Copyable {
    /// The largest content that stays in memory until it is written.
    private static let held = Int(ItemState.largestHashed)

    private let member: Member
    private let label: String
    private var buffer: [UInt8] = []
    private var file: StagedFile?
    /// The first failure; if the closure catches it, the content is still incomplete.
    private var failure: CoordinationError?

    init(_ path: ItemPath, by member: Member) throws(CoordinationError) {
        (self.member, label) = (member, path.description)
        try member.checkNotForked("write")
        // Checked before the closure delivers content, which may take long.
        _ = try path.location(for: "write")
        if let readOnly = member.readOnly { throw readOnly.error(label, "write") }
    }

    /// Appends bytes. Errors: `noSpace`, `notPermitted`, `limitReached`, `inputOutput`; after an error nothing is
    /// written, whether the closure catches it or not. System calls: write(2), once there is more than 1 MiB
    public mutating func write(_ bytes: Span<UInt8>) throws(CoordinationError) {
        if let failure { throw failure }
        do throws(Errno) {
            try append(bytes)
        } catch {
            let failure = CoordinationError(error, item: label, operation: "write")
            self.failure = failure
            (file, buffer) = (nil, [])
            throw failure
        }
    }

    /// Appends a collection of bytes. See `write(_:)`.
    public mutating func write(contentsOf bytes: some Collection<UInt8>) throws(CoordinationError) {
        let bytes = Array(bytes)
        try write(bytes.span)
    }

    private mutating func append(_ bytes: Span<UInt8>) throws(Errno) {
        if buffer.count + bytes.count > Self.held {
            try flush()
            if bytes.count > Self.held / 2 { return try open().append(bytes) }
        }
        unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    }

    private mutating func open() throws(Errno) -> StagedFile {
        if let file { return file }
        let new = try StagedFile(by: member)
        file = new
        return new
    }

    private mutating func flush() throws(Errno) {
        if buffer.isEmpty { return }
        try open().append(buffer.span)
        buffer.removeAll(keepingCapacity: true)
    }

    consuming func finish() throws(CoordinationError) -> NewContent {
        if let failure { throw failure }
        guard let file else { return .bytes(buffer) }
        try translating(label, "write") { () throws(Errno) in try file.append(buffer.span) }
        return .staged(file)
    }

    /// Returns everything that `body` writes.
    static func content(
        for path: ItemPath, by member: Member, _ body: (inout ItemWriter) throws -> Void
    ) throws -> NewContent {
        var writer = try ItemWriter(path, by: member)
        try body(&writer)
        return try writer.finish()
    }
}

/// Reading and writing piece by piece.
extension Access {
    /// Calls `body` to read an item's content piece by piece, or its snapshot's if the request included one. The lock
    /// is held meanwhile: for reading that takes long, use `.forUploading`. Errors: those of `readBytes` and of `body`.
    /// System calls: openat2, statx, read
    public func read<Answer>(_ path: ItemPath, _ body: (inout ItemReader) throws -> Answer) throws -> Answer {
        if let place = snapshotPlace(of: path) {
            var reader = try ItemReader(of: place, in: member.directory.staging, label: path.description)
            return try body(&reader)
        }
        let location = try location(path, for: .reading, "read")
        var reader = try ItemReader(of: location.bytes, in: member.directory.root, label: printable(location.bytes))
        return try body(&reader)
    }

    /// Replaces an item's content atomically with what `body` writes; see `write(bytes:to:if:mode:)`. The lock is held
    /// meanwhile, unlike with the coordinator's `write(to:)`, which requests it when the content is complete. If `body`
    /// throws, nothing is changed. Errors: those of `write(bytes:to:if:mode:)` and of `body`.
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteOutcome {
        _ = try location(path, for: .writing, "write")
        return try write(ItemWriter.content(for: path, by: member, body), to: path, if: condition, mode: mode)
    }
}

extension TransactionAccess {
    /// Calls `body` to read an item's content piece by piece, with the transaction's changes. Errors: those of
    /// `readBytes` and of `body`. System calls: openat2, statx, read
    public func read<Answer>(_ path: ItemPath, _ body: (inout ItemReader) throws -> Answer) throws -> Answer {
        var reader = try reader(of: location(path, for: .reading, "read"))
        return try body(&reader)
    }

    /// Replaces an item's content with what `body` writes; see `write(bytes:to:if:mode:)`. If `body` throws, and the
    /// transaction's closure catches the error, the transaction continues without this change.
    @discardableResult
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> StagedOutcome {
        _ = try location(path, for: .writing, "write")
        return try write(ItemWriter.content(for: path, by: member, body), to: path, if: condition, mode: mode)
    }
}

extension BlockingCoordinator {
    /// Calls `body` to read an item's content piece by piece, under a shared lock. See `Access.read`.
    public func read<Answer>(
        _ path: ItemPath, timeout: Duration? = .seconds(30), _ body: (inout ItemReader) throws -> Answer
    ) throws -> Answer {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.read(path, body) }
    }

    /// Calls `body` to read an item's content piece by piece, and returns its generation for a later compare-and-set.
    /// See `Access.readVersion`.
    public func readVersion<Answer>(
        _ path: ItemPath, timeout: Duration? = .seconds(30), _ body: (inout ItemReader) throws -> Answer
    ) throws -> Versioned<Answer> {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path, body) }
    }

    /// Replaces an item's content with what `body` writes piece by piece. The exclusive lock is requested when the
    /// content is complete, so that no process waits for `body`. If `body` throws, nothing is changed. See
    /// `Access.write`.
    @discardableResult
    public func write(
        to path: ItemPath, _ durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = .seconds(30), _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteOutcome {
        let content = try ItemWriter.content(for: path, by: coordinator.member, body)
        return try coordinate([.writing(path)], operation: "write", durability, timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }
    }
}

extension Coordinator {
    /// Calls `body` to read an item's content piece by piece, under a shared lock, on a thread of its own. See
    /// `Access.read`.
    public func read<Answer: Sendable>(
        _ path: ItemPath, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout ItemReader) throws -> Answer
    ) async throws -> Answer {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.read(path, body) }
    }

    /// Calls `body` to read an item's content piece by piece, and returns its generation for a later compare-and-set.
    /// See `Access.readVersion`.
    public func readVersion<Answer: Sendable>(
        _ path: ItemPath, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout ItemReader) throws -> Answer
    ) async throws -> Versioned<Answer> {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path, body) }
    }

    /// Replaces an item's content with what `body` writes piece by piece, on a thread of its own. The exclusive lock is
    /// requested when the content is complete, so that no process waits for `body`. If `body` throws, nothing is
    /// changed. See `Access.write`.
    @discardableResult
    public func write(
        to path: ItemPath, _ durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout ItemWriter) throws -> Void
    ) async throws -> WriteOutcome {
        let member = member
        let content = try await Self.offload { try ItemWriter.content(for: path, by: member, body) }
        return try await coordinate([.writing(path)], operation: "write", durability, timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }
    }
}
