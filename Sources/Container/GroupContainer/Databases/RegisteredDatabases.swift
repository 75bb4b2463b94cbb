import GroupBytes
import GroupLocking
import GroupSystemCalls

/// The databases of a container that were opened by `RegisteredDatabase`. Each has a file in `.group/databases`, whose
/// name is the hash of the database's path, and which is never removed: a path that was a database's once is looked at
/// in the same way when something else is there. Bits in the member table spare containers without databases every look
/// at that directory.
struct DatabaseRegister: Sendable {
    static let directory = "databases"
    /// The hashes of paths that are known to be registered.
    private let known = Guarded<Set<UInt64>>([])

    static func name(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func bit(_ hash: UInt64) -> UInt64 { 1 << (hash >> 58) }

    func note(_ hash: UInt64) { known.withLock { _ = $0.insert(hash) } }

    func contains(_ hash: UInt64, in group: borrowing FileDescriptor) -> Bool {
        if known.withLock({ $0.contains(hash) }) { return true }
        let path = Array("\(Self.directory)/\(Self.name(hash))".utf8)
        guard (try? group.statusIfPresent(of: path)) != nil else { return false }
        note(hash)
        return true
    }

    /// Returns the bits of all registered databases. System calls: openat2, getdents64
    static func bits(in group: borrowing FileDescriptor) -> UInt64 {
        guard let directory = try? FileDescriptor.open(Array(Self.directory.utf8), in: group, [.reading, .directory]),
            let names = try? directory.entryNames()
        else { return 0 }
        return names.reduce(0) { bits, name in
            UInt64(String(decoding: name, as: UTF8.self), radix: 16).map { bits | bit($0) } ?? bits
        }
    }
}

extension OpenContainer {
    /// Whether the container may have registered databases: one load.
    var mayHaveDatabases: Bool { memberTable.map.load64(MemberTableLayout.databases) != 0 }

    /// Returns whether a database is registered at a location. System calls: statx, once for each database, and where
    /// another path has the same bit
    func isDatabase(_ location: ItemLocation) -> Bool {
        let bits = memberTable.map.load64(MemberTableLayout.databases)
        if bits == 0 { return false }
        let hash = hashKey.hash(location.bytes)
        return bits & DatabaseRegister.bit(hash) != 0 && databases.contains(hash, in: directory.group)
    }

    /// Returns the registered database that SQLite keeps this file beside; nil where the location is that of an item.
    func database(of location: ItemLocation) -> ItemLocation? {
        guard mayHaveDatabases, let database = DatabaseFiles.database(of: location), isDatabase(database) else {
            return nil
        }
        return database
    }

    /// Returns the registered databases at a location and below it. System calls: openat2, getdents64, and openat2,
    /// read for each registered database
    private func databases(at location: ItemLocation, andBelow: Bool) -> [ItemLocation] {
        if !andBelow { return isDatabase(location) ? [location] : [] }
        guard let directory = try? directory.existingDirectory(DatabaseRegister.directory) else { return [] }
        let names = (try? directory.entryNames()) ?? []
        return names.compactMap { name in
            let content = try? FileDescriptor.content(of: name, in: directory, limit: ItemLocation.longestPath)
            return content.flatMap { try? ItemLocation($0) }
        }.filter { $0 == location || $0.isBelow(location) }
    }

    /// Checks that no process has a database open that an access is about, and that none was left open by a process
    /// that died: its last commits are in another file then. To be called once the access has its locks; from then on
    /// no member opens the database. Errors: `conflict`
    func checkHasNoOpenDatabase(
        _ location: ItemLocation, isWhole: Bool, _ operation: String
    ) throws(CoordinationError) {
        if !mayHaveDatabases { return }
        for database in databases(at: location, andBelow: isWhole) {
            let byte = ContainerLock.database(database, key: hashKey)
            // A process that is no member, such as sqlite3, has only SQLite's locks.
            let user = userOfDatabase(database, writing: false)
            let isHeld = try locking("read the locks of") { () throws(LockFileFailure) in
                try HeldByte.isHeld(byte, lockManager)
            }
            let isOpen = isHeld || user != nil
            let log = try? status(of: ItemLocation(trusted: database.bytes + DatabaseFiles.log))
            if !isOpen && log?.size ?? 0 == 0 { continue }
            let item = printable(database.bytes)
            throw CoordinationError(
                .conflict, operation: operation, item: item,
                reason: isOpen
                    ? "the item is a database that a process has open"
                    : "the item is a database that was not closed: its last changes are in '\(item)-wal'",
                holders: user.map { [$0] } ?? [],
                remedy: .init(
                    .closeDatabase,
                    isOpen
                        ? "close the database in all processes, or use the backup of the database"
                        : "open the database once, and close it"))
        }
    }

    /// Returns a process that has the database open, or that writes at present, by SQLite's locks; nil if it is not
    /// known. System calls, on a thread with other descriptors: openat2, fcntl(F_OFD_GETLK)
    func userOfDatabase(_ location: ItemLocation, writing: Bool) -> CoordinationError.Holder? {
        let byte = writing ? DatabaseCommit.writeLock : DatabaseCommit.openLock
        let owner = try? SeparateTable.within(directory.root) { root throws(Errno) in
            try FileDescriptor.open(
                location.bytes + DatabaseFiles.index, in: root, .readingItself
            ).lockOwner(ByteRange(start: byte, length: 1))
        }
        guard let process = owner ?? nil else { return nil }
        let view = ProcessView(of: process)
        return CoordinationError.Holder(
            MemberProcess(
                identifier: process, command: view.map { printable($0.command) }, condition: view?.condition),
            purpose: "SQLite", sinceNanoseconds: wallNanoseconds(), item: printable(location.bytes), isWriting: writing)
    }

    /// Returns the state of a database with its last commit, and whether a transaction is being written; nil for both
    /// where there is no registered database. System calls, on a thread with other descriptors: openat2,
    /// fcntl(F_OFD_GETLK), pread
    func databaseState(
        _ file: ItemState, at location: ItemLocation, in directory: borrowing FileDescriptor
    ) throws(Errno) -> (state: ItemState, isBusy: Bool)? {
        guard file.type == .file, isDatabase(location) else { return nil }
        let (name, key) = (location.name, hashKey)
        // The process may have locks on these files by SQLite, which a close in its own table would release.
        return try SeparateTable.within(directory) { directory throws(Errno) in
            do throws(Errno) {
                let index = try FileDescriptor.open(
                    name + DatabaseFiles.index, in: directory, .readingItself)
                // A transaction that is over has written its commit, so the lock is looked at first.
                let isWriting = try index.isLocked(DatabaseCommit.writeLock)
                let header = try index.read(at: 0, count: DatabaseCommit.bytes)
                if header.count < DatabaseCommit.bytes { return (file, isWriting) }
                guard let commit = DatabaseCommit(index: header, key: key) else { return (file, true) }
                return (commit.state(of: file), isWriting)
            } catch {
                if error != .noSuchEntry && error != .accessDenied { throw error }
                let database = try FileDescriptor.open(name, in: directory, .readingItself)
                return (file, try database.isLocked(DatabaseCommit.reserved))
            }
        }
    }
}

extension FileDescriptor {
    fileprivate func isLocked(_ byte: Int64) throws(Errno) -> Bool {
        try conflict(with: .shared, ByteRange(start: byte, length: 1)) != nil
    }
}
