import GroupSystemCalls

/// What an item is to have.
enum NewContent: Sendable {
    /// In memory.
    case bytes([UInt8])
    /// In staging, under a name of its own: what came piece by piece and is larger than what is hashed.
    case staged(StagedFile)

    var size: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .staged(let file): file.size
        }
    }

    /// In bytes: its way to the disk takes so long that something else can be done meanwhile.
    private static let worthBeginning = 65_536

    /// Makes it a file in staging with these attributes; returns what that was before it had them. While the disk
    /// begins with it, `meanwhile` is done. System calls: openat2, write, sync_file_range, those of `FileAttributes`,
    /// fsync; of what is staged: renameat2
    func make(
        _ name: [UInt8], in staging: borrowing FileDescriptor, _ attributes: FileAttributes, _ durability: Durability,
        meanwhile: () -> Void = {}
    ) throws(Errno) -> FileStatus {
        switch self {
        case .bytes(let bytes):
            let file = try FileDescriptor.open(
                name, in: staging, [.writing, .creating, .exclusively], mode: attributes.creationMode)
            try file.writeAll(bytes)
            if durability == .durable && bytes.count >= Self.worthBeginning { file.beginWriting() }
            meanwhile()
            let made = try attributes.apply(to: file)
            if durability == .durable { try file.synchronize() }
            return made
        case .staged(let file):
            if durability == .durable { file.descriptor.beginWriting() }
            let settled = try attributes.withoutUmask(trying: name, in: staging)
            try staging.rename(file.name, to: name, in: staging, replacing: false)
            let made = try settled.apply(to: file.descriptor)
            if durability == .durable { try file.descriptor.synchronize() }
            return made
        }
    }
}

/// A file in staging that has come from nowhere in the container; it goes with its last reference, and with its
/// process.
final class StagedFile: Sendable {
    let name: [UInt8]
    let descriptor: FileDescriptor
    private let directory: OpenDirectory
    private let written = Guarded<UInt64>(0)

    var size: UInt64 { written.withLock { $0 } }

    /// For this user alone, whatever it will be. System calls: openat2(2)
    init(by member: Member) throws(Errno) {
        name = StagedChange.name(of: member.memberTable.makeOperation())
        directory = member.directory.stagingDirectory
        descriptor = try FileDescriptor.open(
            name, in: directory.descriptor, [.writing, .creating, .exclusively], mode: 0o600)
    }

    // Where it has become something it has another name.
    deinit { try? directory.descriptor.unlink(name) }

    func append(_ bytes: Span<UInt8>) throws(Errno) {
        try descriptor.writeAll(bytes)
        written.withLock { $0 += UInt64(bytes.count) }
    }
}

extension Member {
    func contentHash(of content: NewContent) -> UInt64? {
        switch content {
        case .bytes(let bytes): contentHash(of: bytes)
        // It is larger than what is hashed.
        case .staged: nil
        }
    }
}
