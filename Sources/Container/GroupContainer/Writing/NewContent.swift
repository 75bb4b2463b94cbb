import GroupLocking
import GroupSystemCalls

/// The new content of an item.
enum NewContent: Sendable {
    /// Content in memory.
    case bytes([UInt8])
    /// Content in a file in staging with a name of its own, which is not hashed: it was written piece by piece and is
    /// larger than the limit for hashing, or a service has made it.
    case staged(StagedFile)

    var size: UInt64 {
        switch self {
        case .bytes(let bytes): UInt64(bytes.count)
        case .staged(let file): file.size
        }
    }

    /// The size in bytes from which writing to the disk takes so long that other work can be done meanwhile.
    fileprivate static let worthBeginning = 65_536

    /// Creates a file in staging with this content and these attributes; returns its status before they were set.
    /// For content in memory, calls `meanwhile` between writing the bytes and setting the attributes; if the content is
    /// durable and large, the disk has begun to write by then. For staged content, does not call it. System calls:
    /// openat2, write, sync_file_range, those of `FileAttributes`, fsync; for staged content also renameat2
    func make(
        _ name: [UInt8], in staging: borrowing FileDescriptor, _ attributes: FileAttributes, _ durability: Durability,
        meanwhile: () -> Void = {}
    ) throws(Errno) -> FileStatus {
        switch self {
        case .bytes(let bytes):
            let file = try FileDescriptor.open(
                name, in: staging, .newFile, mode: attributes.creationMode)
            try file.writeAll(bytes)
            if durability == .durable && bytes.count >= Self.worthBeginning { file.beginWriting() }
            meanwhile()
            let made = try attributes.apply(to: file)
            if durability == .durable { try file.synchronize() }
            return made
        case .staged(let file):
            if durability == .durable { file.descriptor.beginWriting() }
            let resolved = try attributes.withUmaskApplied(trying: name, in: staging)
            try staging.rename(file.name, to: name, in: staging, replacing: false)
            let made = try resolved.apply(to: file.descriptor)
            if durability == .durable { try file.descriptor.synchronize() }
            return made
        }
    }
}

/// A file in staging that is not a copy of an item. Its name is removed with its last reference, or by repair after its
/// process died.
final class StagedFile: Sendable {
    let name: [UInt8]
    let descriptor: FileDescriptor
    private let directory: OpenDirectory
    private let written = Guarded<UInt64>(0)

    var size: UInt64 { written.withLock { $0 } }

    /// Creates the file, accessible to this user only, whatever its later mode. System calls: openat2(2)
    init(by container: OpenContainer) throws(Errno) {
        name = StagingName.of(container.memberTable.makeOperation())
        directory = container.directory.stagingDirectory
        descriptor = try FileDescriptor.open(
            name, in: directory.descriptor, .newFile, mode: 0o600)
    }

    /// Moves a file of another directory below `.group` to staging. System calls: openat2(2), renameat2(2), statx(2)
    init(
        moving other: [UInt8], in origin: borrowing FileDescriptor, by container: OpenContainer
    ) throws(Errno) {
        name = StagingName.of(container.memberTable.makeOperation())
        directory = container.directory.stagingDirectory
        descriptor = try FileDescriptor.open(other, in: origin, [.writing])
        try origin.rename(other, to: name, in: directory.descriptor, replacing: false)
        let size = try descriptor.status().size
        written.withLock { $0 = size }
    }

    // A file that became an item has another name by now.
    deinit { try? directory.descriptor.unlink(name) }

    /// Copies everything of another file to this empty one.
    func copy(_ source: borrowing FileDescriptor) throws(Errno) {
        try descriptor.copyContent(of: source)
        let size = try descriptor.status().size
        written.withLock { $0 = size }
    }

    func append(_ bytes: Span<UInt8>) throws(Errno) {
        try descriptor.writeAll(bytes)
        written.withLock { $0 += UInt64(bytes.count) }
    }
}

extension OpenContainer {
    /// Returns the hash of content that takes less time to hash than a file takes to open; nil for any other.
    func quickHash(of content: NewContent) -> UInt64? {
        content.size <= NewContent.worthBeginning ? contentHash(of: content) : nil
    }

    func contentHash(of content: NewContent) -> UInt64? {
        switch content {
        case .bytes(let bytes): contentHash(of: bytes)
        case .staged: nil
        }
    }
}
