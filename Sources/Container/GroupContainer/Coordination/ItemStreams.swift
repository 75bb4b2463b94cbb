import GroupLocking
import GroupBytes
package import GroupSystemCalls

/// Reads an item's content piece by piece, in a constant amount of memory. Valid during its closure.
public struct ItemReader: ~Copyable {
    /// The size in bytes, when reading began.
    public let size: UInt64
    let status: FileStatus
    private let file: FileDescriptor
    private let container: OpenContainer
    private let label: String
    /// Content that was read already and is still to be returned.
    private var held: ArraySlice<UInt8>

    /// Opens a regular file. Errors: `notFound`, `wrongType`, and those of the system. System calls: openat2, statx
    init(
        of path: [UInt8], in directory: borrowing FileDescriptor, label: String, by container: OpenContainer
    ) throws(CoordinationError) {
        let file = try container.locating { () throws(CoordinationError) in
            try translating("read", item: label) { () throws(Errno) in
                // Opening a FIFO without `nonBlocking` would wait.
                try FileDescriptor.open(path, in: directory, .readingItself)
            }
        }
        let status = try container.locating { () throws(CoordinationError) in
            try translating("read", item: label) { () throws(Errno) in try file.status() }
        }
        if !status.isRegularFile {
            throw CoordinationError(
                .wrongType, operation: "read", item: label,
                reason: status.isDirectory ? "the item is a directory" : "the item is not a regular file"
            ).located(in: container)
        }
        self.container = container
        self.label = label
        self.status = status
        size = status.size
        held = []
        self.file = file
    }

    /// Returns the next piece, at least one byte and at most `count`; nil at the end. Errors: `inputOutput`;
    /// `conflict` at the end, if a program has changed the content in place meanwhile. System calls: read(2); statx(2)
    /// at the end
    public mutating func read(upToCount count: Int = 65_536) throws(CoordinationError) -> [UInt8]? {
        if !held.isEmpty {
            defer { held = held.dropFirst(max(1, count)) }
            return Array(held.prefix(max(1, count)))
        }
        var piece = [UInt8](repeating: 0, count: max(1, min(count, 1 << 20)))
        let found: Int
        do throws(Errno) {
            found = try file.read(into: &piece)
        } catch {
            throw CoordinationError(error, operation: "read", item: label).located(in: container)
        }
        if found == 0 {
            try checkIsWhole()
            return nil
        }
        if found < piece.count { piece.removeLast(piece.count - found) }
        return piece
    }

    /// Checks that no program has changed the content in place meanwhile, which a lock does not prevent: what was read
    /// may be a part of it. A file that has grown is read up to where it ended. Errors: `conflict`. System calls:
    /// statx(2)
    private func checkIsWhole() throws(CoordinationError) {
        guard let now = try? file.status(), now.size <= status.size,
            (now.size, now.modified) != (status.size, status.modified)
        else { return }
        throw CoordinationError(
            .conflict, operation: "read", item: label,
            reason: "a program changed it without coordination while it was read; what was read may be a part of it",
            remedy: .tryAgain
        ).located(in: container)
    }

    /// Returns the rest of the content, or nil if it has more than `limit` bytes. Errors: those of `read(upToCount:)`
    package mutating func readAll(atMost limit: Int) throws(CoordinationError) -> [UInt8]? {
        if size > UInt64(clamping: limit) { return nil }
        var content: [UInt8] = []
        // A program may append to the file meanwhile.
        while let piece = try read(upToCount: 1 << 20) {
            content += piece
            if content.count > limit { return nil }
        }
        return content
    }

    /// Calls `body` with the opened file, which is at its beginning as long as nothing was read.
    package func withFile<Answer>(_ body: (borrowing FileDescriptor) throws -> Answer) rethrows -> Answer {
        try body(file)
    }

    /// Reads all content and keeps it for later calls of `read`.
    mutating func hold() throws(CoordinationError) -> [UInt8] {
        do throws(Errno) {
            let content = try file.readAll(size: size)
            held = content[...]
            return content
        } catch {
            throw CoordinationError(error, operation: "read", item: label).located(in: container)
        }
    }
}

/// Collects new content for an item piece by piece: as much as the disk has room for, in a constant amount of memory.
/// The content becomes visible only after the closure has returned; if the closure throws, or the process dies, nothing
/// of it remains.
public struct ItemWriter: ~Copyable {
    /// The largest content that stays in memory until it is written.
    private static let held = Int(ItemState.largestHashed)

    private let container: OpenContainer
    private let label: String
    private var buffer: [UInt8] = []
    private var file: StagedFile?
    /// The first failure; if the closure catches it, the content is still incomplete.
    private var failure: CoordinationError?
    private let limit: ContentLimit?

    init(_ path: ItemPath, by container: OpenContainer, atMost limit: ContentLimit?) throws(CoordinationError) {
        self.container = container
        label = path.description
        self.limit = limit
        try container.checkNotForked("write")
        // Checked before the closure delivers content, which may take long.
        _ = try path.location(for: "write")
        if let readOnly = container.readOnly { throw readOnly.error(label, "write") }
    }

