#if SQLite
import FoundationEssentials
import Glibc
import GroupContainer
import GroupDatabase
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process, .root, .namespaces))
struct `A database` {
    let temporary: TemporaryContainer
    let container: Container
    let steps = [
        Migration("notes", script: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)")
    ]

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
    }

    private func opened(_ steps: [Migration]? = nil, readOnly: Bool = false) throws -> GroupDatabase {
        try GroupDatabase("Store/notes.sqlite", in: container, migrations: steps ?? self.steps, readOnly: readOnly)
    }

    private func code(of body: () throws -> Void) -> CoordinationError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CoordinationError)?.code
        }
    }

    @Test func `values come back as they were stored`() async throws {
        let database = try await GroupDatabase.open("values.sqlite", in: container, migrations: [])
        let values: [DatabaseValue] = [
            .null, .integer(.min), .real(-0.5), .text(""), .text("a\u{0}b 'ü'"), .blob([]), .blob([0, 255]),
        ]
        let found = try await database.write { db in
            try db.execute("CREATE TABLE t (a, b, c, d, e, f, g)")
            try db.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", values: values)
            return try db.rows("SELECT * FROM t")
        }
        #expect(found.map(\.values) == [values])
        #expect(found.first?.columns == ["a", "b", "c", "d", "e", "f", "g"])
        let row = try #require(found.first)
        #expect(try row.value("B", as: Int64.self) == .min && row.value("a", as: Int?.self) == nil)
        #expect(throws: DatabaseError.self) { try row.value("c", as: String.self) }
        #expect(throws: DatabaseError.self) { try row.value("h", as: String.self) }
        let date = Date(timeIntervalSince1970: 1_000.5)
        let again = try await database.read { db in try db.value("SELECT ?", date, as: Date.self) }
        #expect(again == date)
        let isTrue = try await database.read { db in try db.value("SELECT 1", as: Bool.self) }
        #expect(isTrue == true)
        let large = try await database.read { db in try db.value("SELECT ?", UInt64.max, as: UInt64.self) }
        #expect(large == .max)
    }

    /// Makes a database outside of the container, whose mode is not WAL.
    private func outside() throws -> String {
        let file = "\(temporary.directory)/outside.sqlite"
        let status = try RunningProcess(["sqlite3", file, "CREATE TABLE t (a); PRAGMA user_version = 7"], input: "")
            .finish().status
        #expect(status == 0)
        return file
    }

    @Test func `a database that is exchanged for a symbolic link is not followed`() throws {
        let file = try outside()
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        let database = try opened()
        #expect(unsafe unlink("\(temporary.path)/Store/notes.sqlite") == 0)
        #expect(unsafe symlink(file, "\(temporary.path)/Store/notes.sqlite") == 0)
        database.close()
        #expect(code { _ = try opened() } != nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == content)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root"))
    func `a symbolic link is not followed where the container can only be read`() throws {
        let file = try outside()
        #expect(unsafe symlink(file, "\(temporary.path)/link.sqlite") == 0)
        let (status, text) = try RunningProcess(
            [
                "unshare", "-m", "sh", "-c",
                "mount --bind -o ro \"$1\" \"$1\" && exec database-member open \"$1\" link.sqlite",
                "sh", temporary.path,
            ], input: ""
        ).finish()
        #expect(status != 0 && text.contains("symbolic link"), "\(text)")
    }

    @Test func `a journal that names another file deletes nothing`() throws {
        try opened().close()
        let victim = "\(temporary.directory)/victim"
        try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
        let journal = "\(temporary.path)/Store/notes.sqlite-journal"
        try Data(Self.journal(naming: victim)).write(to: URL(fileURLWithPath: journal))
        #expect(code { _ = try opened() } == .damaged)
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("kept".utf8))
        #expect(unsafe unlink(journal) == 0)
        try opened().close()
    }

    /// Returns a journal without pages that names a super-journal: a header of one sector, and at the end the page
    /// number of the lock byte, the name, its length, the sum of its bytes, and the magic number.
    private static func journal(naming superJournal: String) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        let name = Array(superJournal.utf8)
        var header = magic + word(0) + word(0) + word(1) + word(512) + word(4_096)
        header += [UInt8](repeating: 0, count: 512 - header.count)
        let sum = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        return header + word((1 << 30) / 4_096 + 1) + name + word(UInt32(name.count)) + word(sum) + magic
    }

    @Test func `a write that throws has changed nothing, and a read cannot write`() throws {
        let database = try opened().blocking
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try database.write { db in
                try db.execute("INSERT INTO note (text) VALUES ('a')")
                throw Refused()
            }
        }
        #expect(try database.read { try $0.value("SELECT count(*) FROM note", as: Int.self) } == 0)
        #expect(
            code { try database.read { _ = try $0.execute("INSERT INTO note (text) VALUES ('a')") } } == .notPermitted)
        #expect(try database.write { try $0.execute("INSERT INTO note (text) VALUES ('a'), ('b')") } == 2)
        #expect(try database.write { $0.lastInsertedRow } == 2)
    }

    @Test func `an error in a statement says which one, and what is wrong`() throws {
        let database = try opened().blocking
        func failure(_ body: (DatabaseAccess) throws -> Void) -> DatabaseError? {
            do {
                try database.write(body)
                return nil
            } catch {
                return error as? DatabaseError
            }
        }
        let missing = failure { _ = try $0.execute("INSERT INTO missing VALUES (1)") }
        #expect(missing?.code == .statement)
        #expect(missing?.reason == "no such table: missing")
        #expect(missing?.statement == "INSERT INTO missing VALUES (1)")
        let twice = failure { _ = try $0.execute("INSERT INTO note (text) VALUES ('a'), ('a')") }
        #expect(twice?.code == .constraint && twice?.resultCode == 2_067)
        #expect(failure { _ = try $0.execute("SELECT ?") }?.code == .statement)
        #expect(failure { _ = try $0.execute("SELECT 1; SELECT 2") }?.code == .statement)
        #expect(failure { _ = try $0.execute(" -- nothing") }?.code == .statement)
        #expect(failure { _ = try $0.execute("SELECT '\u{0}'") }?.code == .statement)
        var kept: DatabaseAccess?
        try database.write { kept = $0 }
        #expect(throws: DatabaseError.self) { try kept?.execute("SELECT 1") }
        #expect(failure { _ in try database.write { _ in } }?.code == .misuse)
    }

    @Test func `a reader sees one state, and does not keep a writer from writing`() throws {
        let database = try opened().blocking
        try database.write { _ = try $0.execute("INSERT INTO note (text) VALUES ('a')") }
        try database.read { db in
            let before = try db.value("SELECT count(*) FROM note", as: Int.self)
            try database.write { _ = try $0.execute("INSERT INTO note (text) VALUES ('b')") }
            let after = try db.value("SELECT count(*) FROM note", as: Int.self)
            #expect(before == 1 && after == 1)
        }
        #expect(try database.read { try $0.value("SELECT count(*) FROM note", as: Int.self) } == 2)
    }

    @Test func `steps run once, in their order, and a newer schema is an error`() throws {
        let more = steps + [Migration("done", script: "ALTER TABLE note ADD COLUMN done INTEGER NOT NULL DEFAULT 0")]
        #expect(code { _ = try opened(readOnly: true) } == .notFound)
        try opened().close()
        #expect(code { _ = try opened(more, readOnly: true) } == .olderFormat)
        try opened(more).close()
        try opened(more).close()
        let newer = #expect(throws: CoordinationError.self) { try opened() }
        #expect(newer?.code == .newerFormat && newer?.remedy?.code == .update)
        #expect(code { _ = try opened(readOnly: true) } == .newerFormat)
        let reading = try opened(more, readOnly: true).blocking
        #expect(try reading.read { try $0.value("SELECT count(*) FROM note WHERE done", as: Int.self) } == 0)
        #expect(code { try reading.write { _ in } } == .notPermitted)
    }

    @Test(arguments: [-1, -2_147_483_648]) func `a number of steps that no step has set is damage`(number: Int) throws {
        let database = try opened()
        try database.blocking.write { db in _ = try db.execute("PRAGMA user_version = \(number)") }
        database.close()
        #expect(code { _ = try opened() } == .damaged)
        #expect(code { _ = try opened(readOnly: true) } == .damaged)
    }

    @Test func `a step that fails leaves the steps before it, and can be tried again`() throws {
        let failing = steps + [Migration("wrong", script: "CREATE TABLE a (b); CREATE TABLE a (b)")]
        let error = #expect(throws: DatabaseError.self) { try opened(failing) }
        #expect(error?.reason.contains("the step 'wrong'") == true)
        let right = steps + [Migration("right", script: "CREATE TABLE a (b)")]
        let database = try opened(right).blocking
        #expect(try database.read { try $0.value("PRAGMA user_version", as: Int.self) } == 2)
    }

    @Test func `a file that is no database is an error, and stays as it is`() throws {
        let content = Array(
            "no database, and longer than the header of one is, which has a hundred bytes in all; so it goes on".utf8)
        try container.coordinator(purpose: "test").blocking.write(bytes: content, to: "Store/notes.sqlite")
        let error = #expect(throws: CoordinationError.self) { try opened() }
        #expect(error?.code == .damaged && error?.operation == "open" && error?.remedy?.code == .restoreDatabase)
        #expect(try container.coordinator(purpose: "test").blocking.readBytes("Store/notes.sqlite") == content)
    }

    @Test(arguments: [(0, 100), (4_096, 4_000), (8_192, 100), (4_096, nil), (5_000, nil), (2, nil)])
    func `a damaged database is an error of its kind, and is not written to`(place: Int, damage: Int?) throws {
        let database = try opened()
        for number in 0..<200 {
            try database.blocking.write { db in
                _ = try db.execute("INSERT INTO note (text) VALUES (?)", String(repeating: "\(number) ", count: 50))
            }
        }
        database.close()
        let file = try FileDescriptor.open(
            path: Array("\(container.path)/Store/notes.sqlite".utf8), .readingAndWriting)
        if let damage {
            try file.seek(to: place)
            try file.writeAll(Array(repeating: 0x78, count: damage))
        } else {
            try file.setSize(place)
        }
        let content = try container.coordinator(purpose: "test").blocking.readBytes("Store/notes.sqlite")
        let error = #expect(throws: CoordinationError.self) {
            let damaged = try opened().blocking
            _ = try damaged.read { try $0.rows("SELECT * FROM note").count }
            _ = try damaged.write { try $0.execute("DELETE FROM note WHERE text LIKE '%1%'") }
        }
        #expect(error?.code == .damaged && error?.remedy?.code == .restoreDatabase, "\(error as Any)")
        let after = try container.coordinator(purpose: "test").blocking.readBytes("Store/notes.sqlite")
        #expect(after == content)
    }

    @Test func `a suspended database has no locks, and refuses transactions until it is resumed`() async throws {
        let database = try opened()
        try database.blocking.write { _ = try $0.execute("INSERT INTO note (text) VALUES ('a')") }
        let began = Event()
        let long = Task {
            try await database.write { db in
                try db.execute("INSERT INTO note (text) VALUES ('b')")
                began.happen()
                _ = try db.value(
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
                    as: Int.self)
            }
        }
        _ = began.await()
        await database.suspend()
        let error = await #expect(throws: CoordinationError.self) { try await long.value }
        #expect(error?.code == .cancelled && error?.reason == "the database is suspended")
        #expect(!FileManager.default.fileExists(atPath: "\(container.path)/Store/notes.sqlite-wal"))
        #expect(code { try database.blocking.read { _ in } } == .cancelled)
        database.resume()
        #expect(try database.blocking.read { try $0.value("SELECT count(*) FROM note", as: Int.self) } == 1)
        database.close()
        #expect(code { try database.blocking.read { _ in } } == .cancelled)
    }

    @Test func `a task that is cancelled ends its transaction`() async throws {
        let database = try opened()
        let began = Event()
        let long = Task {
            try await database.write { db in
                try db.execute("INSERT INTO note (text) VALUES ('b')")
                began.happen()
                _ = try db.value(
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
                    as: Int.self)
            }
        }
        _ = began.await()
        long.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await long.value }
        #expect(error?.code == .cancelled)
        #expect(try database.blocking.write { try $0.value("SELECT count(*) FROM note", as: Int.self) } == 0)
    }

    @Test func `a backup is a single file with the state after one commit`() throws {
        let database = try opened()
        for number in 0..<50 {
            try database.blocking.write { _ = try $0.execute("INSERT INTO note (text) VALUES (?)", "\(number)") }
        }
        let directory = try TemporaryDirectory()
        let file = directory.path + "/copy.sqlite"
        var pages = 0
        try database.blocking.backUp(to: #require(AbsolutePath(file))) { done, all in pages = done == all ? all : -1 }
        #expect(pages > 0)
        try database.blocking.backUp(to: #require(AbsolutePath(file)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["copy.sqlite"])
        let other = try Container(path: directory.path + "/other", creating: true)
        try FileManager.default.moveItem(atPath: file, toPath: "\(other.path)/copy.sqlite")
        let copy = try GroupDatabase("copy.sqlite", in: other, migrations: steps).blocking
        #expect(try copy.read { try $0.value("SELECT count(*) FROM note", as: Int.self) } == 50)
        #expect(
            code { try database.blocking.backUp(to: #require(AbsolutePath("\(container.path)/copy"))) }
                == .invalidArgument)
    }

    @Test func `an open database has no coordinated access, and its other files are no items`() throws {
        let items = container.coordinator(purpose: "test").blocking
        let database = try opened()
        try database.blocking.write { _ = try $0.execute("INSERT INTO note (text) VALUES ('a')") }
        let path: ItemPath = "Store/notes.sqlite"
        #expect(code { try items.write(bytes: [], to: path) } == .conflict)
        #expect(code { try items.copy(path, to: "copy") } == .conflict)
        #expect(code { try items.move(path, to: "moved") } == .conflict)
        #expect(code { try items.move("Store", to: "moved") } == .conflict)
        #expect(code { try items.remove("Store", recursively: true) } == .conflict)
        #expect(code { _ = try items.readBytes(path) } == .conflict)
        #expect(code { _ = try items.readBytes("Store/notes.sqlite-wal") } == .outsideContainer)
        #expect(try container.items(in: "Store").map(\.path) == [path])
        #expect(FileManager.default.fileExists(atPath: "\(container.path)/Store/notes.sqlite-wal"))
        database.close()
        try items.copy(path, to: "copy")
        try items.move("Store", to: "moved")
        let moved = try GroupDatabase("moved/notes.sqlite", in: container, migrations: steps).blocking
        #expect(try moved.read { try $0.value("SELECT text FROM note", as: String.self) } == "a")
    }

    @Test func `changes since a place are those of the wanted tables`() throws {
        let database = try opened()
        let blocking = database.blocking
        var all = try blocking.follow()
        var notes = try blocking.follow(tables: ["note"])
        let start = try database.cursor()
        try blocking.write { _ = try $0.execute("INSERT INTO note (text) VALUES ('a'), ('b')") }
        let first = try #require(try all.next(timeout: patience))
        #expect(first.rows == ["note": 2] && first.tables == ["note"] && !first.mayConcernOthers)
        #expect(try notes.next(timeout: patience)?.rows == ["note": 2])
        try blocking.write { _ = try $0.execute("CREATE TABLE tag (name TEXT)") }
        try blocking.write { _ = try $0.execute("INSERT INTO tag VALUES ('x')") }
        #expect(try all.next(timeout: patience)?.rows == ["tag": 1])
        try blocking.write { db in
            try db.execute("UPDATE note SET text = 'c' WHERE text = 'a'")
            try db.execute("DELETE FROM tag")
        }
        #expect(try notes.next(timeout: patience)?.rows == ["note": 1])
        // The place may be kept, and used in another process.
        let kept = try JSONDecoder().decode(DatabaseCursor.self, from: JSONEncoder().encode(start))
        var later = try blocking.follow(since: kept)
        #expect(try later.next(timeout: patience)?.rows == ["note": 3, "tag": 2])
        try blocking.write { _ = try $0.execute("ALTER TABLE tag RENAME TO label") }
        try blocking.write { _ = try $0.execute("INSERT INTO label VALUES ('y')") }
        #expect(try later.next(timeout: patience)?.rows == ["label": 1])
        #expect(try notes.next(timeout: .zero) == nil)
    }

    @Test func `a sequence of changes ends with its task`() async throws {
        let database = try opened()
        let changes = database.changes(of: "note")
        try await database.write { _ = try $0.execute("INSERT INTO note (text) VALUES ('a')") }
        let first = Event()
        let task = Task {
            var rows: Int64 = 0
            for try await change in changes {
                rows += change.rows["note"] ?? 0
                first.happen()
            }
            return rows
        }
        _ = first.await()
        task.cancel()
        #expect(try await task.value == 1)
    }
}
#endif
