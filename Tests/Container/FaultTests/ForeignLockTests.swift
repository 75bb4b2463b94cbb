import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// Locks of a process, `fcntl(F_SETLK)`, end when any descriptor of the file is closed in the process: SQLite's, too.
@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Process-wide locks on items` {
    private static let file = "directory/data"

    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
        _ = try container.groupctl("write", Self.file, input: "content")
    }

    /// Returns whether another process could get the lock.
    private func isFree() throws -> Bool {
        let file = try FileDescriptor.open(path: Array("\(container.path)/\(Self.file)".utf8), .readingAndWriting)
        return try file.tryLock(.exclusive, .all)
    }

    @Test(arguments: [
        "write the same", "write the same in a transaction", "copy", "copy in a transaction", "copy the directory",
        "snapshot", "snapshot of the directory", "generation", "mode",
    ])
    func `a process-wide lock on an item stays when its process coordinates`(word: String) throws {
        let holder = try container.member("lock-process-wide", Self.file)
        try holder.waitForText("locked")
        #expect(try !isFree())
        // Twice: the second time, the existing content is compared.
        for count in 1...2 where count == 1 || word != "copy the directory" {
            try holder.send(word)
            try holder.waitForLines(1 + count)
            #expect(try !isFree(), "after \(holder.text)")
        }
        holder.closeInput()
        let ending = try holder.finish()
        #expect(ending.status == 0 && !ending.text.contains("error"), "\(ending)")
    }

    @Test func `a process-wide lock on an item stays when its process compares external changes as leader`() throws {
        let holder = try container.member("lock-process-wide", Self.file)
        try holder.send("lead")
        try holder.waitForText("done lead")
        // The leader reads the content of an existing file when there is nothing else to do; another follower gets its
        // change after that.
        for (count, text) in ["another", "content", "content"].enumerated() {
            try holder.send("follow")
            let writer = try RunningProcess(["sh", "-c", "printf \(text) 1<>\"$0\"", "\(container.path)/\(Self.file)"])
            #expect(try writer.finish().status == 0)
            try holder.waitForText { $0.split(separator: "\n").count { $0 == "done follow" } > count }
            #expect(try !isFree(), "after \(text)")
        }
        holder.closeInput()
        #expect(try holder.finish().status == 0)
    }

    @Test(.needs("python3"), arguments: ["delete", "wal"])
    func `a lock of SQLite in the leader keeps a second writer out`(journal: String) throws {
        let holder = try container.member("lock-database", "database", journal)
        try holder.waitForText { $0.contains("\n") }
        if holder.text == "no SQLite\n" { return withKnownIssue("libsqlite3.so.0 is not here") { Issue.record() } }
        try #require(holder.text == "locked\n", "\(holder.text)")
        try holder.send("lead")
        try holder.waitForText("done lead")
        for name in ["database", "database-wal", "database-shm", "database-journal"] where container.exists(name) {
            try holder.send("follow")
            let toucher = try RunningProcess(["touch", "-d", "2001-01-01", "\(container.path)/\(name)"])
            #expect(try toucher.finish().status == 0)
        }
        try holder.send("generation")
        try holder.waitForText("done generation")
        let second = """
            import sqlite3, sys
            sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("INSERT INTO t VALUES (2)")
            """
        let writer = try RunningProcess(["python3", "-c", second, "\(container.path)/database"])
        let ending = try writer.finish()
        #expect(ending.status == 1 && ending.text.contains("database is locked"), "\(ending)")
        holder.closeInput()
        #expect(try holder.finish().status == 0)
    }
}
