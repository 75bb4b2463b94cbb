#if SQLite
import GroupContainer
import GroupSystemCalls

/// A database whose calls block the thread. See `GroupDatabase`.
public struct BlockingGroupDatabase: Sendable {
    let database: GroupDatabase

    init(_ database: GroupDatabase) { self.database = database }

    /// Returns the result of a closure that reads. See `GroupDatabase.read(timeout:_:)`.
    public func read<Answer>(
        timeout: Duration? = GroupDatabase.timeout, _ body: (DatabaseAccess) throws -> Answer
    ) throws -> Answer {
        try database.read(until: Deadline(after: timeout), nil, body)
    }

    /// Returns the result of a closure that reads and writes. See `GroupDatabase.write(timeout:_:)`.
    @discardableResult
    public func write<Answer>(
        timeout: Duration? = GroupDatabase.timeout, _ body: (DatabaseAccess) throws -> Answer
    ) throws -> Answer {
        let deadline = Deadline(after: timeout)
        try database.connections.check("write")
        try database.connections.checkIsNotWriting()
        let writing =
            try database.connections.registered?.holdForWriting(for: "write", timeout: timeout) as PrivateFile.Holding?
        defer { writing?.end() }
        return try database.write(until: deadline, nil, body)
    }

    /// Interrupts what runs, and closes the connections until `GroupDatabase.resume()`. See `GroupDatabase.suspend()`.
    public func suspend() { database.connections.suspend() }
}
#endif
