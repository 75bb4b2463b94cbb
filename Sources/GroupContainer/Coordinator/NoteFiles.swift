import GroupSystemCalls

/// Where a member notes what its changes under way are about to do, for the member that repairs them: a file in staging
/// for each of its entries in `pending`, kept open and written over, because making and removing one for each change
/// would cost more than the change's rename.
final class NoteFiles: Sendable {
    private let files = Guarded([Int: File]())

    private final class File: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// The member's nonce comes first in the names of all that it has in staging.
    static func name(nonce: UInt64, entry: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(nonce)
        return Array((Hexadecimal.encode(writer.bytes) + ".\(entry).note").utf8)
    }

    /// Before the entry is announced. The repairer reads it in the same boot: it needs no way to the disk.
    /// System calls: pwrite(2); openat2(2), fchmod(2) for the first one of an entry
    func write(_ note: OperationRecord, entry: Int, of member: Member) throws(Errno) {
        try file(entry, of: member).descriptor.overwrite(note.encoded())
    }

    private func file(_ entry: Int, of member: Member) throws(Errno) -> File {
        if let file = files.withLock({ $0[entry] }) { return file }
        let name = Self.name(nonce: member.memberTable.nonce, entry: entry)
        let file = File(
            try FileDescriptor.open(name, in: member.directory.staging, [.writing, .creating], mode: 0o600))
        // The repairer may be another user of the Unix group.
        if member.directory.fileMode != 0o600 { try file.descriptor.setMode(member.directory.fileMode) }
        files.withLock { $0[entry] = file }
        return file
    }

    /// The next note of the entry is in another file.
    func forget(_ entry: Int) { files.withLock { $0[entry] = nil } }

    /// At the member's end.
    func remove(nonce: UInt64, in staging: borrowing FileDescriptor) {
        let entries = files.withLock { files in
            defer { files = [:] }
            return Array(files.keys)
        }
        for entry in entries { try? staging.unlink(Self.name(nonce: nonce, entry: entry)) }
    }
}
