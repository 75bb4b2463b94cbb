#if SQLite
import FoundationEssentials
import Glibc
import GroupContainer
import GroupDatabase
import GroupSystemCalls
import TestSupport
import Testing

/// Several processes with one database, of which some are killed, and `sqlite3` beside them.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process, .root, .namespaces))
struct `A database of several processes` {
    let temporary: TemporaryContainer
    private static let path: ItemPath = "Store/t.sqlite"

    init() throws { temporary = try TemporaryContainer() }

    private func member(_ mode: String, _ words: String...) throws -> RunningProcess {
        try RunningProcess(["database-member", mode, temporary.path, "\(Self.path)"] + words)
    }

    /// Runs SQL by the program `sqlite3`.
    @discardableResult
    private func sqlite3(_ statement: String) throws -> String {
        let (status, text) = try RunningProcess(
            ["sqlite3", "-cmd", ".timeout 10000", "\(temporary.path)/\(Self.path)", statement], input: ""
        ).finish()
        #expect(status == 0, "\(text)")
        return text
    }

    private func rows(_ text: String, _ table: String) -> Int {
        text.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            let place = words.firstIndex { $0 == table }
            return sum + (place.flatMap { Int(words[$0 + 1]) } ?? 0)
        }
    }

    @Test func `eight processes open a database that does not exist, and each step runs once`() throws {
        let members = try (0..<8).map { _ in try member("open") }
        for member in members { try member.waitForText("open\n") }
        #expect(try sqlite3("SELECT group_concat(step) FROM ran; PRAGMA user_version") == "1,2,3\n3\n")
        for member in members { member.closeInput() }
        for member in members { #expect(try member.finish().status == 0) }
        #expect(!temporary.exists("Store/t.sqlite-wal") && !temporary.exists("Store/t.sqlite-shm"))
    }

    @Test func `observers get each commit that concerns them once, by any program`() throws {
        let first = try member("open")
        try first.waitForText("open\n")
        let observers = try [["row"], ["row"], []].map { tables in
            try RunningProcess(["database-member", "observe", temporary.path, "\(Self.path)"] + tables)
        }
        for observer in observers { try observer.waitForText("observing\n") }
        let writers = try (0..<3).map { _ in try member("insert", "40") }
        for writer in writers { #expect(try writer.finish().status == 0) }
        for _ in 0..<5 {
            #expect(try member("die").reap() == 128 + SIGKILL)
            try sqlite3("INSERT INTO row (process) VALUES (0); INSERT INTO other DEFAULT VALUES")
        }
        for observer in observers { try observer.waitForText { rows($0, "row") >= 130 } }
        try observers[2].waitForText { rows($0, "other") >= 5 }
        // What an observer would get twice would come before this.
        try sqlite3("INSERT INTO row (process) VALUES (0)")
        for observer in observers { try observer.waitForText { rows($0, "row") >= 131 } }
        for observer in observers { #expect(rows(observer.text, "row") == 131) }
        #expect(rows(observers[0].text, "other") == 0 && rows(observers[2].text, "other") == 5)
        #expect(!observers.contains { $0.text.contains("others") })
        #expect(try sqlite3("SELECT count(*) FROM row") == "131\n")
    }

    @Test func `tables that another program adds mean that anything may have changed, until a member writes`() throws {
        let observer = try member("observe", "row")
        try observer.waitForText("observing\n")
        try sqlite3("CREATE TABLE strange (a)")
        try sqlite3("INSERT INTO strange VALUES (1)")
        try observer.waitForText("others\n")
        #expect(try member("insert", "1").finish().status == 0)
        try observer.waitForText { rows($0, "row") == 1 }
        let before = observer.text.split(separator: "\n").count
        try sqlite3("INSERT INTO strange VALUES (2)")
        try sqlite3("INSERT INTO row (process) VALUES (0)")
        try observer.waitForText { rows($0, "row") == 2 }
        #expect(observer.text.split(separator: "\n").count == before + 1)
    }

    @Test func `a table that another program renames counts as changed by anything, until a member writes`() throws {
        let observer = try member("observe", "label")
        try observer.waitForText("observing\n")
        #expect(try member("insert", "1").finish().status == 0)
        try sqlite3("ALTER TABLE row RENAME TO label")
        // Its triggers still count for `row`.
        try sqlite3("INSERT INTO label (process) VALUES (0)")
        try observer.waitForText("others\n")
    }

    @Test func `two hundred commits give a follower at most as many lines, and none of SQLite's other files`() throws {
        let first = try member("open")
        try first.waitForText("open\n")
        let follower = try RunningProcess(["watch-group", "--verbose", "--format", "%e %w%f", temporary.path])
        try follower.waitForText("watching")
        #expect(try member("insert", "200").finish().status == 0)
        let done = try temporary.groupctl("write", "done", input: "1")
        #expect(done.status == 0)
        try follower.waitForText("CREATE done\n")
        // What --verbose prints besides may come between the changes.
        let lines = follower.text.split(separator: "\n").filter { $0.first?.isUppercase == true }
        #expect((1...200).contains(lines.count { $0 == "MODIFY Store/t.sqlite" }), "\(lines)")
        let others = lines.filter { $0 != "MODIFY Store/t.sqlite" }
        #expect(Set(others).isSubset(of: ["CREATE Store/t.sqlite", "CREATE done"]), "\(others)")
    }

    @Test func `a commit of sqlite3 is recorded once it can be read`() throws {
        let container = try temporary.open()
        let database = try GroupDatabase(
            Self.path, in: container, migrations: [Migration("t", script: "CREATE TABLE t (a)")])
        var follower = try database.blocking.follow(tables: ["t"])
        for number in 1...20 {
            try sqlite3("INSERT INTO t VALUES (\(number))")
            #expect(try follower.next(timeout: patience)?.rows == ["t": 1])
        }
        // A transaction that takes long is recorded when it is over.
        let shell = try RunningProcess(["sqlite3", "\(temporary.path)/\(Self.path)"])
        try shell.send("BEGIN IMMEDIATE; INSERT INTO t VALUES (0); SELECT 'written';")
        try shell.waitForText("written")
        try shell.send("COMMIT;")
        #expect(try follower.next(timeout: patience)?.rows == ["t": 1])
        shell.closeInput()
        #expect(try shell.finish().status == 0)
    }

    @Test func `a writer that takes too long is named, and one that is killed is not in the way`() throws {
        let container = try temporary.open()
        let holder = try member("hold")
        try holder.waitForText("writing\n")
        let steps = (1...3).map { Migration("step \($0)") { _ in } }
        // A complete database is opened and read while another process writes.
        let early = try GroupDatabase(Self.path, in: container, migrations: steps, timeout: .milliseconds(5_000))
        #expect(try early.blocking.read { try $0.value("SELECT count(*) FROM row", as: Int.self) } == 0)
        // The process that writes is a member, so it is named by the container's own lock.
        func check(_ error: CoordinationError?, _ operation: String) {
            #expect(error?.code == .lockTimedOut && error?.holders.first?.processIdentifier == holder.identifier)
            #expect(error?.operation == operation && error?.item == "\(Self.path)", "\(String(describing: error))")
            #expect(error?.holders.first?.item == "\(Self.path)")
        }
        check(
            #expect(throws: CoordinationError.self) {
                try early.blocking.write(timeout: .milliseconds(50)) { _ in }
            }, "write")
        check(
            #expect(throws: CoordinationError.self) {
                let more = steps + [Migration("step 4") { _ in }]
                return try GroupDatabase(Self.path, in: container, migrations: more, timeout: .milliseconds(50))
            }, "open")
        holder.kill()
        let database = try GroupDatabase(Self.path, in: container, migrations: steps)
        #expect(try database.blocking.read { try $0.value("SELECT count(*) FROM row", as: Int.self) } == 0)
        // sqlite3 is no member, and is named by SQLite's lock.
        let shell = try RunningProcess(["sqlite3", "\(temporary.path)/\(Self.path)"])
        try shell.send("BEGIN IMMEDIATE; SELECT 'begun';")
        try shell.waitForText("begun")
        let writing = #expect(throws: CoordinationError.self) {
            try database.blocking.write(timeout: .milliseconds(50)) { _ in }
        }
        #expect(writing?.code == .lockTimedOut && writing?.holders.first?.processIdentifier == shell.identifier)
        #expect(writing?.description.contains("sqlite3") == true, "\(writing?.description ?? "")")
        shell.kill()
        try database.blocking.write { _ = try $0.execute("INSERT INTO row (process) VALUES (1)") }
    }

    @Test(.enabled(if: succeeds(["unshare", "-Urm", "true"]), "needs user namespaces"))
    func `an existing database is read on a read-only mount, and a missing one is not there`() throws {
        #expect(try member("insert", "3").finish().status == 0)
        let script = """
            mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"
            "$2" open "$1" "$3" </dev/null; echo "status $?"; "$2" open "$1" Store/none.sqlite </dev/null; echo "status $?"
            """
        let program = BuildDirectory.resolve("database-member")
        let words = ["unshare", "-Urm", "sh", "-c", script, "sh", temporary.path, program, "\(Self.path)"]
        let (status, text) = try RunningProcess(words, input: "").finish()
        #expect(status == 0 && text.contains("open\nstatus 0\n"), "\(text)")
        #expect(text.contains("there is no such database") && text.hasSuffix("status 1\n"), "\(text)")
    }

    @Test func `a database that sqlite3 has open, or that was not closed, has no coordinated access`() throws {
        let items = try temporary.open().coordinator(purpose: "test").blocking
        #expect(try member("insert", "1").finish().status == 0)
        let shell = try RunningProcess(["sqlite3", "\(temporary.path)/\(Self.path)"])
        try shell.send("SELECT 'open', count(*) FROM row;")
        try shell.waitForText("open|1\n")
        let open = #expect(throws: CoordinationError.self) { try items.move(Self.path, to: "moved") }
        #expect(open?.code == .conflict && open?.holders.first?.processIdentifier == shell.identifier)
        shell.kill()
        #expect(try member("die").reap() == 128 + SIGKILL)
        let left = #expect(throws: CoordinationError.self) { try items.move(Self.path, to: "moved") }
        #expect(left?.code == .conflict && left?.holders.isEmpty == true && left?.remedy?.code == .closeDatabase)
        #expect(try member("insert", "1").finish().status == 0)
        try items.move(Self.path, to: "moved")
    }

    @Test func `a full disk is an error, and nothing is lost`() async throws {
        guard SmallFileSystem.isPossible else { return }
        let outcome = try await SmallFileSystem(.memory).shell(
            """
            groupctl create disk/c --journal-size 1M && database-member insert disk/c t.sqlite 5 || exit 3
            fill
            database-member insert disk/c t.sqlite 5000
            echo "status $?"
            make_room
            database-member insert disk/c t.sqlite 1 || exit 4
            sqlite3 disk/c/t.sqlite 'PRAGMA integrity_check; SELECT count(*) >= 6 FROM row'
            """)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains("status 1") && outcome.text.contains("no room on the disk"), "\(outcome)")
        #expect(outcome.lines.suffix(2) == ["ok", "1"], "\(outcome)")
    }
}
#endif
