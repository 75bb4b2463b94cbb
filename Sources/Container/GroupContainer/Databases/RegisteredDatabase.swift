import GroupBytes
import GroupLocking
import GroupSystemCalls

/// An SQLite database in a container, as long as this process has it open. From the time it is registered, the files
/// that SQLite keeps beside it are not items, and a commit is recorded as a change of the database.
package final class RegisteredDatabase: Sendable {
    package let path: ItemPath
    private let location: ItemLocation
    private let opened: OpenContainer
    /// The database's file in the register. Its lock is that of writers.
    private let entry: PrivateFile
    /// The sign that the database is open: no coordinated access begins while a process has it.
    private let sign: Guarded<HeldByte?>

    /// A lock that lasts until `end`, or as long as the object.
    package final class Holding: Sendable {
        private let lock: HeldLock
        fileprivate init(_ lock: HeldLock) { self.lock = lock }
        package func end() { lock.end() }
    }

    /// Registers a database, makes the directories around it, and waits until no process has a coordinated access to
    /// it. Returns it with that lock: while the caller creates and migrates the database, other processes that open it
    /// wait.
    ///
    /// Errors: those of an access for writing, `outsideContainer` for a path with symbolic links
    package static func register(
        _ path: ItemPath, in container: Container, creating: Bool, timeout: Duration?
    ) throws(CoordinationError) -> (database: RegisteredDatabase, opening: Holding) {
        let opened = container.opened
        return try opened.locating {
            () throws(CoordinationError) -> (database: RegisteredDatabase, opening: Holding) in
            let location = try path.location(for: "open")
            if let readOnly = opened.readOnly { throw readOnly.error(printable(location.bytes), "open") }
            let deadline = Deadline(after: timeout)
            try opened.checkIsNoLink(location, "open")
            try opened.checkIsOurs(location, "open")
            if !creating, try opened.status(of: location, for: "open") == nil {
                throw CoordinationError(Errno.noSuchEntry, operation: "open", item: printable(location.bytes))
            }
            if let directory = location.parent, try opened.status(of: directory, for: "open") == nil {
                try makeDirectory(directory, in: container, timeout)
            }
            let database = try RegisteredDatabase(path, location, container, timeout)
            let locks = ItemLocks(
                Few(.init(location.bytes, .exclusive)), of: opened, for: Array(programName().utf8), operation: "open")
            let opening = Holding(try locks.acquireBlocking(until: deadline))
            if creating { try database.create() }
            return (database, opening)
        }
    }

    private static func makeDirectory(
        _ location: ItemLocation, in container: Container, _ timeout: Duration?
    ) throws(CoordinationError) {
        do {
            try container.coordinator(purpose: programName()).blocking.createDirectory(
                ItemPath(bytes: location.bytes), timeout: timeout)
        } catch let error as CoordinationError {
            throw error
        } catch {
            throw CoordinationError(
                .inputOutput, operation: "open", item: printable(location.bytes), reason: "\(error)", cause: error)
        }
    }

    private init(
        _ path: ItemPath, _ location: ItemLocation, _ container: Container, _ timeout: Duration?
    ) throws(CoordinationError) {
        let opened = container.opened
        self.opened = opened
        self.path = path
        self.location = location
        let hash = opened.hashKey.hash(location.bytes)
        entry = PrivateFile(DatabaseRegister.directory, DatabaseRegister.name(hash), in: container)
        if !opened.isDatabase(location) {
            let lock = try entry.holdBlocking("register", timeout: timeout)
            defer { lock.end() }
            if try entry.read() == nil { try entry.replace(by: location.bytes) }
            opened.memberTable.noteDatabase(DatabaseRegister.bit(hash))
            opened.databases.note(hash)
        }
        let sign = try locking("open") { () throws(LockFileFailure) in
            try HeldByte(ContainerLock.database(location, key: opened.hashKey), .shared, opened.lockManager)
        }
        guard let sign else {
            throw CoordinationError(
                .conflict, operation: "open", item: printable(location.bytes),
                reason: "another process has locked the byte of this database", remedy: .tryAgain)
        }
        self.sign = Guarded(sign)
    }

    /// Makes an empty file, which is an empty database, with the mode of the container's files; SQLite gives the files
    /// beside it the same one.
    private func create() throws(CoordinationError) {
        if try opened.status(of: location, for: "open") != nil { return }
        try translating("open", item: printable(location.bytes)) { () throws(Errno) in
            try FileDescriptor.open(
                location.bytes, in: opened.directory.root, .newFile, mode: 0o600
            ).setMode(opened.directory.fileMode)
        }
    }

    /// Notes that this process does not have the database open any more. To be called when SQLite has closed it.
    package func end() { sign.withLock { $0 = nil } }

    /// The absolute path of the database's file, without symbolic links.
    package var file: [UInt8] { opened.directory.resolvedPath + [UInt8(ascii: "/")] + location.bytes }

    /// Waits until no other member writes, blocking the thread. Members wait in the kernel, in their order; other
    /// programs wait by SQLite's own locks. Errors: `lockTimedOut` with the writer
    package func holdForWriting(
        for operation: String, timeout: Duration?
    ) throws(CoordinationError) -> PrivateFile.Holding {
        do throws(CoordinationError) {
            return try entry.holdBlocking(operation, timeout: timeout)
        } catch {
            throw named(error)
        }
    }

    /// The form of `holdForWriting` that suspends the task.
    package func holdForWriting(
        for operation: String, timeout: Duration?
    ) async throws(CoordinationError) -> PrivateFile.Holding {
        do throws(CoordinationError) {
            return try await entry.hold(operation, timeout: timeout)
        } catch {
            throw named(error)
        }
    }

    /// Returns an error about the database's file in the register as one about the database.
    private func named(_ error: CoordinationError) -> CoordinationError {
        var error = error
        error.item = printable(location.bytes)
        error.holders = error.holders.map { holder in
            var holder = holder
            holder.item = printable(location.bytes)
            return holder
        }
        return error
    }

    /// Has the leader look at the database, after a commit is visible: the events of the commit came before.
    /// System calls: utimensat(2)
    package func noteCommit() {
        try? opened.directory.root.touch(entry: location.bytes + DatabaseFiles.log)
    }

    /// Returns the process that writes at present, or that has the database open, as the holder in an error; nil if it
    /// is not known.
    package func holder(writing: Bool) -> CoordinationError.Holder? {
        opened.userOfDatabase(location, writing: writing)
    }

    /// The container's path, for errors.
    package var container: String { printable(opened.directory.path) }
}
