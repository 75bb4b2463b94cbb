import Dispatch
import SystemCalls

/// Whether a change survives a power cut once its call has returned.
public enum Durability: Sendable {
    /// The content, the folder entry and the journal's record are on the disk. The default.
    case durable
    /// Atomic and visible at once, but written to the disk when the kernel likes; whole or not at all after a power cut
    /// only where the file system orders so. For what can be made again.
    case relaxed
}

/// A change on its way in: built in staging, complete, then renamed to its place, then recorded; at every moment a
/// killed process leaves either nothing or what `Repair` can finish. After the manner of renameio and of the
/// write-ahead intents of databases.
struct StagedChange {
    let member: Member
    let purpose: String
    let durability: Durability
    private let operation: [UInt8]

    init(by member: Member, purpose: String, _ durability: Durability) {
        (self.member, self.purpose, self.durability) = (member, purpose, durability)
        operation = member.roster.makeOperation()
    }

    /// In staging: what moves, and beside it the note for the repairer.
    static func name(of operation: [UInt8]) -> [UInt8] { Array(Hexadecimal.encode(operation).utf8) }
    static let noteSuffix = Array(".note".utf8)

    private var name: [UInt8] { Self.name(of: operation) }
    private var note: [UInt8] { name + Self.noteSuffix }
    private var staging: FileDescriptor { _read { yield member.folder.staging } }

    /// Replaces or creates a file. `old` is what stands there now: its attributes are kept, unless `mode` says otherwise.
    /// System calls: openat2, write, those of `StagedAttributes`, fsync, renameat2, fsync of the folder
    func write(
        _ content: [UInt8], to location: ItemLocation, replacing old: FileStatus?, mode: UInt32?,
        as kind: ChangeRecord.Kind
    ) throws(CoordinationError) -> LogPosition {
        let label = printable(location.bytes)
        try member.journal.log.ensureRoom()
        do throws(Errno) {
            let attributes = try StagedAttributes(ofFileAt: location, isNew: old == nil, in: member, mode: mode)
            let file = try FileDescriptor.open(
                name, in: staging, [.writing, .creating, .exclusively], mode: attributes.creationMode)
            try file.writeAll(content)
            try attributes.apply(to: file)
            if durability == .durable { try file.synchronize() }
        } catch {
            try? staging.unlink(name)
            throw CoordinationError(error, item: label, operation: "write")
        }
        return try commit(
            kind, at: location, replacing: old != nil, contentHash: member.contentHash(of: content))
    }

    /// Makes a folder. The mode is that of `mkdir`, 0777 without the umask, or 2770 where a Unix group shares the
    /// container; the default access control list of the folder around it comes first.
    func makeFolder(at location: ItemLocation) throws(CoordinationError) -> LogPosition {
        try member.journal.log.ensureRoom()
        try translating(printable(location.bytes), "make folder") { () throws(Errno) in
            do throws(Errno) {
                let attributes = try StagedAttributes(ofNewFolderAt: location, in: member)
                try staging.makeFolder(name, mode: attributes.creationMode)
                let made = try FileDescriptor.open(name, in: staging, [.reading, .folder])
                try attributes.apply(to: made)
                if durability == .durable { try made.synchronize() }
            } catch {
                discard()
                throw error
            }
        }
        return try commit(.created, at: location, replacing: false, contentHash: nil)
    }

    private func commit(
        _ kind: ChangeRecord.Kind, at location: ItemLocation, replacing: Bool, contentHash: UInt64?
    ) throws(CoordinationError) -> LogPosition {
        let label = printable(location.bytes)
        let block = LeaseBlock(location, key: member.hashKey)
        member.changeRoom.wait()
        defer { member.changeRoom.signal() }

        var record = ChangeRecord(
            kind, path: location.bytes, state: nil, isCoordinated: true, operation: operation,
            processIdentifier: processIdentifier(), purpose: Array(purpose.utf8), time: wallNanoseconds())
        let parent: FileDescriptor
        do throws(Errno) {
            parent = try prepare(&record, at: location, contentHash: contentHash)
        } catch {
            discard()
            throw CoordinationError(error, item: label, operation: "write")
        }
        guard let entry = member.roster.setPending(block: UInt64(bitPattern: block.start), operation: operation) else {
            discard()
            throw CoordinationError(.limitReached, item: label, operation: "write", cause: "too many changes at once")
        }

        do throws(Errno) {
            try staging.rename(name, to: location.name, in: parent, replacing: replacing)
        } catch {
            member.roster.clearPending(entry)
            discard()
            throw CoordinationError(error, item: label, operation: "write")
        }
        // From here on the change is visible and must get its record, whatever else fails.
        var failure: Errno?
        do throws(Errno) {
            record.state = ItemState(try parent.status(of: location.name), contentHash: contentHash)
            if durability == .durable { try parent.synchronize() }
        } catch {
            failure = error
        }
        let position: LogPosition
        do {
            position = try member.journal.append(record)
        } catch {
            member.roster.leaveUnfinished(entry)
            throw error
        }
        member.roster.clearPending(entry)
        try? staging.unlink(note)
        if let failure {
            throw CoordinationError(
                .notDurable, item: label, operation: "write", cause: failure.description,
                advice: "the change is visible, but may be gone after a power cut; check the disk")
        }
        return position
    }

    /// Opens the folder and leaves the note for the repairer, who reads it in the same boot: it needs no way to the
    /// disk.
    private func prepare(
        _ record: inout ChangeRecord, at location: ItemLocation, contentHash: UInt64?
    ) throws(Errno) -> FileDescriptor {
        let parent = try member.openFolder(location.parent)
        let staged = try staging.status(of: name)
        record.state = ItemState(staged, contentHash: contentHash)
        let tail = member.journal.log.tail()
        let content = OperationRecord(
            inode: staged.inode, journalFile: tail.file, journalOffset: UInt64(tail.offset), change: record
        ).encoded()
        let file = try FileDescriptor.open(note, in: staging, [.writing, .creating, .exclusively], mode: 0o600)
        // The repairer may be another user of the Unix group.
        if member.folder.fileMode != 0o600 { try file.setMode(member.folder.fileMode) }
        try file.writeAll(content)
        return parent
    }

    private func discard() {
        do { try staging.unlink(name) } catch { try? staging.unlink(name, folder: true) }
        try? staging.unlink(note)
    }
}
