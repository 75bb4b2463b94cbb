#if SQLite
import Dispatch
import GroupContainer
import GroupSystemCalls

/// The connections of one open database: one that writes, and some that read, each in one transaction at a time.
final class Connections: Sendable {
    private enum Phase { case open, suspended, closed }

    private struct State {
        var phase = Phase.open
        var writer: Connection?
        var idle: [Connection] = []
        var running: [ObjectIdentifier: Connection] = [:]
        /// The thread of the writing closure.
        var writingThread: ThreadIdentity?
    }

    /// The database in the register; nil where this process may only read the container.
    let registered: RegisteredDatabase?
    private let file: [UInt8]
    private let durability: Durability
    private let mayWrite: Bool
    let label: DatabaseLabel
    private let state = Guarded(State())
    /// The transactions that run.
    private let running = DispatchGroup()
    private let forkGeneration = GroupSystemCalls.forkGeneration
    private static let keptReaders = 4

    init(
        _ registered: RegisteredDatabase?, file: [UInt8], _ durability: Durability, mayWrite: Bool,
        _ label: DatabaseLabel
    ) {
        self.registered = registered
        self.file = file
        self.durability = durability
        self.mayWrite = mayWrite
        self.label = label
    }

    private func label(_ operation: String) -> DatabaseLabel {
        var label = label
        label.operation = operation
        return label
    }

    // MARK: Transactions

    /// Runs a transaction that reads one state of the database, whatever is written meanwhile. `body` runs again where
    /// the database had no log, and a program began to write.
    func read<Answer>(
        until deadline: Deadline, _ interruption: Interruptible? = nil, _ body: (Connection) throws -> Answer
    ) throws -> Answer {
        while true {
            let connection = try take(.reading, label("read"), until: deadline)
            defer { giveBack(connection) }
            try interruption?.begin(connection, label("read"))
            defer { interruption?.end() }
            let answer = Result {
                try explaining("read") {
                    try connection.run("BEGIN")
                    defer { connection.rollBack() }
                    return try body(connection)
                }
            }
            if connection.unlogged?.isUnchanged == false {
                // Another process has begun to write: what was read may be of two states.
                if !deadline.isOver { continue }
                throw label("read").error(.lockTimedOut, "another program wrote to the database each time it was read")
            }
            return try answer.get()
        }
    }

    /// Runs a transaction that writes, under the lock of writers, which the caller holds, and then notifies the
    /// leader of a possible commit.
    func write<Answer>(
        until deadline: Deadline, _ interruption: Interruptible? = nil, operation: String = "write",
        _ body: (Connection) throws -> Answer
    ) throws -> Answer {
        let connection = try take(.writing, label(operation), until: deadline)
        defer { giveBack(connection) }
        try interruption?.begin(connection, label(operation))
        defer { interruption?.end() }
        let answer = try explaining(operation) {
            try connection.run("BEGIN IMMEDIATE")
            do {
                let answer = try body(connection)
                // SQLite rolls back by itself where the disk is full, and the closure may have ignored the error.
                if !connection.isInTransaction {
                    throw label(operation).error(.inputOutput, "SQLite has rolled the transaction back")
                }
                try ChangeTriggers.keep(in: connection)
                try connection.run("COMMIT")
                return answer
            } catch {
                connection.rollBack()
                throw error
            }
        }
        registered?.noteCommit()
        return answer
    }

    /// Checks that this thread does not write already: it would wait for itself.
    func checkIsNotWriting() throws {
        if state.withLock({ $0.writingThread == .current }) {
            throw DatabaseError(
                .misuse, reason: "a write was begun in the closure of a write; use the access of that closure")
        }
    }

    /// Replaces the error of an interrupted statement by its reason.
    private func explaining<Answer>(_ operation: String, _ body: () throws -> Answer) throws -> Answer {
        do {
            return try body()
        } catch let error as CoordinationError where error.code == .cancelled {
            try check(operation)
            throw error
        }
    }

    /// Checks that a transaction may begin. Errors: `forked`, `cancelled`
    func check(_ operation: String) throws(CoordinationError) { try check(label(operation)) }

    private func check(_ label: DatabaseLabel) throws(CoordinationError) {
        if forkGeneration != GroupSystemCalls.forkGeneration {
            throw label.error(
                .forked, "this process is a forked child of the one that opened the database",
                .init(.reopen, "open the database in the child process"))
        }
        switch state.withLock({ $0.phase }) {
        case .open: break
        case .suspended: throw label.isSuspended
        case .closed: throw label.isClosed
        }
    }

    // MARK: Connections

