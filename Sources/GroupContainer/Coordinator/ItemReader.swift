import GroupSystemCalls

/// An item's content, piece by piece: however large it is, in a constant amount of memory. For the time of its closure.
public struct ItemReader: ~Copyable {
    /// In bytes, when reading began.
    public let size: UInt64
    let status: FileStatus
    private let file: FileDescriptor
    private let label: String
    /// What was read already.
    private var held: ArraySlice<UInt8>

    /// Of a regular file. Errors: `notFound`, `wrongType`, and those of the system. System calls: openat2, statx
    init(
        of path: [UInt8], in directory: borrowing FileDescriptor, label: String
    ) throws(CoordinationError) {
        let file = try translating(label, "read") { () throws(Errno) in
            // A FIFO would wait.
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

    /// The next piece: at least one byte and at most `count`; nil at the end. Errors: `inputOutput`.
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

    /// Everything, kept to be read again.
    mutating func hold() throws(CoordinationError) -> [UInt8] {
        let content = try translating(label, "read") { () throws(Errno) in try file.readAll() }
        held = content[...]
        return content
    }
}
