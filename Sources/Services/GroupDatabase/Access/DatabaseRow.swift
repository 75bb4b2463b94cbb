#if SQLite
/// A row of a result: a value for each column.
public struct DatabaseRow: Sendable {
    /// The names of the columns, in their order.
    public let columns: [String]
    /// The values, in the order of the columns.
    public let values: [DatabaseValue]

    /// Returns the value of the first column of a name, compared without regard to case, as in SQL; nil if there is none.
    public subscript(_ column: String) -> DatabaseValue? {
        let index = columns.firstIndex(of: column) ?? columns.firstIndex { $0.lowercased() == column.lowercased() }
        return index.map { values[$0] }
    }

    /// Returns the value of a column as a type of Swift. Errors: `DatabaseError.wrongType` if there is no such column, or if
    /// its value is not of this type
    public func value<Value: DatabaseValueConvertible>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(DatabaseError) -> Value {
        guard let stored = self[column] else {
            throw DatabaseError(
                .wrongType,
                reason: "the result has no column '\(column)'; its columns are: \(columns.joined(separator: ", "))")
        }
        guard let value = Value(databaseValue: stored) else {
            throw DatabaseError(
                .wrongType,
                reason: "the value of the column '\(column)' is of type \(stored.storageClass), and not \(type)")
        }
        return value
    }
}
#endif