    private func take(
        _ mode: Connection.Mode, _ label: DatabaseLabel, until deadline: Deadline
    ) throws -> Connection {
        try check(label)
        if mode == .writing && !mayWrite {
            throw label.error(.notPermitted, "the database was opened for reading only")
        }
        running.enter()
        do {
            let kept = state.withLock { state in
                if mode == .reading { return state.idle.popLast() }
                defer { state.writer = nil }
                return state.writer
            }
            let connection = try kept ?? make(mode, label, until: deadline)
            connection.label = label
            connection.begin(waiting: deadline.remaining.map { .nanoseconds($0) })
            // The database may have been suspended since it was checked.
            try state.withLock { state in
                if state.phase != .open { throw state.phase == .closed ? label.isClosed : label.isSuspended }
                state.running[ObjectIdentifier(connection)] = connection
                if mode == .writing { state.writingThread = .current }
            }
            return connection
        } catch {
            running.leave()
            throw error
        }
    }

    private func make(_ mode: Connection.Mode, _ label: DatabaseLabel, until deadline: Deadline) throws -> Connection {
        let connection =
            try registered == nil ? readOnlyConnection(label, until: deadline) : Connection(file, mode, label)
        connection.begin(waiting: deadline.remaining.map { .nanoseconds($0) })
        try connection.run("PRAGMA foreign_keys = ON")
        if mode == .writing {
            var journal = DatabaseValue.null
            try connection.run("PRAGMA journal_mode = WAL") { row in
                journal = row.values.first ?? .null
                return false
            }
            if journal != .text("wal") {
                throw label.error(
                    .unsupportedFileSystem,
                    "SQLite cannot keep a log for this database (its journal mode is \(journal))")
            }
            try connection.run("PRAGMA synchronous = \(durability == .durable ? "FULL" : "NORMAL")")
        }
        return connection
    }

    /// Opens a connection where nothing can be written beside the database.
    private func readOnlyConnection(_ label: DatabaseLabel, until deadline: Deadline) throws -> Connection {
        let logged = try Connection(file, .reading, label)
        logged.begin(waiting: deadline.remaining.map { .nanoseconds($0) })
        do {
            _ = try logged.integer("PRAGMA user_version")
            return logged
        } catch let error as CoordinationError where error.code != .damaged && error.code != .lockTimedOut {
            logged.close()
            guard let unlogged = UnloggedFile(file) else {
                guard UnloggedFile.hasLog(file) else { throw error }
                throw label.error(
                    .notPermitted, "it has a log, which SQLite cannot read without making a file beside it",
                    .init(.tryAgain, "have a process that may write open the database, and try again"), cause: error)
            }
            return try Connection(file, .reading, label, unlogged: unlogged)
        }
    }

    private func giveBack(_ connection: Connection) {
        let isKept = state.withLock { state in
            let isWriter = state.running.removeValue(forKey: ObjectIdentifier(connection))?.mode == .writing
            if isWriter { state.writingThread = nil }
            if state.phase != .open { return false }
            if isWriter {
                state.writer = connection
                return true
            }
            if state.idle.count >= Self.keptReaders || connection.unlogged != nil { return false }
            state.idle.append(connection)
            return true
        }
        if !isKept { connection.close() }
        running.leave()
    }

    // MARK: Suspension

    /// Interrupts what runs, waits for its end and closes all connections, so that this process has no lock of SQLite.
    func suspend() { stop(.suspended) }

    func resume() {
        state.withLock { state in
            if state.phase == .suspended { state.phase = .open }
        }
    }

    func close() { stop(.closed) }

    private func stop(_ phase: Phase) {
        if forkGeneration != GroupSystemCalls.forkGeneration {
            // The files and locks of the parent, whose lock on the state another thread of it may have had.
            return
        }
        state.withLock { state in
            if state.phase != .closed { state.phase = phase }
            for connection in state.running.values { connection.interrupt() }
        }
        running.wait()
        let rest = state.withLock { state in
            defer { (state.writer, state.idle) = (nil, []) }
            return [state.writer].compactMap { $0 } + state.idle
        }
        // The last connection writes the log into the database. A reader could not, so one that can is made.
        for connection in rest.reversed() { connection.close() }
        if mayWrite, rest.allSatisfy({ $0.mode == .reading }), UnloggedFile.hasLog(file) {
            try? make(.writing, label("close"), until: Deadline(after: .zero)).close()
        }
        if phase == .closed { registered?.end() }
    }
}

/// A transaction that another thread may end: the task that waits for it was cancelled.
final class Interruptible: Sendable {
    private let state = Guarded<(connection: Connection?, isCancelled: Bool)>((nil, false))

    func begin(_ connection: Connection, _ label: DatabaseLabel) throws(CoordinationError) {
        let isCancelled = state.withLock { state in
            state.connection = connection
            return state.isCancelled
        }
        if isCancelled { throw label.error(.cancelled, "the task was cancelled") }
    }

    func end() { state.withLock { $0.connection = nil } }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.interrupt()
        }
    }
}
#endif
