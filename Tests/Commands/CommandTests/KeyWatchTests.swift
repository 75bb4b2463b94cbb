import Foundation
import TestSupport
import Testing

/// A line of `watch-group --defaults --json` whose values are integers.
struct JSONKeyChange: Decodable, Equatable {
    var sequence: UInt64
    var cursor: String
    var kind: String
    var suite: String
    var key: String?
    var type: String?
    var old: Int?
    var new: Int?
    var transaction: JSONChange.Transaction?
    var by: JSONChange.Author?
    var time: String?

    init(_ line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}

@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `watch-group --defaults` {
    @Test func `a line for a key has the old and new value and the member, under concurrent sets`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "--type", "int", "n", "1")
        let watcher = try await container.watching("--defaults", "s", "--json", "--count", "5")
        _ = try await container.defaults("other", "set", "n", "no")
        let words = ["increment n", "delete n", "increment m 7", "clear", "increment n"]
        var lines: [JSONKeyChange] = []
        for word in words {
            _ = try await container.defaults("s", "batch", "--purpose", "clock", input: word)
            lines.append(try JSONKeyChange(try #require(try await watcher.readLine())))
        }
        #expect(try await watcher.finish().status == 0)
        #expect(lines.map(\.kind) == ["set", "removed", "set", "cleared", "set"])
        #expect(
            lines.map(\.key) == ["n", "n", "m", nil, "n"] && lines.map(\.type) == ["int", "int", "int", nil, "int"])
        #expect(lines.map(\.old) == [1, 2, nil, nil, nil] && lines.map(\.new) == [2, nil, 7, nil, 1])
        #expect(lines.map(\.sequence) == [2, 3, 4, 5, 6] && Set(lines.map(\.cursor)).count == 5)
        for line in lines {
            #expect(
                line.suite == "s" && line.by?.purpose == "clock" && line.transaction == nil && isTimestamp(line.time))
        }
        let rest = try await container.watch("--defaults", "s", "--since", lines[2].cursor, "--timeout", "0").finish()
        #expect(rest.status == 2 && rest.lines == ["cleared\t", "set\tn\t1"], "\(rest)")
    }

    // fault: flipped-bit
    @Test func `a lost record of a suite is reported once, and the stream goes on after it`() async throws {
        let container = try TemporaryContainer()
        for value in ["first", "second", "third"] { _ = try await container.defaults("s", "set", "k", value) }
        try container.overwrite(".group/defaults/s/1.log", behind: "second", by: 0, with: Array("S".utf8))
        let words = ["--defaults", "s", "--cursor-file", container.directory + "/seen", "--since", "start"]
        let pipe = try await container.start("watch-group", words + ["-n", "3", "--verbose", container.path]).finish()
        #expect(pipe.status == 0 && pipe.lines.first == "set\tk\tfirst" && pipe.lines.last == "set\tk\tthird")
        #expect(pipe.lines[1].hasPrefix("degraded\t\tthe record at byte "), "\(pipe)")
        #expect(pipe.errors.contains("does not fit its checksum"))
        _ = try await container.defaults("s", "set", "k", "fourth")
        let rest = try await container.start("watch-group", words + ["-n", "1", container.path]).finish()
        #expect(rest.status == 0 && rest.lines == ["set\tk\tfourth"], "\(rest)")
        let json = try await container.watch("--defaults", "s", "--since", "start", "-n", "2", "--json").finish()
        let change = try JSONKeyChange(json.lines[1])
        #expect(change.kind == "degraded" && change.key == nil && json.lines[1].contains(#""reason":"the record at"#))
        let command = ["-n", "1", container.path, "--", "sh", "-c", "cat; echo $GROUP_KEYS"]
        let run = try await container.start("watch-group", ["--defaults", "s", "--since", "start"] + command).finish()
        #expect(run.status == 0 && run.lines == ["k", "1"] && run.errors.contains("is lost"), "\(run)")
    }

    @Test func `a line for a key in a pipe has kind, key and value, escaped`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "a\tb", "x\ny\u{1B}")
        _ = try await container.defaults("s", "set", "--type", "json", "j", #"{"b": [true], "a": "x"}"#)
        _ = try await container.defaults("s", "delete", "a\tb")
        let outcome = try await container.watch("--defaults", "s", "--since", "start", "-n", "3").finish()
        #expect(outcome.lines == [#"set\#ta\tb\#tx\ny\033"#, #"set\#tj\#t{"a":"x","b":[true]}"#, #"removed\#ta\tb"#])
        let colored = try await container.watch(
            "--defaults", "s", "--since", "start", "-n", "3", "--color", "always"
        ).finish()
        #expect(
            colored.lines.first?.contains(#"\#u{1b}[32mset\#u{1b}[0m      a\tb  x\ny\033  "#) == true, "\(colored)")
    }

    @Test func `control characters of keys and values are escaped on a terminal`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "\u{202E}k", "\u{1B}[2J\u{200B}", "--purpose", "p\u{202E}")
        let outcome = try await container.watch(
            "--defaults", "s", "--since", "start", "-n", "1", "--color", "always"
        ).finish()
        let text = outcome.text.replacing(#/\u{1b}\[[0-9;]*m/#, with: "")
        #expect(text.contains(#"set      \342\200\256k  \033[2J\342\200\213  p\342\200\256 ("#), "\(text)")
        let list = try await container.defaults("s", "list", "--color", "always")
        #expect(list.text.contains(#"\342\200\256k"#) && list.text.contains("\t\\033[2J"), "\(list)")
    }

    @Test func `watch-group --defaults is shown as a member by its purpose`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--defaults", "s", "--purpose", "keeper")
        #expect(try await JSONStatus(of: container).members.contains { $0.purpose == "keeper" })
        watcher.signal(SIGTERM)
    }

    @Test func `a snapshot of keys that was cut off begins again`() async throws {
        let container = try TemporaryContainer()
        let empty = try await container.watch("--defaults", "s", "--since", "snapshot", "--timeout", "0").finish()
        #expect(empty.lines == ["bookmark\t"] && empty.status == 2, "\(empty)")
        for key in ["b", "a"] { _ = try await container.defaults("s", "set", key, "1") }
        let file = container.directory + "/cursor"
        func watch(_ count: String) async throws -> [String] {
            try await container.watch(
                "--defaults", "s", "--since", "snapshot", "--cursor-file", file, "--count", count
            ).finish().lines
        }
        for _ in 0..<2 { #expect(try await watch("1") == ["present\ta\t1"]) }
        #expect(try await watch("3") == ["present\ta\t1", "present\tb\t1", "bookmark\t"])
        _ = try await container.defaults("s", "import", "-", input: #"{"c":1,"d":2}"#)
        // The middle of a transaction is not a place to begin, either.
        for _ in 0..<2 { #expect(try await watch("1") == ["set\tc\t1"]) }
        #expect(try await watch("2") == ["set\tc\t1", "set\td\t2"])
    }

    // fault: copied-container
    @Test func `a lost place in a suite gives a rescan and the keys that are set`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        _ = try await container.defaults("s", "set", "a", "1")
        _ = try await other.defaults("s", "set", "--type", "int", "x", "1")
        let foreign = try JSONKeyChange(
            try #require(
                try await other.watch("--defaults", "s", "--since", "start", "-n", "1", "--json").finish().lines.first))
        let outcome = try await container.watch("--defaults", "s", "--since", foreign.cursor, "--timeout", "0").finish()
        #expect(outcome.lines == ["rescan\t", "present\ta\t1", "bookmark\t"], "\(outcome)")
    }

    @Test func `filters select the keys and kinds that are printed`() async throws {
        let container = try TemporaryContainer()
        let script = "set a.b 1\nset a.c 2\ndelete a.b\nset x 3\n"
        _ = try await container.defaults("s", "batch", input: script)
        _ = try await container.defaults("s", "batch", "--purpose", "me", input: "set a.b 4\nclear\n")
        func lines(_ options: String...) async throws -> [String] {
            try await container.start(
                "watch-group", ["--defaults", "s", "--since", "start", "--timeout", "0"] + options + [container.path]
            ).finish().lines
        }
        let all = ["set\ta.b\t1", "set\ta.c\t2", "removed\ta.b", "set\tx\t3", "set\ta.b\t4", "cleared\t"]
        #expect(try await lines() == all)
        #expect(try await lines("--include", "a.*", "--exclude", "*.c") == [all[0], all[2], all[4], all[5]])
        #expect(try await lines("--exclude-purpose", "me") == Array(all[..<4]))
        #expect(try await lines("--kind", "removed,cleared") == [all[2], all[5]])
    }

    @Test(
        arguments: [
            ("--format %f", "--format is for items"), ("--timefmt %H", "--timefmt is for items"),
            ("--bookmarks", "--bookmarks is for items"), ("--settle 1", "needs COMMAND"),
            ("--settle-max 1", "needs COMMAND"),
            ("-0", "-0 needs COMMAND"), ("--kind created", "the kinds are set, removed, cleared"),
            ("--since yesterday", "neither a cursor nor start, snapshot or now"),
            ("--count 0", "not a positive number"),
            ("--include=", "the pattern is empty"), ("--defaults a/b", "a suite's name"),
        ])
    func `an option without a meaning for keys is refused`(options: String, message: String) async throws {
        let container = try TemporaryContainer()
        let words = ["--defaults", "s"] + options.split(separator: " ").map(String.init) + [container.path]
        let outcome = try await container.start("watch-group", words).finish()
        #expect(outcome.status == 64 && outcome.output.isEmpty && outcome.errors.contains(message), "\(outcome)")
    }

    @Test func `watch-group --defaults ends by timeout, count or signal, and with 65 for a damaged cursor`()
        async throws
    {
        let container = try TemporaryContainer()
        #expect(try await container.watch("--defaults", "s", "--timeout", "10ms").finish().status == 2)
        let watcher = try await container.watching("--defaults", "s")
        watcher.signal(SIGTERM)
        #expect(try await watcher.finish().status == 128 + SIGTERM)
        let file = container.directory + "/cursor"
        try "garbage".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try await container.watch("--defaults", "s", "--cursor-file", file).finish().status == 65)
    }

    // fault: holder-killed
    @Test func `watch-group --defaults that is killed at any moment resumes without a gap`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/cursor"
        let words = ["--defaults", "s", "--since", "start", "--cursor-file", file, "--json", container.path]
        func commands(_ numbers: ClosedRange<Int>) -> String { numbers.map { "set --type int n \($0)\n" }.joined() }
        // These lines are more than a pipe holds.
        #expect(try await container.defaults("s", "batch", input: commands(1...1_500)).status == 0)
        let setter = try container.start(
            "groupctl", ["defaults", "batch", container.path, "s"], input: commands(1_501...2_000))
        var last = 0
        for round in 1...3 {
            let watcher = try container.start("watch-group", words)
            // The first kill comes while the process waits for a reader, because its pipe is full.
            if round == 1 {
                // A process that sleeps before that may wait for a set, and its output would be empty.
                _ = try await watcher.readLine()
                await waitUntilItWrites(watcher, file)
            } else {
                _ = try await watcher.readLines(round * 60)
            }
            watcher.signal(SIGKILL)
            last = try check(try await watcher.finish().output, after: last)
        }
        #expect(try await setter.finish().status == 0)
        let rest = try await container.start("watch-group", ["--timeout", "0"] + words).finish()
        #expect(rest.status == 2)
        #expect(try check(rest.output, after: last) == 2_000)
        #expect(try await container.start("watch-group", ["--timeout", "0"] + words).finish().output.isEmpty)
    }

    /// Waits until the process sleeps with lines left to print. After it has created the cursor file, it only writes.
    private func waitUntilItWrites(_ watcher: RunningProcess, _ file: String) async {
        _ = await eventually {
            let state = try? String(contentsOfFile: "/proc/\(watcher.identifier)/stat", encoding: .utf8)
            return FileManager.default.fileExists(atPath: file) && state?.split(separator: " ")[2] == "S"
        }
    }

    /// Checks that a run has each value once, from a value printed before, or the next one. Returns the last value.
    private func check(_ output: [UInt8], after last: Int) throws -> Int {
        // A line that was cut does not count.
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
        let changes = try lines.map { try JSONKeyChange(String($0)) }
        let values = changes.compactMap(\.new)
        let first = try #require(values.first)
        #expect(values.count == changes.count && first <= last + 1)
        #expect(values == Array(first..<(first + values.count)))
        #expect(changes.allSatisfy { $0.kind == "set" && $0.old == ($0.new == 1 ? nil : ($0.new ?? 0) - 1) })
        return try #require(values.last)
    }
}
