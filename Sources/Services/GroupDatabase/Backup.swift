#if SQLite
import CGroupSQLite
import GroupBytes
public import GroupContainer
import GroupSystemCalls

extension GroupDatabase {
    /// Writes a copy of the database to a file outside of the container: the state after one commit, also while other
    /// processes write. The copy is a single file, and takes the place of an earlier one at once, when it is whole and
    /// on the disk. `progress` is called with the pages that were copied and the pages that there are.
    ///
    /// Errors: those of `read(timeout:_:)`; `invalidArgument` for a path in the container, or that of something else
    /// than a file; `noSpace`, after which the earlier file is as it was
    public func backUp(
        to file: AbsolutePath, timeout: Duration? = GroupDatabase.timeout,
        progress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws {
        try await interruptibly { [self] interruption in
            try backUp(to: file.bytes, until: Deadline(after: timeout), interruption, progress)
        }
    }

    func backUp(
        to file: [UInt8], until deadline: Deadline, _ interruption: Interruptible?,
        _ progress: (_ done: Int, _ all: Int) -> Void
    ) throws {
        try container.checkMayKeep(file, "back up to")
        var label = connections.label
        label.operation = "back up"
        var draft = try BackupDraft(of: file)
        let copy = try Connection(draft.path, .writing, label, isInContainer: false)
        defer { copy.close() }
        try connections.read(until: deadline, interruption) { connection in
            // The transaction begins to read with the first statement.
            _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
            try connection.copy(to: copy, progress)
        }
        // The copy is a single file, whatever opens it.
        try copy.run("PRAGMA journal_mode = DELETE")
        copy.close()
        try draft.publish()
    }
}

/// The file of a backup before it is whole, in the directory where it is to be. Backups to any file of the directory
/// have the same names until then, so that each of them removes what a process that was killed has left.
private struct BackupDraft: ~Copyable {
    private let directory: FileDescriptor
    private var draft: Draft
    private let file: [UInt8]
    let path: [UInt8]

    init(of file: [UInt8]) throws(CoordinationError) {
        let slash = file.lastIndex(of: UInt8(ascii: "/"))
        let around = slash.map { Array(file[...$0]) } ?? Array("./".utf8)
        let directory = try Self.naming(file) { () throws(Errno) in
            try FileDescriptor.open(path: around, [.reading, .directory])
        }
        let draft = try Self.naming(file) { () throws(Errno) in
            let draft = try Draft(Array("backup".utf8), in: directory.duplicate())
            // SQLite would take the journal of another draft for that of this one.
            try Self.removeSideFiles(of: draft.name, in: directory)
            return draft
        }
        path = around + draft.name
        self.directory = directory
        self.draft = draft
        self.file = file
    }

    deinit { try? Self.removeSideFiles(of: draft.name, in: directory) }

    /// Gives the file its name, once it is on the disk.
    mutating func publish() throws(CoordinationError) {
        let name = file.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
        try Self.naming(file) { () throws(Errno) in
            try draft.file.synchronize()
            try draft.publish(as: Array(name))
            try directory.synchronize()
        }
    }

    private static func removeSideFiles(of name: [UInt8], in directory: borrowing FileDescriptor) throws(Errno) {
        for suffix in ["-journal", "-wal", "-shm"] {
            do throws(Errno) {
                try directory.unlink(name + Array(suffix.utf8))
            } catch {
                if error != .noSuchEntry { throw error }
            }
        }
    }

    private static func naming<Answer: ~Copyable>(
        _ file: [UInt8], _ body: () throws(Errno) -> Answer
    ) throws(CoordinationError) -> Answer {
        do {
            return try body()
        } catch {
            throw CoordinationError(error, operation: "back up to", item: printable(file))
        }
    }
}

extension Connection {
    private static let pagesAtOnce: Int32 = 1_024

    /// Copies the database, as this connection's transaction sees it, a part at a time.
    func copy(to other: Connection, _ progress: (Int, Int) -> Void) throws {
        guard let backup = unsafe sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw other.error(unsafe sqlite3_errcode(other.handle), nil)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK && !isStopped {
            code = unsafe sqlite3_backup_step(backup, Self.pagesAtOnce)
            let all = unsafe Int(sqlite3_backup_pagecount(backup))
            progress(all - (unsafe Int(sqlite3_backup_remaining(backup))), all)
        }
        _ = unsafe sqlite3_backup_finish(backup)
        if isStopped { throw error(SQLITE_INTERRUPT, nil) }
        if code != SQLITE_DONE { throw other.error(code, nil) }
    }
}
#endif
