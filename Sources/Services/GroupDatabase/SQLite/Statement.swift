#if SQLite
import CGroupSQLite

/// A prepared statement.
@safe final class Statement {
    private var handle: OpaquePointer?
    /// Whether the connection keeps it for the next time.
    var isKept = true
    private(set) var isRunning = false

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { end() }

    func end() {
        _ = unsafe sqlite3_finalize(handle)
        unsafe handle = nil
    }

    /// Ends the execution, and forgets the values.
    func reset() {
        isRunning = false
        if !isKept { return end() }
        _ = unsafe sqlite3_reset(handle)
        _ = unsafe sqlite3_clear_bindings(handle)
    }

    func step() -> Int32 {
        isRunning = true
        return unsafe sqlite3_step(handle)
    }

    /// Returns SQLite's text for a result code.
    static func text(of code: Int32) -> String {
        guard let text = unsafe sqlite3_errstr(code) else { return "result code \(code)" }
        return unsafe String(cString: text)
    }

    var parameterCount: Int { unsafe Int(sqlite3_bind_parameter_count(handle)) }

    /// Binds the values to the parameters, in their order.
    func bind(_ values: [any DatabaseValueConvertible], _ text: String) throws(DatabaseError) {
        if values.count != parameterCount {
            throw DatabaseError(
                .statement,
                reason: "the statement has \(parameterCount) parameters, and there are \(values.count) values",
                statement: text)
        }
        for (index, value) in values.enumerated() {
            let code = bind(value.databaseValue, at: Int32(index + 1))
            if code != SQLITE_OK {
                throw DatabaseError(
                    .statement, reason: "value \(index + 1): \(Self.text(of: code))",
                    statement: text, resultCode: code)
            }
        }
    }

    private func bind(_ value: DatabaseValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
        case .real(let number): return unsafe sqlite3_bind_double(handle, index, number)
        case .text(let text):
            var text = text
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                    unsafe group_sqlite_bind_text(handle, index, bytes.baseAddress, UInt64(bytes.count))
                }
            }
        case .blob(let bytes):
            if bytes.isEmpty { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
            return unsafe bytes.withUnsafeBytes { bytes in
                unsafe group_sqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
            }
        }
    }

    /// The names of the result's columns.
    var columns: [String] {
        let count = unsafe sqlite3_column_count(handle)
        return (0..<count).map { index in
            unsafe sqlite3_column_name(handle, index).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// The values of the present row.
    var values: [DatabaseValue] {
        let count = unsafe sqlite3_data_count(handle)
        return (0..<count).map(value)
    }

    private func value(at index: Int32) -> DatabaseValue {
        switch unsafe sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            let text = unsafe UnsafeRawPointer(sqlite3_column_text(handle, index))
            return .text(String(decoding: unsafe bytes(at: text, index), as: UTF8.self))
        case SQLITE_BLOB:
            let blob = unsafe sqlite3_column_blob(handle, index)
            return .blob(unsafe bytes(at: blob, index))
        default: return .null
        }
    }

    /// Copies a text or a blob of the present row. SQLite's pointer is good until the next step.
    private func bytes(at start: UnsafeRawPointer?, _ index: Int32) -> [UInt8] {
        let count = unsafe Int(sqlite3_column_bytes(handle, index))
        return unsafe start.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
    }
}
#endif
