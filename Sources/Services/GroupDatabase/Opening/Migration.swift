#if SQLite
/// A step from one schema of a database to the next one. The steps of a database are numbered in their order; a step
/// that was published is never changed, and new ones are added at the end.
public struct Migration: Sendable {
    /// The name, for errors.
    public var name: String
    let body: @Sendable (DatabaseAccess) throws -> Void

    /// Creates a step. `body` runs once for each database, in a transaction of its own.
    public init(_ name: String, _ body: @escaping @Sendable (DatabaseAccess) throws -> Void) {
        self.name = name
        self.body = body
    }

    /// Creates a step of SQL statements.
    public init(_ name: String, script: String) { self.init(name) { try $0.execute(script: script) } }
}
#endif
