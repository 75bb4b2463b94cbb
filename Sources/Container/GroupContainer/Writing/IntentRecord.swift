import GroupLocking
import GroupBytes
import GroupSystemCalls

/// The intent record of a change, written into staging before the change, so that another member can finish it after
/// the writer's death: which inode moves from where to where, and where in the journal to look for the change record.
/// See CrashRepair.swift.
struct IntentRecord: Equatable, Sendable {
    /// The paths between which the inode moves. `path` and `from` are those of the change record.
    enum Way: UInt8, Sendable {
        /// From staging to `path`: new content.
        case intoPlace = 1
        /// From `path` into staging: a removal.
        case intoStaging = 2
        /// From `from` to `path`.
        case fromPlaceToPlace = 3
        /// The inode stays at `path`; its mode is set to the record's.
        case inPlace = 4
        /// From `path` into a private directory: a removal of a file that is kept. See `PrivateDirectory.takeOut`.
        case intoPrivateDirectory = 5

        var isRemoval: Bool { self == .intoStaging || self == .intoPrivateDirectory }
    }

    var way: Way
    var inode: UInt64
    /// The journal's end before the change.
    var journalSegment: UInt64
    var journalOffset: UInt64
    var change: ChangeRecord

    /// Returns whether the change happened, from the inodes that are in staging, at `path` and at `from` now; an
    /// argument is nil where no item is. A rename is atomic: the inode is at exactly one of the two paths.
    func hasHappened(staged: UInt64?, destination: ItemState?, origin: UInt64?) -> Bool {
        switch way {
        case .intoPlace: destination?.inode == inode && staged == nil
        case .intoStaging: staged == inode
        // The private directory's user may have moved the file on, so only the item's path is looked at.
        case .intoPrivateDirectory: destination?.inode != inode
        case .fromPlaceToPlace: destination?.inode == inode && origin != inode
        case .inPlace: destination?.inode == inode && destination?.mode == change.state?.mode
        }
    }

    /// Returns the number of the journal's segment in which to look for the record, from an intent record's first
    /// bytes; nil for a file that was cut short.
    static func journalSegment(ofIntentRecord bytes: [UInt8]) -> UInt64? {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(8)) == magic, (try? reader.raw(24)) != nil else { return nil }
        return try? reader.number()
    }

    /// The limit for the file of an intent record, in bytes. The change record in it is smaller, because it fits into
    /// one segment of the log.
    static let largest = 8 << 20
    /// The size of all fields before the change record.
    private static let headSize = 48
    private static let magic = Array("GROUPOP3".utf8)

    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: Self.headSize + change.mostBytes + 8)
        writer.write(raw: Self.magic)
        // The size, once it is known.
        writer.write(UInt64(0))
        writer.write(UInt64(way.rawValue))
        writer.write(inode)
        writer.write(journalSegment)
        writer.write(journalOffset)
        change.encode(into: &writer)
        writer.overwrite(UInt64(writer.bytes.count), at: Self.magic.count)
        writer.write(SipHash(key: (0, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Decodes an intent record; nil for a file that was cut short: the operation was not announced (`inFlight`) then,
    /// and nothing happened.
    init?(decoding bytes: [UInt8]) {
        var head = ByteReader(bytes)
        guard (try? head.raw(8)) == Self.magic, let size = try? head.number(UInt64.self), size >= Self.headSize,
            let count = Int(exactly: size), bytes.count >= 8, count <= bytes.count - 8
        else { return nil }
        let body = Array(bytes[..<count])
        var tail = ByteReader(Array(bytes[count..<(count + 8)]))
        guard let checksum = try? tail.number(UInt64.self), checksum == SipHash(key: (0, 0)).hash(body) else {
            return nil
        }
        var reader = ByteReader(body)
        guard (try? reader.raw(16)) != nil, let number = try? reader.number(UInt64.self),
            let way = UInt8(exactly: number).flatMap(Way.init), let inode = try? reader.number(UInt64.self),
            let segment = try? reader.number(UInt64.self), let offset = try? reader.number(UInt64.self),
            let rest = try? reader.raw(reader.remaining), let change = try? ChangeRecord(decoding: rest)
        else { return nil }
        self.way = way
        self.inode = inode
        journalSegment = segment
        journalOffset = offset
        self.change = change
    }

    init(way: Way, inode: UInt64, journalSegment: UInt64, journalOffset: UInt64, change: ChangeRecord) {
        self.way = way
        self.inode = inode
        self.change = change
        self.journalSegment = journalSegment
        self.journalOffset = journalOffset
    }
}

/// The files of a member's intent records, for the member that repairs its changes. Each `inFlight` entry has a file in
/// staging, which stays open and is overwritten, because creating and removing a file for each change would cost more
/// than the change's rename.
final class IntentFiles: Sendable {
    private let files = Guarded([Int: File]())

    private final class File: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// Writes an intent record, before its entry is announced. The file need not be synchronized, because a repairer
    /// reads it in the same boot only. System calls: pwrite(2); openat2(2), statx(2), fchmod(2) for the first record of
    /// an entry
    func write(
        _ record: IntentRecord, entry: Int, nonce: UInt64, in directory: ContainerDirectories
    ) throws(Errno) {
        try file(entry, nonce, in: directory).descriptor.overwrite(record.encoded())
    }

    private func file(_ entry: Int, _ nonce: UInt64, in directory: ContainerDirectories) throws(Errno) -> File {
        if let file = files.withLock({ $0[entry] }) { return file }
        let name = StagingName.intentRecord(nonce: nonce, entry: entry)
        var opened = try FileDescriptor.open(name, in: directory.staging, [.writing, .creating], mode: 0o600)
        // A file with this name may exist: the renamed reserve is used, and a file with further hard links is replaced.
        if try opened.status().links > 1 { opened = try FileDescriptor.createAnew(name, in: directory.staging) }
        let file = File(opened)
        // The repairer may be another user of the Unix group.
        if directory.fileMode != 0o600 { try file.descriptor.setMode(directory.fileMode) }
        files.withLock { $0[entry] = file }
        return file
    }

    /// Closes the entry's file: the next intent record of the entry goes into another file.
    func forget(_ entry: Int) { files.withLock { $0[entry] = nil } }

    /// Removes all files, when the member leaves.
    func remove(nonce: UInt64, in staging: borrowing FileDescriptor) {
        let entries = files.withLock { files in
            defer { files = [:] }
            return Array(files.keys)
        }
        for entry in entries { try? staging.unlink(StagingName.intentRecord(nonce: nonce, entry: entry)) }
    }
}
