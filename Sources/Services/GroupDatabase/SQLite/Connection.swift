#if SQLite
import CGroupSQLite
import GroupContainer
import GroupSystemCalls
import Synchronization

/// A connection of SQLite, used by one thread at a time. Its statements are prepared once and kept.
///
/// `@unchecked Sendable`: a connection is handed from one thread to another by the locks of `Connections`; only
/// `interrupt` is called by any thread, under a lock of its own.
@safe package final class Connection: @unchecked Sendable {
    package enum Mode { case reading, writing }

    private(set) var handle: OpaquePointer?
    private var statements: [String: Statement] = [:]
    private static let keptStatements = 64
    /// Guards the handle against being closed while another thread interrupts it.
    private let life = Guarded(())
    let mode: Mode
    /// What the errors of the present transaction are about.
    var label: DatabaseLabel
    /// The schema that was seen last, for the triggers: see `ChangeTriggers`.
    var triggeredSchema: Int64?
    /// Whether the connection was interrupted since the transaction began.
    private let isInterrupted = Atomic(false)
    /// The file as it was when it was opened without a log: see `UnloggedFile`.
    let unlogged: UnloggedFile?

    /// Opens the file; creates a missing one if `mode` is `writing`. A file without a log is opened as one that does
    /// not change. A file in a container is given by its path without symbolic links, which are not followed: another
    /// member may have put one there. Errors: `CoordinationError`
    package init(
        _ file: [UInt8], _ mode: Mode, _ label: DatabaseLabel, unlogged: UnloggedFile? = nil,
        isInContainer: Bool = true
    ) throws {
        self.mode = mode
        self.label = label
        self.unlogged = unlogged
        if ConfinedFiles.namesSuperJournal(beside: file) {
            throw label.error(
                .damaged, "its journal names another file, which SQLite would delete",
                .init(.init(rawValue: "removeJournal"), "nothing was changed; remove the file '\(label.path)-journal'"))
        }
        let flags =
            (mode == .writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY)
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (isInContainer ? SQLITE_OPEN_NOFOLLOW : 0)
            | (unlogged == nil ? 0 : SQLITE_OPEN_URI)
        SeparateTable.endSparing()
        let path = (unlogged?.address ?? file) + [0]
        var opened: OpaquePointer?
        let code = unsafe path.withUnsafeBufferPointer { path in
            unsafe path.withMemoryRebound(to: CChar.self) { path in
                // A buffer that is not empty has an address.
                unsafe path.baseAddress.map { unsafe sqlite3_open_v2($0, &opened, flags, ConfinedFiles.name) }
                    ?? SQLITE_MISUSE
            }
        }
        unsafe handle = opened
        if code != SQLITE_OK {
            let error = error(code, nil)
            close()
            throw error
        }
    }

    /// A forked child must not touch the locks and files of its parent.
    private let forkGeneration = GroupSystemCalls.forkGeneration

    deinit { if forkGeneration == GroupSystemCalls.forkGeneration { close() } }

    /// Checks that the library is not too old for `pragma_table_list`.
    static func checkVersion(_ label: DatabaseLabel) throws(CoordinationError) {
        if sqlite3_libversion_number() >= 3_037_000 { return }
        throw label.error(
            .limitReached, "SQLite is too old: version 3.37 or newer is needed",
            .init(.update, "use a newer version of SQLite"))
    }

    /// Returns whether a version of SQLite may lose a commit where one connection resets the log while another writes:
    /// before 3.51.3, but for 3.50.7 and 3.44.6 and what follows them in their lines.
    package static func mayLoseCommits(_ version: Int32) -> Bool {
        switch version {
        case 3_051_003..., 3_050_007..<3_051_000, 3_044_006..<3_045_000: false
        default: true
        }
    }

    /// Reports a version that may lose commits beside programs that are no members.
    static func reportVersion(_ path: ItemPath, in container: Container) {
        if !mayLoseCommits(sqlite3_libversion_number()) { return }
        container.opened.diagnostics.report(
            .databaseAtRisk, item: "\(path)",
            "SQLite \(unsafe String(cString: sqlite3_libversion())) may lose a commit if another program, such as the "
                + "sqlite3 shell, writes to the database while members do; 3.51.3 does not")
    }

    /// Closes the connection. The last one of a database writes the log into the database, and removes it.
    package func close() {
        for statement in statements.values { statement.end() }
        statements = [:]
        life.withLock { _ in
            // With all statements ended it cannot fail.
            _ = unsafe sqlite3_close_v2(handle)
            unsafe handle = nil
        }
    }

    /// Ends the statement that runs, and with it the transaction, from any thread.
    func interrupt() {
        isInterrupted.store(true, ordering: .releasing)
        life.withLock { _ in
            if let handle = unsafe handle { unsafe sqlite3_interrupt(handle) }
        }
    }

    /// Makes the connection ready for a transaction, which waits at most that long for other programs' locks.
    package func begin(waiting timeout: Duration?) {
        isInterrupted.store(false, ordering: .releasing)
        let milliseconds = timeout.map { max(0, Int64($0 / .milliseconds(1))) } ?? Int64(Int32.max)
        _ = unsafe sqlite3_busy_timeout(handle, Int32(clamping: milliseconds))
    }

    /// Ends the transaction, if there is one, without its changes.
    package func rollBack() {
        if isInTransaction { _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// Whether the transaction is to end.
    var isStopped: Bool { isInterrupted.load(ordering: .acquiring) }

    /// Runs a body whose statements must not write.
    func forReading<Answer>(_ body: () throws -> Answer) throws -> Answer {
        if mode == .reading { return try body() }
        try run("PRAGMA query_only = ON")
        defer { try? run("PRAGMA query_only = OFF") }
        return try body()
    }

    var changedRows: Int { unsafe Int(sqlite3_changes64(handle)) }
    var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    // MARK: Statements

    /// Executes one statement, and calls `body` with each row until it returns false.
    package func run(
        _ text: String, _ values: [any DatabaseValueConvertible] = [], _ body: (DatabaseRow) throws -> Bool
    ) throws {
        let statement = try prepared(text)
        defer { statement.reset() }
        try statement.bind(values, text)
        var columns: [String]?
        while true {
            if isStopped { throw error(SQLITE_INTERRUPT, text) }
            let code = statement.step()
            if code == SQLITE_DONE { return }
            if code != SQLITE_ROW { throw error(code, text) }
            // A statement that is kept may have been prepared anew, for another schema.
            let names = columns ?? statement.columns
            columns = names
            if try !body(DatabaseRow(columns: names, values: statement.values)) { return }
        }
    }

    /// Executes a statement whose rows do not matter.
    package func run(_ text: String, _ values: any DatabaseValueConvertible...) throws {
        try run(text, values) { _ in true }
    }

    /// Returns the first column of the first row, if that is an integer.
    package func integer(_ text: String, _ values: any DatabaseValueConvertible...) throws -> Int64? {
        var number: Int64?
        try run(text, values) { row in
            if case .integer(let value)? = row.values.first { number = value }
            return false
        }
        return number
    }

    /// Executes several statements, one after the other.
    package func run(script: String) throws {
        var rest = Array(script.utf8)[...]
        while !rest.isEmpty {
            let (statement, length) = try prepare(rest)
            guard let statement else { return }
            defer { statement.end() }
            let text = String(decoding: rest.prefix(length), as: UTF8.self)
            if statement.parameterCount > 0 {
                throw DatabaseError(.statement, reason: "a script has no values for parameters", statement: text)
            }
            var code = SQLITE_ROW
            while code == SQLITE_ROW { code = statement.step() }
            if code != SQLITE_DONE { throw error(code, text) }
            rest = rest.dropFirst(length)
        }
    }

    private func prepared(_ text: String) throws -> Statement {
        if let statement = statements[text] {
            if !statement.isRunning { return statement }
        }
        let (new, length) = try prepare(Array(text.utf8)[...])
        guard let new else {
            throw DatabaseError(.statement, reason: "there is no statement in the text", statement: text)
        }
        if try prepare(Array(text.utf8)[length...]).statement.map({ $0.end() }) != nil {
            new.end()
            throw DatabaseError(
                .statement, reason: "the text has more than one statement; pass it to execute(script:)", statement: text
            )
        }
        // A statement that is executed in the closure of itself is not kept twice.
        if statements[text] != nil {
            new.isKept = false
            return new
        }
        if statements.count >= Self.keptStatements, let other = statements.first(where: { !$0.value.isRunning }) {
            other.value.end()
            statements[other.key] = nil
        }
        statements[text] = new
        return new
    }

    /// Prepares the first statement of a text. Returns it with the number of bytes that it takes; nil where the rest of
    /// the text has only blanks and comments.
    private func prepare(_ text: ArraySlice<UInt8>) throws -> (statement: Statement?, length: Int) {
        if text.contains(0) || text.count > Int(Int32.max) {
            throw DatabaseError(.statement, reason: "the text of the statement has a NUL byte, or is too long")
        }
        if text.isEmpty { return (nil, 0) }
        var statement: OpaquePointer?
        var length = 0
        let code = unsafe text.withUnsafeBufferPointer { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { buffer in
                var tail: UnsafePointer<CChar>?
                let code = unsafe sqlite3_prepare_v3(
                    handle, buffer.baseAddress, Int32(buffer.count), 0, &statement, &tail)
                if let start = buffer.baseAddress, let tail = unsafe tail { length = unsafe tail - start }
                return code
            }
        }
        if code != SQLITE_OK { throw error(code, String(decoding: text, as: UTF8.self)) }
        return unsafe (statement.map { unsafe Statement($0) }, length)
    }

    // MARK: Errors

    /// Returns the error for a result code of this connection.
    func error(_ code: Int32, _ statement: String?) -> any Error {
        let message = unsafe handle.flatMap { unsafe sqlite3_errmsg($0) }.map { unsafe String(cString: $0) }
        let errno = unsafe handle.map { unsafe sqlite3_system_errno($0) } ?? 0
        let text = message ?? Statement.text(of: code)
        return label.error(code, text, errno: errno, statement)
    }
}
#endif
