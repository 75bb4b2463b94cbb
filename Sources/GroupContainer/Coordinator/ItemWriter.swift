import GroupSystemCalls

/// New content for an item, piece by piece: as much as the disk has room for, in a constant amount of memory. What has
/// come is nobody's until the closure has returned; if that throws, or the process dies, nothing is left of it.
public struct ItemWriter: ~Copyable {
    /// What is no larger stays in memory until it is written.
    private static let held = Int(ItemState.largestHashed)

    private let member: Member
    private let label: String
    private var buffer: [UInt8] = []
    private var file: StagedFile?
    /// A caller that catches it has not written everything.
    private var failure: CoordinationError?

    init(_ path: ItemPath, by member: Member) throws(CoordinationError) {
        (self.member, label) = (member, path.description)
        try member.checkNotForked("write")
        // Before anything comes, which may take long.
        _ = try path.location(for: "write")
        if let readOnly = member.readOnly { throw readOnly.error(label, "write") }
    }

    /// Appends bytes. Errors: `noSpace`, `notPermitted`, `limitReached`, `inputOutput`; then nothing is written,
    /// whether it is caught or not. System calls: write(2), once there is more than 1 MiB
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

    /// Appends bytes; see above.
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

    /// Everything that `body` writes.
    static func content(
        for path: ItemPath, by member: Member, _ body: (inout ItemWriter) throws -> Void
    ) throws -> NewContent {
        var writer = try ItemWriter(path, by: member)
        try body(&writer)
        return try writer.finish()
    }
}
