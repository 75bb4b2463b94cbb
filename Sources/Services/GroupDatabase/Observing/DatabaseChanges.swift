#if SQLite
public import GroupContainer
import GroupSystemCalls

/// A position in the history of a database: how often each table was changed. A program keeps it, and follows the
/// changes since then when it runs again, also those of processes that have ended.
public struct DatabaseCursor: Hashable, Sendable, Codable {
    var numbers: [String: Int64]
}

/// What was changed in a database since the change before, by one commit or several.
public struct DatabaseChange: Hashable, Sendable {
    /// The tables whose rows were inserted, updated or deleted.
    public var tables: Set<String>
    /// Whether other tables may have been changed, too: some have no triggers, because they are virtual, or because
    /// another program has made them since a member wrote.
    public var mayConcernOthers: Bool
    /// The position behind this change.
    public var cursor: DatabaseCursor
    /// How many rows were changed in a table since the change before.
    public var rows: [String: Int64]
}

/// The changes of a database since a position, without end: each commit that concerns a table is covered by one of
/// them, and by no other one, whichever program made it; commits that follow each other closely are covered by one. Own
/// commits are among them.
///
/// The sequence waits for the container's journal, in which the leader records commits, and reads the tables' numbers
/// then: while nothing is committed, it makes no system call.
public struct DatabaseChanges: AsyncSequence, Sendable {
    private let start: Result<Observation, any Error>
    private let records: Changes

    init(_ start: Result<Observation, any Error>, _ records: Changes) {
        self.start = start
        self.records = records
    }

    /// Returns an iterator that starts at the sequence's position.
    public func makeAsyncIterator() -> Iterator { Iterator(start, records.makeAsyncIterator()) }

    /// The position of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        private var observation: Result<Observation, any Error>
        private var records: Changes.Iterator
        private var hasRecord = false

        init(_ observation: Result<Observation, any Error>, _ records: Changes.Iterator) {
            self.observation = observation
            self.records = records
        }

        /// Returns the next change; nil when the task is cancelled. Errors: those of `GroupDatabase.read(timeout:_:)`
        /// and of `Container.changes(since:matching:afterRescan:)`
        public mutating func next() async throws -> DatabaseChange? {
            var observation = try observation.get()
            while !Task.isCancelled {
                let database = observation.database
                let now = try await database.interruptibly { _ in try database.numbers() }
                let change = observation.take(now, hasRecord: hasRecord)
                self.observation = .success(observation)
                hasRecord = false
                if let change { return change }
                if try await records.next() == nil { return nil }
                hasRecord = true
            }
            return nil
        }
    }
}

/// The changes of a database on the calling thread. See `DatabaseChanges`.
public struct DatabaseFollower: Sendable {
    private var observation: Observation
    private var records: Follower<Change>
    private var hasRecord = false

    init(_ observation: Observation, _ records: Follower<Change>) {
        self.observation = observation
        self.records = records
    }

    /// Returns the next change; waits for it at most `timeout` (nil: forever) and then returns nil. Errors: as those of
    /// `DatabaseChanges.Iterator.next()`
    public mutating func next(timeout: Duration? = nil) throws -> DatabaseChange? {
        let deadline = Deadline(after: timeout)
        while true {
            let change = observation.take(try observation.database.numbers(), hasRecord: hasRecord)
            hasRecord = false
            if let change { return change }
            if try records.next(timeout: deadline.remaining.map { .nanoseconds($0) }) == nil { return nil }
            hasRecord = true
        }
    }
}

/// What an observer has seen of a database.
struct Observation: Sendable {
    let database: GroupDatabase
    /// The tables that matter; empty: all.
    let tables: Set<String>
    private(set) var cursor: DatabaseCursor

    init(_ database: GroupDatabase, _ tables: Set<String>, since cursor: DatabaseCursor?) throws {
        self.database = database
        self.tables = tables
        self.cursor = try cursor ?? DatabaseCursor(numbers: database.numbers().numbers)
    }

    /// Takes what the database has now. Returns nil if nothing that matters was changed.
    mutating func take(_ now: (numbers: [String: Int64], hasOthers: Bool), hasRecord: Bool) -> DatabaseChange? {
        let before = cursor.numbers
        cursor.numbers = now.numbers
        var rows: [String: Int64] = [:]
        for (table, number) in now.numbers where tables.isEmpty || tables.contains(table) {
            // After the restoration of a backup a number may be lower.
            let (difference, _) = number.subtractingReportingOverflow(before[table] ?? 0)
            if difference != 0 { rows[table] = difference }
        }
        let mayConcernOthers = hasRecord && now.hasOthers
        if rows.isEmpty && !mayConcernOthers { return nil }
        return DatabaseChange(tables: Set(rows.keys), mayConcernOthers: mayConcernOthers, cursor: cursor, rows: rows)
    }
}

extension GroupDatabase {
    /// Returns the changes of tables, of all if none is named, since a position; without one, since this call. See
    /// `DatabaseChanges`. Table names are compared as the schema has them.
    public func changes(of tables: String..., since cursor: DatabaseCursor? = nil) -> DatabaseChanges {
        // The records are read from now on, and the numbers are read later.
        let records = container.changes(since: .now, matching: filter)
        return DatabaseChanges(Result { try Observation(self, Set(tables), since: cursor) }, records)
    }

    func follower(of tables: Set<String>, since cursor: DatabaseCursor?) throws -> DatabaseFollower {
        let records = try container.follow(since: .now, matching: filter)
        return DatabaseFollower(try Observation(self, tables, since: cursor), records)
    }

    /// Returns the position behind the last commit, for a program that wants the changes since when it runs again.
    /// Errors: those of `read(timeout:_:)`
    public func cursor() throws -> DatabaseCursor { DatabaseCursor(numbers: try numbers().numbers) }

    func numbers() throws -> (numbers: [String: Int64], hasOthers: Bool) {
        try connections.read(until: Deadline(after: Self.timeout)) { try ChangeTriggers.numbers(in: $0) }
    }

    private var filter: ChangeFilter {
        var filter = ChangeFilter()
        // The path is no pattern.
        filter.include(
            bytes: path.bytes.flatMap { byte in
                Array("*?[\\".utf8).contains(byte) ? [UInt8(ascii: "["), byte, UInt8(ascii: "]")] : [byte]
            })
        return filter
    }
}

extension BlockingGroupDatabase {
    /// Returns a follower of the changes of tables, of all if none is named, since a position; without one, since this
    /// call. See `DatabaseChanges`. Errors: those of `GroupDatabase.read(timeout:_:)` and of
    /// `Container.follow(since:matching:afterRescan:)`
    public func follow(
        tables: Set<String> = [], since cursor: DatabaseCursor? = nil
    ) throws -> DatabaseFollower {
        try database.follower(of: tables, since: cursor)
    }

    /// Writes a copy of the database to a file outside of the container. See
    /// `GroupDatabase.backUp(to:timeout:progress:)`.
    public func backUp(
        to file: AbsolutePath, timeout: Duration? = GroupDatabase.timeout,
        progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws {
        try database.backUp(to: file.bytes, until: Deadline(after: timeout), nil, progress)
    }
}
#endif
