#if SQLite
/// An error in a statement, or in the use of its result: what the caller has to correct. Errors of the container and of
/// the files are `CoordinationError`s.
public struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A code for `switch` statements; versions to come may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String
        /// Creates a code of another version from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The statement is not SQL that SQLite understands, names a table or a column that does not exist, or does not
        /// fit its values.
        public static let statement = Code(rawValue: "statement")
        /// The statement would have violated a constraint, such as `UNIQUE` or `NOT NULL`.
        public static let constraint = Code(rawValue: "constraint")
        /// A value is of another type than the caller wants, or there is no such column.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The access was used after its closure had returned, or a write was begun in the closure of another one.
        public static let misuse = Code(rawValue: "misuse")
    }

    /// The kind of error.
    public var code: Code
    /// The reason, in SQLite's words where it is SQLite's.
    public var reason: String
    /// The statement; nil where there is none.
    public var statement: String?
    /// SQLite's extended result code, such as 2067 for `SQLITE_CONSTRAINT_UNIQUE`; 0 where the error is not SQLite's.
    public var resultCode: Int32

    init(_ code: Code, reason: String, statement: String? = nil, resultCode: Int32 = 0) {
        self.code = code
        self.reason = reason
        self.statement = statement
        self.resultCode = resultCode
    }

    /// A sentence with all parts.
    public var description: String { statement.map { "cannot execute '\($0)': \(reason)" } ?? reason }
}
#endif
