#if SQLite
import Foundation
import GroupSystemCalls
import TestSupport
import Testing

/// The example: an app with a database, its widget and its share extension.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The notebook example` {
    @Test func `the lines of its page print what the page says`() throws {
        let home = try TemporaryDirectory()
        let page = try String(
            contentsOf: projectDirectory.appending(path: "docs/guide/examples/notebook.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```\n")
        let (lines, expected) = (try #require(blocks.dropFirst().first), try #require(blocks.dropFirst(3).first))
        // The programs of this build, wherever it is.
        let script = lines.replacing(/export PATH=.*\n/, with: "")
            .replacing("manifests=", with: "manifests='\(projectDirectory.path)'/")
        let (status, text) = try RunningProcess(
            ["bash", "-euc", "cd '\(home.path)'\n" + script],
            environment: [
                "PATH": "\(BuildDirectory.path):/usr/bin:/bin", "XDG_DATA_HOME": home.path, "HOME": home.path,
            ]
        ).finish()
        #expect(status == 0 && text == expected + "notebook\tcall Ada / by hand\n", "\(text)")
        #expect(FileManager.default.fileExists(atPath: home.path + "/notebook-copy.sqlite"))
    }

    @Test(.enabled(if: Strace.isThere, "needs strace(1) and the permission to trace"))
    func `backups that are killed leave one copy at most, and the next one removes it`() throws {
        let container = try TemporaryContainer()
        #expect(try RunningProcess(["notebook", "--group", container.path, "add", "a"]).finish().status == 0)
        let directory = try TemporaryDirectory()
        func backup(_ name: String, _ around: [String] = []) throws -> Int32 {
            let program = BuildDirectory.resolve("notebook")
            let words = [program, "--group", container.path, "backup", "\(directory.path)/\(name)"]
            return try RunningProcess(around + words, input: "").finish().status
        }
        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
        // At the rename of the whole copy, and at its first page, when SQLite's journal is beside it.
        for (call, path) in [("renameat", directory.path), ("pwrite64", "\(directory.path)/.backup.group-draft")] {
            let fault = [
                "strace", "-f", "-qq", "-o", "/dev/null", "-P", path, "-e", "trace=\(call)", "-e",
                "inject=\(call):signal=KILL",
            ]
            for round in 1...2 {
                #expect(try backup("\(round)", fault) == 128 + SIGKILL)
                #expect(try left().count { !$0.hasSuffix("-journal") } == 1)
            }
        }
        #expect(try backup("whole") == 0)
        #expect(try left() == ["whole"])
    }

    @Test func `a note that another program has added is printed in one line`() throws {
        let container = try TemporaryContainer()
        func notebook(_ words: any BytesConvertible...) throws -> (status: Int32, text: String) {
            try RunningProcess(["notebook", "--group", container.path] + words).finish()
        }
        #expect(try notebook("add", "one\u{1B}[2J\ntwo").status == 0)
        #expect(try notebook("list") == (0, "1\t \tone\\033[2J\\ntwo\n"))
        #expect(try notebook("add", [0x61, 0xFF] as [UInt8]).status == 64)
    }

    @Test func `a program that follows the notes keeps SQLite's locks`() throws {
        let container = try TemporaryContainer()
        #expect(try RunningProcess(["notebook", "--group", container.path, "add", "0"]).finish().status == 0)
        let follower = try RunningProcess(["notebook", "--group", container.path, "follow"])
        try follower.waitForLines(1)
        /// The locks by fcntl(F_SETLK) that the follower holds: SQLite has one on the database, and one on its index, as long
        /// as it has them open.
        func locks() throws -> Int {
            let table = try FileDescriptor.open(path: Array("/proc/locks".utf8), .reading).readAll()
            return String(decoding: table, as: UTF8.self).split(separator: "\n").count { line in
                line.contains(" POSIX ") && line.contains(" \(follower.identifier) ")
            }
        }
        #expect(try locks() == 2)
        for round in 1...5 {
            #expect(
                try RunningProcess(["notebook", "--group", container.path, "add", "\(round)"]).finish().status == 0)
            try follower.waitForLines(1 + round)
            // Changed without a member, so that the leader, which is the follower, looks at all of them.
            #expect(
                try RunningProcess.bound(["sh", "-c", #"touch "$0"/Library/*"#, container.path]).finish().status == 0)
            #expect(try locks() == 2)
        }
        follower.kill()
    }

    @Test func `a program that follows the notes prints a line after each change`() throws {
        let container = try TemporaryContainer()
        let follower = try RunningProcess(["notebook", "--group", container.path, "follow"], input: "")
        defer { follower.kill() }
        try follower.waitForText("0 open\n")
        for number in 1...3 {
            #expect(try RunningProcess(["notebook", "--group", container.path, "add", "a"]).finish().status == 0)
            try follower.waitForText("\(number) open\n")
        }
        #expect(try RunningProcess(["notebook", "--group", container.path, "done", "9"]).finish().status == 64)
        #expect(try RunningProcess(["notebook", "--group", container.path, "done", "2"]).finish().status == 0)
        try follower.waitForText { $0.hasSuffix("3 open\n2 open\n") }
        follower.closeOutput()
        #expect(follower.reap() == 0)
    }
}
#endif
