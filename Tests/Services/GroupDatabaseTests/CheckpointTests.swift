#if SQLite
import FoundationEssentials
import GroupContainer
import GroupDatabase
import GroupSystemCalls
import TestSupport
import Testing

/// SQLite may lose a commit where one connection resets the log while another one writes (sqlite.org, "WAL-reset bug").
/// Members are safe because they make their checkpoints under the lock of writers.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Checkpoints of a database` {
    let temporary: TemporaryContainer
    private static let path: ItemPath = "t.sqlite"

    init() throws { temporary = try TemporaryContainer() }

    private func opened() throws -> GroupDatabase {
        // The steps of database-member, which has executed them.
        let steps = (1...3).map { Migration("step \($0)", script: "") }
        return try GroupDatabase(Self.path, in: temporary.open(), migrations: steps)
    }

    private func member(_ mode: String, _ words: String...) throws -> RunningProcess {
        try RunningProcess(["database-member", mode, temporary.path, "\(Self.path)"] + words)
    }

    private func rows(_ database: GroupDatabase) async throws -> Int? {
        try await database.read { try $0.value("SELECT count(*) FROM row", as: Int.self) }
    }

    /// What a checkpoint changes: the salts of the log's header, and how far the log was copied (`nBackfill` of the
    /// index, 4 bytes at 96).
    private func progress() throws -> (salts: [UInt8], copied: UInt32) {
        let log = try Data(contentsOf: URL(fileURLWithPath: "\(temporary.path)/\(Self.path)-wal"))
        let index = try Data(contentsOf: URL(fileURLWithPath: "\(temporary.path)/\(Self.path)-shm"))
        let copied = index[96..<100].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (Array(log[16..<24]), copied)
    }

    @Test func `members make no checkpoint while another one writes, and the shell does`() async throws {
        let first = try member("open")
        try first.waitForText("open\n")
        #expect(try await member("insert", "20").finish().status == 0)
        let before = try progress()
        let writer = try member("hold")
        try writer.waitForText("writing\n")
        let database = try opened()
        #expect(try await rows(database) == 20)
        try await database.backUp(to: #require(AbsolutePath("\(temporary.directory)/copy.sqlite")))
        await database.suspend()
        database.resume()
        #expect(try await rows(database) == 20)
        database.close()
        first.closeInput()
        #expect(try await first.finish().status == 0)
        let now = try progress()
        #expect(now.salts == before.salts && now.copied == before.copied)
        // As a proof that the two would show it.
        let shell = ["sqlite3", "\(temporary.path)/\(Self.path)", "PRAGMA wal_checkpoint(PASSIVE)"]
        #expect(try await RunningProcess(shell, input: "").finish().status == 0)
        #expect(try progress().copied > before.copied)
        writer.closeInput()
        #expect(try await writer.finish().status == 0)
    }

    @Test func `the checkpoint of a commit is over when the next writer begins`() async throws {
        #expect(try await member("insert", "1").finish().status == 0)
        let (first, second) = (try opened(), try opened())
        let (hasBegun, mayEnd) = (Event(), Event())
        let writing = Task {
            try await first.write { db in
                try db.execute("CREATE TABLE large (content BLOB NOT NULL)")
                for _ in 0..<2_000 { try db.execute("INSERT INTO large VALUES (zeroblob(4000))") }
                hasBegun.happen()
                _ = mayEnd.await()
            }
        }
        #expect(hasBegun.await())
        let next = Task { try await second.write { _ in try progress().copied } }
        try temporary.waitForWaiters(1, in: temporary.open())
        mayEnd.happen()
        try await writing.value
        #expect(try await next.value >= 2_000)
    }

    @Test func `opening with an affected version of SQLite is reported`() throws {
        for version in [3_040_001, 3_044_005, 3_050_006, 3_051_000, 3_051_002] as [Int32] {
            #expect(Connection.mayLoseCommits(version), "\(version)")
        }
        for version in [3_044_006, 3_050_007, 3_051_003, 3_052_000, 4_000_000] as [Int32] {
            #expect(!Connection.mayLoseCommits(version), "\(version)")
        }
        let container = try temporary.open()
        var events = container.followDiagnostics()
        let database = try GroupDatabase(Self.path, in: container, migrations: [])
        defer { database.close() }
        let event = events.next(timeout: .zero)
        let isAffected =
            try database.blocking.read { try $0.value("SELECT sqlite_version()", as: String.self) }
            .map { $0 < "3.51.3" } ?? false
        #expect((event?.code == .databaseAtRisk) == isAffected)
        #expect(!isAffected || event?.description.hasPrefix("t.sqlite: SQLite 3.") == true)
    }
}
#endif