    /// Appends bytes. Errors: `noSpace`, `notPermitted`, `limitReached`, `inputOutput`; after an error nothing is
    /// written, whether the closure catches it or not. System calls: write(2), once there is more than 1 MiB
    public mutating func write(_ bytes: Span<UInt8>) throws(CoordinationError) {
        if let failure { throw failure }
        if let limit { try check(size: (file?.size ?? 0) + UInt64(buffer.count + bytes.count), limit) }
        do throws(Errno) {
            try append(bytes)
        } catch {
            throw failed(error)
        }
    }

    /// Appends a collection of bytes. See `write(_:)`.
    public mutating func write(contentsOf bytes: some Collection<UInt8>) throws(CoordinationError) {
        let bytes = Array(bytes)
        try write(bytes.span)
    }

    /// Appends what a file has; its offset is at the beginning. A large file that comes first is copied without its
    /// bytes, on file systems that can share them. Errors: those of `write(_:)`. System calls: read(2), write(2);
    /// ioctl(FICLONE), copy_file_range(2)
    package mutating func write(contentOf source: borrowing FileDescriptor) throws(CoordinationError) {
        do throws(Errno) {
            if file == nil, buffer.isEmpty, try source.status().size > UInt64(Self.held) {
                return try open().copy(source)
            }
        } catch {
            throw failed(error)
        }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count: Int
            do throws(Errno) {
                count = try source.read(into: &chunk)
            } catch {
                throw failed(error)
            }
            if count == 0 { return }
            try write(chunk.span.extracting(0..<count))
        }
    }

    private mutating func check(size: UInt64, _ limit: ContentLimit) throws(CoordinationError) {
        do throws(CoordinationError) {
            try limit.check(size, label, "write")
        } catch {
            throw failed(error)
        }
    }

    private mutating func failed(_ error: Errno) -> CoordinationError {
        failed(CoordinationError(error, operation: "write", item: label))
    }

    /// Gives up the content, and returns the error.
    private mutating func failed(_ error: CoordinationError) -> CoordinationError {
        let failure = error.located(in: container)
        self.failure = failure
        (file, buffer) = (nil, [])
        return failure
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
        let new = try StagedFile(by: container)
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
        try translating("write", item: label) { () throws(Errno) in try file.append(buffer.span) }
        return .staged(file)
    }

    /// Returns everything that `body` writes.
    static func content(
        for path: ItemPath, by container: OpenContainer, atMost limit: ContentLimit? = nil,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> NewContent {
        var writer = try container.locating { () throws(CoordinationError) in
            try ItemWriter(path, by: container, atMost: limit)
        }
        try body(&writer)
        do throws(CoordinationError) {
            return try writer.finish()
        } catch {
            throw error.located(in: container)
        }
    }
}

/// Reading and writing piece by piece.
extension Access {
    /// Calls `body` to read an item's content piece by piece, or its snapshot's if the request included one. The lock
    /// is held meanwhile: for reading that takes long, use `.forUploading`. Errors: those of `readBytes` and of `body`.
    /// System calls: openat2, statx, read
    public func read<Answer>(_ path: ItemPath, _ body: (inout ItemReader) throws -> Answer) throws -> Answer {
        if let copy = snapshotCopy(of: path) {
            var reader = try container.locating { () throws(CoordinationError) in
                try ItemReader(of: copy, in: container.directory.staging, label: path.description, by: container)
            }
            return try body(&reader)
        }
        var reader = try backend.reader(of: location(path, for: .shared, "read"))
        return try body(&reader)
    }

    /// The form of `read` that returns nil where there is no item.
    func readIfPresent<Answer>(_ path: ItemPath, _ body: (inout ItemReader) throws -> Answer) throws -> Answer? {
        var reader: ItemReader
        do throws(CoordinationError) {
            reader = try backend.reader(of: location(path, for: .shared, "read"))
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
        return try body(&reader)
    }

    /// Replaces an item's content atomically with what `body` writes; see `write(bytes:to:if:mode:)`. The lock is held
    /// meanwhile, unlike with the coordinator's `write(to:)`, which requests it when the content is complete. If `body`
    /// throws, nothing is changed. Errors: those of `write(bytes:to:if:mode:)` and of `body`.
    @discardableResult
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteResult {
        _ = try location(path, for: .exclusive, "write")
        return try write(
            ItemWriter.content(for: path, by: container, atMost: backend.contentLimit, body), to: path, if: condition,
            mode: mode)
    }
}

extension BlockingCoordinator {
    /// The form of `updateBytes` for an item that need not fit into memory: `body` gets a reader of the present
    /// content, and `absent` is called where there is no item.
    package func updateBytes(
        _ path: ItemPath, durability: Durability, timeout: Duration?,
        reading body: (inout ItemReader) throws -> [UInt8], absent: () throws -> [UInt8]
    ) throws -> WriteResult {
        try run(.update(path), durability, timeout) {
            try $0.write(bytes: $0.readIfPresent(path, body) ?? absent(), to: path)
        }
    }
}
