#if SQLite
public import GroupContainer
import GroupSystemCalls

/// An SQLite database in a container, which an app, its widgets and its extensions open at the same time: created and
/// migrated by one process while the others wait, written by one at a time, and observed by all.
///
///     let database = try await GroupDatabase.open("Store/notes.sqlite", in: container, migrations: [
///         Migration("notes", script: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
///     ])
///     try await database.write { db in try db.execute("INSERT INTO note (text) VALUES (?)", "milk") }
///     for try await change in database.changes(of: "note") { … }
///
/// The file is an ordinary one of SQLite, in the mode WAL: `sqlite3` and other programs may use it at the same time.
/// While a process has it open, coordinated accesses to the file are refused, because they would not see, or would
/// destroy, what is in SQLite's log; and the files that SQLite keeps beside it are not items of the container. A commit
/// of any program is recorded as a change of the item, several within about 20 ms as one.
///
/// The calls suspend the task; `blocking` has those that block the thread. `cursor()` and the beginning of
/// `changes(of:)` block while they read. A process that is about to be stopped for a long time calls `suspend()`
/// before, since a stopped process keeps its locks.
///
/// Library calls: sqlite3_open_v2, sqlite3_prepare_v3, sqlite3_step, sqlite3_interrupt, sqlite3_backup_step
public final class GroupDatabase: Sendable {
    /// The default time that a call waits for other processes: 30 s.
    public static let timeout = Coordinator.lockTimeout

    /// The path of the database in the container.
    public let path: ItemPath
    /// The container.
    public let container: Container
    let connections: Connections

    /// Opens a database, blocking the thread. Creates a missing one, with the directories around it, and executes the
    /// steps of `migrations` that the database lacks in their order, each once, whichever process comes first;
    /// meanwhile other processes wait in this call.
    ///
    /// With `readOnly` the database has to be there, with all steps executed. With the durability `.relaxed` the last
    /// commits may be lost by a power cut; the database stays whole.
    ///
    /// Errors: `lockTimedOut` with the process that is opening or writing; `newerFormat` if a newer version of the app
    /// has executed more steps; `olderFormat` with `readOnly` if steps are missing; `notFound`; `damaged` if the file
    /// is not a database; `noSpace`; `notPermitted`; and those of a step, after which the steps before it stay.
    public init(
        _ path: ItemPath, in container: Container, migrations: [Migration], readOnly: Bool = false,
        durability: Durability = .durable, timeout: Duration? = GroupDatabase.timeout
    ) throws {
        self.path = path
        self.container = container
        let deadline = Deadline(after: timeout)
        var label = DatabaseLabel(path: path, container: container.path.description) { _ in nil }
        try Connection.checkVersion(label)
        Connection.reportVersion(path, in: container)
        if container.isReadOnly {
            let file = container.resolvedPath + Array("/\(path)".utf8)
            connections = Connections(nil, file: file, durability, mayWrite: false, label)
            try checkVersion(label, migrations, until: deadline)
            return
        }
        let (registered, opening) = try RegisteredDatabase.register(
            path, in: container, creating: !readOnly, timeout: timeout)
        defer { opening.end() }
        label.holder = { [weak registered] in registered?.holder(writing: $0) }
        connections = Connections(registered, file: registered.file, durability, mayWrite: !readOnly, label)
        do {
            if readOnly {
                try checkVersion(label, migrations, until: deadline)
            } else {
                try migrate(label, migrations, until: deadline)
            }
        } catch {
            connections.close()
            throw error
        }
    }

    /// Opens a database, suspending the task. See `init(_:in:migrations:readOnly:durability:timeout:)`.
    public static func open(
        _ path: ItemPath, in container: Container, migrations: [Migration], readOnly: Bool = false,
        durability: Durability = .durable, timeout: Duration? = GroupDatabase.timeout
    ) async throws -> GroupDatabase {
        try await OwnThread.run {
            try GroupDatabase(
                path, in: container, migrations: migrations, readOnly: readOnly, durability: durability,
                timeout: timeout)
        }
    }

    deinit { connections.close() }

    /// The number of steps that were executed on the database, which is SQLite's `user_version`.
    private func version(until deadline: Deadline) throws -> Int64 {
        try connections.read(until: deadline) { try $0.integer("PRAGMA user_version") ?? 0 }
    }

    private func checkVersion(_ label: DatabaseLabel, _ migrations: [Migration], until deadline: Deadline) throws {
        let version = try version(until: deadline)
        try label.checkVersion(version, migrations.count)
        if version < migrations.count {
            throw label.error(
                .olderFormat,
                "the database has \(version) of \(migrations.count) steps, and it was opened for reading only",
                .init(.migrate, "have the app open it first"))
        }
    }

    /// Returns whether opening has nothing to write: then it waits for no process that writes. False also where the
    /// database cannot be read yet; what follows finds the reason. Error: `newerFormat`
    private func isComplete(_ label: DatabaseLabel, _ migrations: [Migration], until deadline: Deadline) throws -> Bool
    {
        let found = try? connections.read(until: deadline) { connection -> (version: Int64, isComplete: Bool) in
            var journal = DatabaseValue.null
            try connection.run("PRAGMA journal_mode") { row in
                journal = row.values.first ?? .null
                return false
            }
            let version = try connection.integer("PRAGMA user_version") ?? 0
            let isComplete = try journal == .text("wal") && ChangeTriggers.areComplete(in: connection)
            return (version, isComplete && version == migrations.count)
        }
        guard let found else { return false }
        try label.checkVersion(found.version, migrations.count)
        return found.isComplete
    }

