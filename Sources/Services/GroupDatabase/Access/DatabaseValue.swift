#if SQLite
public import FoundationEssentials

/// A value of SQLite, in one of its five storage classes.
public enum DatabaseValue: Hashable, Sendable {
    /// No value.
    case null
    /// An integer of 64 bits.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text. Bytes that are not UTF-8 were replaced.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// The name of the storage class, as SQL's `typeof` returns it.
    public var storageClass: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text: "text"
        case .blob: "blob"
        }
    }
}

/// A type whose values are stored in a column of a database.
public protocol DatabaseValueConvertible {
    /// The value as SQLite stores it.
    var databaseValue: DatabaseValue { get }
    /// Creates a value from what is stored; nil for what is not of this type.
    init?(databaseValue: DatabaseValue)
}

extension DatabaseValue: DatabaseValueConvertible {
    /// The value itself.
    public var databaseValue: DatabaseValue { self }
    /// Creates the same value.
    public init?(databaseValue: DatabaseValue) { self = databaseValue }
}

extension DatabaseValueConvertible where Self: FixedWidthInteger {
    /// An integer. A number of more than 63 bits is stored as a text, which SQLite compares as one.
    public var databaseValue: DatabaseValue { Int64(exactly: self).map { .integer($0) } ?? .text("\(self)") }
    /// Creates a number from an integer that it can represent.
    public init?(databaseValue: DatabaseValue) {
        switch databaseValue {
        case .integer(let number): self.init(exactly: number)
        case .text(let text): self.init(text)
        case .null, .real, .blob: return nil
        }
    }
}

extension Int: DatabaseValueConvertible {}
extension Int64: DatabaseValueConvertible {}
extension Int32: DatabaseValueConvertible {}
extension UInt64: DatabaseValueConvertible {}
extension UInt32: DatabaseValueConvertible {}

extension Bool: DatabaseValueConvertible {
    /// The integer 1 or 0.
    public var databaseValue: DatabaseValue { .integer(self ? 1 : 0) }
    /// Creates a truth value from the integer 1 or 0.
    public init?(databaseValue: DatabaseValue) {
        guard case .integer(let number) = databaseValue, number == 0 || number == 1 else { return nil }
        self = number == 1
    }
}

extension Double: DatabaseValueConvertible {
    /// A floating-point number. SQLite stores one that is not a number as null.
    public var databaseValue: DatabaseValue { .real(self) }
    /// Creates a number from a floating-point number or an integer.
    public init?(databaseValue: DatabaseValue) {
        switch databaseValue {
        case .real(let number): self = number
        case .integer(let number): self = Double(number)
        case .null, .text, .blob: return nil
        }
    }
}

extension String: DatabaseValueConvertible {
    /// A text.
    public var databaseValue: DatabaseValue { .text(self) }
    /// Creates a text from a text.
    public init?(databaseValue: DatabaseValue) {
        guard case .text(let text) = databaseValue else { return nil }
        self = text
    }
}

extension Data: DatabaseValueConvertible {
    /// Bytes.
    public var databaseValue: DatabaseValue { .blob(Array(self)) }
    /// Creates data from bytes.
    public init?(databaseValue: DatabaseValue) {
        guard case .blob(let bytes) = databaseValue else { return nil }
        self.init(bytes)
    }
}

extension Date: DatabaseValueConvertible {
    /// The seconds since 1970, as a floating-point number, which SQL's `datetime(…, 'unixepoch')` takes.
    public var databaseValue: DatabaseValue { .real(timeIntervalSince1970) }
    /// Creates a date from seconds since 1970.
    public init?(databaseValue: DatabaseValue) {
        guard let seconds = Double(databaseValue: databaseValue) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }
}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    /// The value, or null.
    public var databaseValue: DatabaseValue { self?.databaseValue ?? .null }
    /// Creates nil from null, and otherwise a value.
    public init?(databaseValue: DatabaseValue) {
        if databaseValue == .null {
            self = .none
        } else {
            guard let value = Wrapped(databaseValue: databaseValue) else { return nil }
            self = .some(value)
        }
    }
}
#endif

#if SQLite
/// A row of a result: a value for each column.
public struct DatabaseRow: Sendable {
    /// The names of the columns, in their order.
    public let columns: [String]
    /// The values, in the order of the columns.
    public let values: [DatabaseValue]

    /// Returns the value of the first column of a name, compared without regard to case, as in SQL; nil if there is
    /// none.
    public subscript(_ column: String) -> DatabaseValue? {
        let index = columns.firstIndex(of: column) ?? columns.firstIndex { $0.lowercased() == column.lowercased() }
        return index.map { values[$0] }
    }

    /// Returns the value of a column as a type of Swift. Errors: `DatabaseError.wrongType` if there is no such column,
    /// or if its value is not of this type
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
