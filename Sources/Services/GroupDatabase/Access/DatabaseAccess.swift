#if SQLite
/// The access to a database in the closure of a read or a write: one transaction. Outside of the closure it throws.
///
/// The statements are SQLite's SQL, and `?`, `?1` or `:name` in them stand for values, which are passed beside the text
/// and are never part of it.
public final class DatabaseAccess {
    private let connection: Connection
    /// Whether the closure has returned.
    private var isOver = false

    init(_ connection: Connection) { self.connection = connection }

    func end() { isOver = true }

    /// Executes one statement, with values for its parameters in their order, and returns the number of rows that it
    /// inserted, updated or deleted.
    ///
    ///     try db.execute("INSERT INTO note (text, done) VALUES (?, ?)", "milk", false)
    ///
    /// Errors: `DatabaseError`; `CoordinationError` as for the whole transaction
    @discardableResult
    public func execute(_ statement: String, _ values: any DatabaseValueConvertible...) throws -> Int {
        try execute(statement, values: values)
    }

    /// The form of `execute(_:_:)` for values in an array.
    @discardableResult
    public func execute(_ statement: String, values: [any DatabaseValueConvertible]) throws -> Int {
        try check()
        try connection.run(statement, values) { _ in true }
        return connection.changedRows
    }

    /// Executes several statements without values, one after the other, such as those that make the tables.
    /// Errors: as `execute(_:_:)`, for the first statement that fails
    public func execute(script: String) throws {
        try check()
        try connection.run(script: script)
    }

    /// Returns all rows of a query. For a long result use `forEachRow(of:values:_:)`, which keeps one row at a time.
    ///
    ///     for row in try db.rows("SELECT id, text FROM note WHERE done = ?", false) {
    ///         print(try row.value("text", as: String.self))
    ///     }
    ///
    /// Errors: as `execute(_:_:)`
    public func rows(_ query: String, _ values: any DatabaseValueConvertible...) throws -> [DatabaseRow] {
        var rows: [DatabaseRow] = []
        try forEachRow(of: query, values: values) { rows.append($0) }
        return rows
    }

    /// Returns the first row of a query; nil if it has none. Errors: as `execute(_:_:)`
    public func row(_ query: String, _ values: any DatabaseValueConvertible...) throws -> DatabaseRow? {
        try check()
        var found: DatabaseRow?
        try connection.run(query, values) { row in
            found = row
            return false
        }
        return found
    }

    /// Returns the first column of the first row of a query; nil if it has no rows. A null is nil, too.
    ///
    ///     let count = try db.value("SELECT count(*) FROM note", as: Int.self) ?? 0
    ///
    /// Errors: as `execute(_:_:)`; `DatabaseError.wrongType`
    public func value<Value: DatabaseValueConvertible>(
        _ query: String, _ values: any DatabaseValueConvertible..., as type: Value.Type
    ) throws -> Value? {
        try check()
        var found = DatabaseValue.null
        try connection.run(query, values) { row in
            found = row.values.first ?? .null
            return false
        }
        if found == .null { return nil }
        guard let value = Value(databaseValue: found) else {
            throw DatabaseError(
                .wrongType, reason: "the value is of type \(found.storageClass), and not \(type)", statement: query)
        }
        return value
    }

    /// Calls a closure with each row of a query. Errors: as `execute(_:_:)`, and those of the closure, which end the
    /// query
    public func forEachRow(
        of query: String, values: [any DatabaseValueConvertible] = [], _ body: (DatabaseRow) throws -> Void
    ) throws {
        try check()
        try connection.run(query, values) { row in
            try body(row)
            return true
        }
    }

    /// The row identifier of the last row that was inserted by this connection; 0 if there is none.
    public var lastInsertedRow: Int64 { connection.lastInsertedRow }

    private func check() throws(DatabaseError) {
        if isOver { throw DatabaseError(.misuse, reason: "the access was used after its closure had returned") }
    }
}
#endif
