import GroupSystemCalls

/// What a member notes in staging before a change, so that another member can finish after its death: which inode
/// moves from where to where, and where in the journal to look for the record. See `Repair`.
struct IntentRecord: Equatable, Sendable {
    /// Between which places the inode moves. `path` and `from` are the record's.
    enum Way: UInt8, Sendable {
        /// From staging to `path`: what was made.
        case intoPlace = 1
        /// From `path` into staging: what is removed.
        case intoStaging = 2
        /// From `from` to `path`.
        case fromPlaceToPlace = 3
        /// It stays at `path`; the mode that the record says is set.
        case inPlace = 4
    }

    var way: Way
    var inode: UInt64
    /// The journal's end before the change.
    var journalFile: UInt64
    var journalOffset: UInt64
    var change: ChangeRecord

    /// Whether the change happened, from what stands in staging, at `path` and at `from` now; nil where nothing does. A
    /// rename is atomic: the inode stands at exactly one end of its way.
    func hasHappened(staged: UInt64?, place: ItemState?, origin: UInt64?) -> Bool {
        switch way {
        case .intoPlace: place?.inode == inode && staged == nil
        case .intoStaging: staged == inode
        case .fromPlaceToPlace: place?.inode == inode && origin != inode
        case .inPlace: place?.inode == inode && place?.mode == change.state?.mode
        }
    }

    /// The journal's file that a note, by its first bytes, says is to be looked through; nil for one that was cut
    /// short.
    static func journalFile(ofNote bytes: [UInt8]) -> UInt64? {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(8)) == magic, (try? reader.raw(24)) != nil else { return nil }
        return try? reader.number()
    }

    /// A record fits into a file of the log.
    static let largest = 8 << 20
    /// Before the change.
    private static let headSize = 48
    private static let magic = Array("GROUPOP3".utf8)

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        let body = change.encoded()
        writer.write(raw: Self.magic)
        writer.write(UInt64(Self.headSize + body.count))
        writer.write(UInt64(way.rawValue))
        writer.write(inode)
        writer.write(journalFile)
        writer.write(journalOffset)
        writer.write(raw: body)
        writer.write(SipHash(key: (0, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Nil for a file that was cut short: then `pending` was not yet set, and nothing happened.
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
            let file = try? reader.number(UInt64.self), let offset = try? reader.number(UInt64.self),
            let rest = try? reader.raw(reader.remaining), let change = try? ChangeRecord(decoding: rest)
        else { return nil }
        (self.way, self.inode, journalFile, journalOffset, self.change) = (way, inode, file, offset, change)
    }

    init(way: Way, inode: UInt64, journalFile: UInt64, journalOffset: UInt64, change: ChangeRecord) {
        (self.way, self.inode, self.change) = (way, inode, change)
        (self.journalFile, self.journalOffset) = (journalFile, journalOffset)
    }
}

/// Where a member notes what its changes under way are about to do, for the member that repairs them: a file in staging
/// for each of its entries in `pending`, kept open and written over, because making and removing one for each change
/// would cost more than the change's rename.
final class IntentFiles: Sendable {
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
    func write(_ note: IntentRecord, entry: Int, of member: Member) throws(Errno) {
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

/// Room for the note of one removal, kept ready, so that the container can be made smaller where the disk is full. A
/// file with all its blocks; a caller that needs it makes it the note, and gives it back after the change. A single
/// caller at a time has it, by a byte of the lock file, so that several callers that remove at once wait for each other
/// rather than fail.
extension Member {
    static let reserve = Array("reserve".utf8)
    /// A note of a removal has one path, and a purpose.
    private static let reserveSize = 16_384
    private static let patience = Duration.seconds(10)

    /// Makes it, where it is missing and there is room. Several may do that at once. System calls: statx(2)
    func keepReserve() {
        do throws(Errno) {
            if let status = try directory.group.statusIfPresent(of: Self.reserve) {
                if status.isRegularFile { return }
                try directory.group.putAside(Self.reserve)
            }
        } catch {
            return
        }
        let name = StagedChange.name(of: memberTable.makeOperation())
        do throws(Errno) {
            let file = try FileDescriptor.open(name, in: directory.staging, [.writing, .creating], mode: 0o600)
            try file.setMode(directory.fileMode)
            try file.allocate(Self.reserveSize)
            try directory.staging.rename(name, to: Self.reserve, in: directory.group, replacing: false)
        } catch {
            try? directory.staging.unlink(name)
        }
    }

    /// Writes the note of a change. Not nil: into the reserve, which nobody else has until it is given back.
    func writeNote(_ note: IntentRecord, entry: Int) throws(Errno) -> LockFile.Handle? {
        do throws(Errno) {
            try notes.write(note, entry: entry, of: self)
            return nil
        } catch {
            guard error == .noSpace, note.way == .intoStaging, note.encoded().count <= Self.reserveSize,
                let handle = try? lockFile.borrow()
            else { throw error }
            var isTaken = false
            defer { if !isTaken { lockFile.giveBack(handle) } }
            let byte = ByteRange(start: LockRange.removing, length: 1)
            let deadline = Deadline(after: Self.patience)
            guard case .granted = KernelWait.block([LockWaiter.Step(.exclusive, byte)], on: handle, until: deadline)
            else { throw error }
            notes.forget(entry)
            do throws(Errno) {
                try takeReserve(as: IntentFiles.name(nonce: memberTable.nonce, entry: entry))
            } catch {
                throw .noSpace
            }
            isTaken = true
            do throws(Errno) {
                try notes.write(note, entry: entry, of: self)
            } catch {
                giveBackReserve(handle, entry)
                throw error
            }
            return handle
        }
    }

    private func takeReserve(as name: [UInt8]) throws(Errno) {
        do throws(Errno) {
            guard try directory.group.statusIfPresent(of: Self.reserve)?.isRegularFile == true else {
                throw Errno.noSuchEntry
            }
            try directory.group.rename(Self.reserve, to: name, in: directory.staging, replacing: true)
        } catch {
            if error != .noSuchEntry { throw error }
            // The member that had it was killed: it is a note in staging, which goes with what that member had there.
            for slot in 0..<MemberTableLayout.slotCount
            where slot != memberTable.slot && memberTable.member(at: slot) != nil && !memberTable.isAlive(slot) {
                try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
            }
            keepReserve()
            try directory.group.rename(Self.reserve, to: name, in: directory.staging, replacing: true)
        }
    }

    /// After the change is pending no more.
    func giveBackReserve(_ handle: LockFile.Handle, _ entry: Int) {
        notes.forget(entry)
        let name = IntentFiles.name(nonce: memberTable.nonce, entry: entry)
        do throws(Errno) {
            try directory.staging.rename(name, to: Self.reserve, in: directory.group, replacing: false)
        } catch {
            // Somebody has made another one meanwhile.
            try? directory.staging.unlink(name)
        }
        lockFile.giveBack(handle)
    }
}

extension SegmentedLog {
    /// As `ensureRoom`. A removal does with what is left of the last file, where there is no room for another one.
    func ensureRoomForRemoval(bodyCount: Int) throws(CoordinationError) {
        do {
            try ensureRoom()
        } catch {
            // Others may append to it at the same time.
            guard error.code == .noSpace, let file = try? last(), let end = try? findEnd(of: file), !end.isSealed,
                end.offset + 4 * Segment.byteCount(bodyCount: bodyCount) < file.capacity
            else { throw error }
        }
    }
}
