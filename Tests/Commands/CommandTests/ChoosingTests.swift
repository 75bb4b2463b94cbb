import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `Filters and formats of watch-group` {
    private func since(start words: [String], _ container: TemporaryContainer) async throws -> [String] {
        let outcome = try await container.start(
            "watch-group", ["--since", "start", "--timeout", "0"] + words + [container.path]
        ).finish()
        #expect(outcome.status == 2 && outcome.errors == "", "\(outcome)")
        return outcome.lines
    }

    @Test func `a long time of --timefmt is printed, and one that is too long is refused`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        func watch(_ format: String) async throws -> RunningProcess.Outcome {
            try await container.watch("--since", "start", "-n", "1", "--format", "%T", "--timefmt", format).finish()
        }
        let long = try await watch(String(repeating: "%Y-", count: 2_000))
        #expect(long.status == 0 && long.lines.first?.utf8.count == 10_000, "\(long)")
        let sign = try await watch("%%")
        #expect(sign.status == 0 && sign.lines == ["%"], "\(sign)")
        let refused = try await watch(String(repeating: "%A", count: 10_000))
        #expect(refused.status == 64 && refused.errors.contains("--timefmt"), "\(refused)")
    }

    @Test func `the last matching pattern selects a change, also of a move in or out`() async throws {
        let container = try TemporaryContainer()
        for item in ["Library/a", "Library/x.tmp", "out/f/b", "out/f/c.tmp"] {
            try await container.done("write", item, input: "1")
        }
        for (from, to) in [("Library/a", "a"), ("out/f", "Library/f"), ("Library/f/b", "Library/b"), ("a", "c")] {
            try await container.done("move", from, to)
        }
        let filter = ["--include", "Library/**", "--exclude", "**/*.tmp"]
        let expected = [
            "created\tLibrary/a", "removed\tLibrary/a", "created\tLibrary/f", "created\tLibrary/f/b",
            "moved\tLibrary/b\tLibrary/f/b",
        ]
        #expect(try await since(start: filter, container) == expected)
        #expect(
            try await container.start("groupctl", ["changes", container.path, "--since", "start"] + filter).finish()
                .lines
                == expected)
        #expect(try await since(start: ["--include=c", "--exclude=**"], container).isEmpty)
        #expect(try await since(start: ["--exclude=**", "--include=c"], container) == ["created\tc"])
        let kinds = ["--kind", "moved", "--kind=removed", "--include", "Library/**"]
        #expect(
            try await since(start: kinds, container) == ["removed\tLibrary/a", "moved\tLibrary/b\tLibrary/f/b"])
    }

    @Test func `--ignore and --ignore-file leave out what a .gitignore would, also of external changes`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/patterns"
        try Data("# build output\n\n*.o  \nbuild/\r\n".utf8).write(to: URL(fileURLWithPath: file))
        let watcher = try await container.watching("--ignore-file", file, "--ignore", "!keep.o", "--ignore", "/log")
        try await container.done("write", "build/x/a", input: "1")
        try await container.done("write", "d/a.o", input: "1")
        try await container.done("write", "log", input: "1")
        try await container.done("write", "keep.o", input: "1")
        #expect(try await watcher.readLines(2) == ["created\td", "created\tkeep.o"])
        try await container.done("move", "build/x", "d/x")
        #expect(try await watcher.readLines(2) == ["created\td/x", "created\td/x/a"])
        try await container.done("move", "d/x/a", "d/x/b.o")
        try await container.done("move", "d/x", "build/y")
        #expect(try await watcher.readLines(2) == ["removed\td/x/a", "removed\td/x"])
        // The leader finds these changes, and does not record the type of what was removed.
        let script = "rm -r build && echo 1 >build && mkdir -p e/build && rm build && rm -r e/build && echo 1 >end"
        #expect(try await container.shell("cd \"$1\" && " + script).status == 0)
        var lines: [String] = []
        while lines.last != "created\tend" { lines += try await watcher.readLines(1) }
        lines.removeAll { $0.hasPrefix("touched") }
        // What is removed before the leader looks has no line.
        #expect(
            Set(lines).isSubset(of: ["created\tbuild", "removed\tbuild", "created\te", "created\tend"]), "\(lines)")
        #expect(lines.contains("created\te") && !lines.contains("created\te/build"))
        let words = ["--ignore-file", file, "--ignore", "!keep.o", "--ignore", "/log"]
        let present = try await container.start(
            "watch-group", ["--since", "snapshot", "--timeout", "0"] + words + [container.path]
        ).finish().lines
        #expect(
            present == ["present\td", "present\te", "present\tend", "present\tkeep.o", "bookmark\t"], "\(present)")
        let changes = try await container.run("changes", "--since", "start", "--ignore", "*", "--ignore", "!/keep.o")
        #expect(changes.lines == ["created\tkeep.o"], "\(changes)")
    }

    @Test func `a pattern or a file that --ignore cannot use is named with the reason`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/patterns"
        try Data("a\n[b\n".utf8).write(to: URL(fileURLWithPath: file))
        let large = container.directory + "/large"
        try Data(repeating: UInt8(ascii: "#"), count: 65_537).write(to: URL(fileURLWithPath: large))
        for (words, status, message) in [
            (["--ignore", "a//b"], 64, "--ignore: 'a//b': the pattern has an empty component"),
            (["--ignore", ""], 64, "--ignore: '': the pattern is empty"),
            (["--ignore-file", file], 64, "--ignore-file \(file): '[b': line 2: a '[' has no ']'"),
            (["--ignore-file", large], 64, "larger than 64 KiB"),
            (["--ignore-file", file + "-none"], 66, "patterns-none"),
            (["--ignore", "a", "--defaults", "s"], 64, "--ignore is for items"),
        ] as [([String], Int32, String)] {
            let outcome = try await container.start("watch-group", words + ["--timeout", "0", container.path]).finish()
            #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome)")
        }
    }

    @Test func `--kind and --exclude-purpose select changes`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", "--purpose", "me", input: "1")
        try await container.done("write", "a", "--purpose", "you", input: "2")
        try await container.done("write", "b", "--purpose", "you", input: "2")
        #expect(try await since(start: ["--kind", "created,removed"], container) == ["created\ta", "created\tb"])
        #expect(try await since(start: ["--exclude-purpose", "me"], container) == ["modified\ta", "created\tb"])
        #expect(try await since(start: ["--exclude-purpose=me", "--exclude-purpose=you"], container).isEmpty)
    }

    // The test makes a locale: only the sources of locales have to be installed.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/share/i18n/locales/de_DE")))
    func `--timefmt uses the names of days of the user's locale`() async throws {
        let container = try TemporaryContainer()
        let name = container.directory + "/de_DE.UTF-8"
        let words = ["-i", "de_DE", "-f", "UTF-8", "--no-archive", name]
        #expect(try await RunningProcess("localedef", words).finish().status == 0)
        try await container.done("write", "a", input: "1")
        func day(_ locale: String) async throws -> String {
            try await container.start(
                "watch-group", ["--since", "start", "--format", "%T", "--timefmt", "%A", "-n", "1", container.path],
                environment: ["LOCPATH": container.directory, "LC_ALL": nil, "LANG": nil, "LC_TIME": locale]
            ).finish().text
        }
        let german = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]
        #expect(german.contains(try await day("de_DE.UTF-8").trimmingCharacters(in: .newlines)))
        #expect(try await day("C").hasSuffix("day\n"))
    }

    @Test func `--format prints changes, also with a NUL at the end of lines`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "d/a\nb", input: "1")
        #expect(
            try await since(start: ["--format", "%e|%w%f|%q"], container) == ["CREATE,ISDIR|d|1", "CREATE|d/a", "b|2"])
        let outcome = try await container.watch("--since", "start", "--format", "%w%f%0", "-n", "2").finish()
        #expect(outcome.text == "d\0d/a\nb\0" && outcome.status == 0)
    }

    @Test(
        arguments: [
            (["--format", "%"], "--format: the '%' at character 1 is incomplete"),
            (["--format", "a%z"], "at character 2"),
            (["--format", "%f", "--json"], "exclude each other"), (["--kind", "created,"], "--kind: '' is not a kind"),
            (["--include", ""], "--include: the pattern is empty"), (["--settle-max", "1"], "needs --settle"),
            (["--settle", "2", "--settle-max", "1"], "at least as long"), (["--format", ""], "the format is empty"),
            (["--settle", "x"], "--settle: 'x' is not a time"), (["-0"], "-0 needs COMMAND; for lines"),
            (["--since", "then"], "start, snapshot or now"),
        ])
    func `an option of watch-group with a wrong value is a usage error`(words: [String], message: String) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.start("watch-group", words + [container.path]).finish()
        #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
    }

    @Test func `--settle prints one line for a path, with a cursor to resume from`() async throws {
        let container = try TemporaryContainer()
        for content in ["1", "2", "3"] { try await container.done("write", "a", input: content) }
        try await container.done("write", "b", input: "1")
        try await container.done("write", "tmp", input: "1")
        try await container.done("remove", "tmp")
        let words = ["--settle", "20ms", "--settle-max", "3600", "--since", "start", "--json"]
        let outcome = try await container.start("watch-group", words + ["-n", "2", container.path]).finish()
        let changes = try outcome.lines.map { try JSONChange($0) }
        #expect(changes.map(\.summary) == ["created a", "created b"] && changes.map(\.sequence) == [3, 4])
        let rest = try await container.watch("--since", changes[1].cursor, "--timeout", "0").finish()
        #expect(rest.output.isEmpty)
    }

    @Test func `--settle-max limits the wait for a path that is never quiet`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--settle", "100ms", "--settle-max", "100ms")
        let writer = try container.start(
            "sh", ["-c", "for i in $(seq 100000); do date +%N > \"$1/a\"; done", "sh", container.path])
        #expect(try await watcher.readLines(2) == ["created\ta", "modified\ta"])
        writer.signal(SIGKILL)
        _ = try await writer.finish()
    }

    @Test(.needs("python3")) func `a change is printed at once while others keep coming`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        // The number of changes has no end, only their time: a watcher may be slow on a busy machine.
        let script = """
            import itertools, sys, time
            end = time.monotonic() + 300
            for number in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
                with open(f"{sys.argv[1]}/{number % 1000}", "w") as file: file.write(str(number))
            """
        let writer = try container.start("python3", ["-c", script, container.path])
        #expect(try await watcher.readLines(50).count == 50)
        #expect(!writer.hasEnded)
        writer.signal(SIGKILL)
        _ = try await writer.finish()
    }

    @Test(arguments: ["./n", "/n", "a//b", "a/", "../n", "a/./b", "[ab", "a[!", "a[]", ".group/**", "**/.group"])
    func `a pattern that no path can match is a usage error`(pattern: String) async throws {
        let container = try TemporaryContainer()
        for words in [["changes", container.path, "--since", "start"], [container.path, "--timeout", "0"]] {
            for option in ["--include", "--exclude"] {
                let program = words[0] == "changes" ? "groupctl" : "watch-group"
                let outcome = try await container.start(program, words + [option, pattern]).finish()
                #expect(outcome.status == 64 && outcome.errors.contains(option), "\(pattern): \(outcome)")
                if pattern == "./n" {
                    #expect(outcome.errors.contains("relative to the container, without './'"), "\(outcome)")
                }
            }
        }
    }

    @Test func `a backslash before a bracket in a pattern matches the bracket`() async throws {
        let container = try TemporaryContainer()
        for item in ["[ab", "x]", "...", "a.", "-"] { try await container.done("write", item, input: "1") }
        for (pattern, expected) in [
            ("\\[ab", "[ab"), ("x]", "x]"), ("...", "..."), ("[a-z].", "a."), ("[!a-z.x[]", "-"),
        ] {
            #expect(
                try await since(start: ["--include", pattern], container) == ["created\t" + expected], "\(pattern)")
        }
    }
}
