import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `watch-group --ready-fd` {
    @Test func `--ready-fd writes the cursor once every later change is seen, and closes the descriptor`() async throws
    {
        let container = try TemporaryContainer()
        let script = """
            mkfifo "$1.ready"
            watch-group --ready-fd 3 -n 1 "$1" 3>"$1.ready" >"$1.log" & cursor=$(cat "$1.ready"); echo x >"$1/a"; wait
            cat "$1.log"; watch-group --since "$cursor" -n 1 "$1"
            """
        let outcome = try await container.shell(script)
        #expect(outcome.status == 0 && outcome.lines == ["created\ta", "created\ta"], "\(outcome)")
    }

    @Test func `a line of --ready-fd that cannot be written is an error`() async throws {
        let container = try TemporaryContainer()
        for (script, reason) in [
            (#"watch-group --ready-fd 1 "$1" >/dev/full"#, "cannot write to 'standard output': No space left"),
            (#"watch-group --ready-fd 3 "$1" 3>/dev/full"#, "cannot write to 'descriptor 3': No space left"),
        ] {
            let outcome = try await container.shell(script)
            #expect(outcome.status == 74 && outcome.errors.contains(reason), "\(outcome)")
        }
    }

    @Test func `--ready-fd 1 is a line of standard output, also before COMMAND and for keys`() async throws {
        let container = try TemporaryContainer()
        for words in [[container.path], ["--defaults", "s", container.path], [container.path, "--", "cat"]] {
            let watcher = try container.start("watch-group", ["--ready-fd", "1"] + words)
            let line = try #require(try await watcher.readLine())
            #expect(line.wholeMatch(of: #/g1-[0-9a-f]{64}/#) != nil, "\(line)")
            watcher.signal(SIGTERM)
            #expect(try await watcher.finish().status == 128 + SIGTERM)
        }
    }

    @Test(arguments: ["999", "0", "2", "-1", "x", ""])
    func `--ready-fd needs a descriptor that is open for writing`(number: String) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.start("watch-group", ["--ready-fd=\(number)", container.path]).finish()
        #expect(outcome.status == 64 && outcome.errors.contains("--ready-fd: "), "\(outcome)")
        let reading = try await container.shell("watch-group --ready-fd 3 \"$1\" 3</dev/null")
        #expect(reading.status == 64, "\(reading)")
    }
}

@Suite(.tags(.process)) struct `watch-group --restart` {
    private func start(_ container: TemporaryContainer, _ options: [String], _ script: String) throws -> RunningProcess
    {
        try container.start("watch-group", options + [container.path, "--", "sh", "-c", script])
    }

    @Test func `--run-at-start runs COMMAND once before the first change`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "old", input: "1")
        let watcher = try start(container, ["--run-at-start", "-n", "2"], "cat; echo \"$GROUP_PATHS\"")
        #expect(try await watcher.readLine() == "0")
        try await container.done("write", "a", input: "1")
        #expect(try await watcher.finish().lines == ["0", "a", "1"])
    }

    @Test func `a COMMAND of --run-at-start that fails is run again`() async throws {
        let container = try TemporaryContainer()
        let watcher = try start(
            container, ["--run-at-start", "-n", "1"], "echo \"$GROUP_FAILURES\"; [ \"$GROUP_FAILURES\" = 1 ]")
        let outcome = try await watcher.finish()
        #expect(outcome.status == 0 && outcome.lines == ["0", "1"], "\(outcome)")
    }

    /// Ends at SIGTERM with a line, and leaves no process.
    private static let server = "trap 'echo ended; exit 0' TERM; cat; echo begun; tail -f /dev/null & wait"

    @Test func `--restart ends COMMAND and starts it again for each batch, and ends it with watch-group`() async throws
    {
        let container = try TemporaryContainer()
        let file = container.directory + "/cursor"
        let watcher = try start(
            container, ["--restart", "--run-at-start", "--cursor-file", file, "--grace", "1s"], Self.server)
        #expect(try await watcher.readLine() == "begun")
        for item in ["a", "b"] {
            try await container.done("write", item, input: "1")
            #expect(try await watcher.readLines(3) == ["ended", item, "begun"])
        }
        watcher.signal(SIGTERM)
        // The output ends when no process has it open any more.
        let outcome = try await watcher.finish()
        #expect(outcome.status == 128 + SIGTERM && outcome.lines.last == "ended" && outcome.errors == "", "\(outcome)")
        let rest = try await container.watch("--cursor-file", file, "--timeout", "0").finish()
        #expect(rest.output.isEmpty && rest.status == 2, "the cursor is behind what COMMAND was started for")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a COMMAND that does not end, and what it has started, is killed after the grace`(signal: Int32) async throws {
        let container = try TemporaryContainer()
        let deaf = "trap '' TERM INT HUP; tail -f /dev/null & echo begun; exec tail -f /dev/null"
        let watcher = try start(container, ["--restart", "--run-at-start", "--grace", "50ms"], deaf)
        #expect(try await watcher.readLine() == "begun")
        try await container.done("write", "a", input: "1")
        #expect(try await watcher.readLine() == "begun")
        watcher.signal(signal)
        #expect(try await watcher.finish().status == 128 + signal)
    }

    @Test func `a COMMAND that ends by itself is started again at the next change`() async throws {
        let container = try TemporaryContainer()
        let watcher = try start(container, ["--restart", "--run-at-start"], "echo run; exit 3")
        for item in ["a", "b"] {
            #expect(try await watcher.readLine() == "run")
            #expect(
                try await watcher.readLine(from: .errors)
                    == "watch-group: 'sh' ended with status 3; it is started again at the next change")
            try await container.done("write", item, input: "1")
        }
        watcher.signal(SIGTERM)
        #expect(try await watcher.finish().status == 128 + SIGTERM)
    }

    @Test func `COMMAND of --restart dies with watch-group, and after --timeout`() async throws {
        let container = try TemporaryContainer()
        let script = "echo begun; exec tail -f /dev/null"
        let watcher = try start(container, ["--restart", "--run-at-start"], script)
        #expect(try await watcher.readLine() == "begun")
        watcher.signal(SIGKILL)
        #expect(try await watcher.finish().status == 128 + SIGKILL)
        let silent = try await start(container, ["--restart", "--run-at-start", "--timeout", "50ms"], script).finish()
        #expect(silent.status == 2 && silent.lines == ["begun"], "\(silent)")
    }

    @Test func `--restart and --run-at-start need COMMAND, which has to exist`() async throws {
        let container = try TemporaryContainer()
        for words in [
            ["--restart", container.path], ["--run-at-start", container.path], ["--grace", "1", container.path],
            ["--restart", "-n", "1", container.path, "--", "cat"], ["--grace", "1s", container.path, "--", "cat"],
        ] {
            #expect(try await container.start("watch-group", words).finish().status == 64, "\(words)")
        }
        let absent = try await container.start(
            "watch-group", ["--restart", "--run-at-start", container.path, "--", "/nowhere/x"]
        ).finish()
        #expect(absent.status == 127, "\(absent)")
    }
}