    private func migrate(_ label: DatabaseLabel, _ migrations: [Migration], until deadline: Deadline) throws {
        if try isComplete(label, migrations, until: deadline) { return }
        let writing = try connections.registered?.holdForWriting(
            for: "open", timeout: deadline.remaining.map { .nanoseconds($0) })
        defer { writing?.end() }
        // Opening for writing puts a new file into the mode WAL; the triggers of tables that other programs have made
        // follow.
        var version: Int64 = 0
        try connections.write(until: deadline, operation: "open") { connection in
            version = try connection.integer("PRAGMA user_version") ?? 0
            try label.checkVersion(version, migrations.count)
        }
        for (index, step) in migrations.enumerated().dropFirst(Int(version)) {
            do {
                try connections.write(until: deadline, operation: "open") { connection in
                    let access = DatabaseAccess(connection)
                    defer { access.end() }
                    try step.body(access)
                    try connection.run("PRAGMA user_version = \(index + 1)")
                }
            } catch var error as DatabaseError {
                error.reason = "the step '\(step.name)' of the database '\(path)' failed: \(error.reason)"
                throw error
            }
        }
    }

    // MARK: Reading and writing

    /// Returns the result of a closure that reads. All its statements see one state of the database, whatever other
    /// processes write meanwhile, and do not keep these from writing. A statement that writes throws.
    ///
    /// Errors: those of the closure; `DatabaseError`; `lockTimedOut` where another program locks the database;
    /// `damaged`; `inputOutput`; `cancelled` after `suspend()`, `close()` or the cancellation of the task
    public func read<Answer: Sendable>(
        timeout: Duration? = GroupDatabase.timeout, _ body: @escaping @Sendable (DatabaseAccess) throws -> Answer
    ) async throws -> Answer {
        try await interruptibly { [self] interruption in
            try read(until: Deadline(after: timeout), interruption, body)
        }
    }

    /// Returns the result of a closure that reads and writes: one transaction, which is committed when the closure
    /// returns, and rolled back where it throws. Members wait for each other in their order.
    ///
    /// Errors: those of `read(timeout:_:)`; `lockTimedOut` with the process that writes; `noSpace`; `notPermitted`.
    /// After an error nothing was changed.
    @discardableResult
    public func write<Answer: Sendable>(
        timeout: Duration? = GroupDatabase.timeout, _ body: @escaping @Sendable (DatabaseAccess) throws -> Answer
    ) async throws -> Answer {
        let deadline = Deadline(after: timeout)
        try connections.check("write")
        let writing = try await connections.registered?.holdForWriting(for: "write", timeout: timeout)
        return try await interruptibly { [self] interruption in
            defer { writing?.end() }
            return try write(until: deadline, interruption, body)
        }
    }

    /// The calls of this database in their blocking form.
    public var blocking: BlockingGroupDatabase { BlockingGroupDatabase(self) }

    func read<Answer>(
        until deadline: Deadline, _ interruption: Interruptible? = nil, _ body: (DatabaseAccess) throws -> Answer
    ) throws -> Answer {
        try connections.read(until: deadline, interruption) { connection in
            try connection.forReading {
                let access = DatabaseAccess(connection)
                defer { access.end() }
                return try body(access)
            }
        }
    }

    func write<Answer>(
        until deadline: Deadline, _ interruption: Interruptible? = nil, _ body: (DatabaseAccess) throws -> Answer
    ) throws -> Answer {
        try connections.write(until: deadline, interruption) { connection in
            let access = DatabaseAccess(connection)
            defer { access.end() }
            return try body(access)
        }
    }

    func interruptibly<Answer: Sendable>(
        _ body: @escaping @Sendable (Interruptible) throws -> Answer
    ) async throws -> Answer {
        let interruption = Interruptible()
        return try await withTaskCancellationHandler {
            try await OwnThread.run { try body(interruption) }
        } onCancel: {
            interruption.cancel()
        }
    }

    // MARK: Suspension

    /// Interrupts the transactions that run, which are rolled back, waits for their end and closes the connections:
    /// this process then has no lock on the database. Until `resume()`, reads and writes throw `cancelled`. To be
    /// called before the process is stopped or frozen.
    public func suspend() async {
        try? await OwnThread.run { [connections] in connections.suspend() }
    }

    /// Permits reads and writes again.
    public func resume() { connections.resume() }

    /// Closes the database. The last process that does so writes SQLite's log into the database's file. Also done when
    /// the object is released. Reads and writes then throw `cancelled`.
    public func close() { connections.close() }
}

extension DatabaseLabel {
    /// Checks the number of steps that a database has, which any program can set. Errors: `damaged`, `newerFormat`
    fileprivate func checkVersion(_ version: Int64, _ known: Int) throws(CoordinationError) {
        if version < 0 {
            throw error(.damaged, "its user_version is \(version), which is no number of steps", ifDamaged)
        }
        if version <= known { return }
        throw error(
            .newerFormat, "the database has \(version) steps, and this program knows \(known)",
            .init(.update, "nothing was changed; use a newer version of this program"))
    }
}
#else
/// Unavailable: this package was built without the trait `SQLite`.
@available(
    *, unavailable,
    message: "enable the trait SQLite of the package group-container; it needs the Debian package libsqlite3-dev"
)
public enum GroupDatabase {}
#endif
