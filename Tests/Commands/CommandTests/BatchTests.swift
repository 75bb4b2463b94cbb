import Foundation
import TestSupport
import Testing

/// Options of watch-group that tests share.
enum WatchWords {
    /// Everything that was written before becomes one batch, however slowly a busy machine reads it: without a limit,
    /// --settle-max ends the batch after ten times --settle.
    static let oneBatch = ["--settle", "20ms", "--settle-max", "1h"]
}

@Suite(.tags(.process))
struct `watch-group -- COMMAND` {
    private func lines(_ file: String) -> [String] {
        ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    @Test func `COMMAND gets each changed path once, and the cursor after the batch`() async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b", "a"] { try await container.done("write", item, input: UUID().uuidString) }
        try await container.done("move", "b", "c")
        let file = container.directory + "/cursor"
        let script = "cat; echo \"$GROUP_PATHS $GROUP_FAILURES [$GROUP_RESCAN] $GROUP_CONTAINER $GROUP_CURSOR\""
        let outcome = try await container.start(
            "watch-group",
            ["--since", "start", "--cursor-file", file, "-n", "1"] + WatchWords.oneBatch
                + [container.path, "--", "sh", "-c", script]
        ).finish()
        let end = try await JSONStatus(of: container).journal.cursor
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(
            outcome.lines.first == "a" && Set(outcome.lines.dropLast()) == ["a", "c"],
            "b was absent at the end")
        #expect(outcome.lines.last?.hasPrefix("2 0 [] \(container.path) g1-") == true)
        #expect(lines(file).first.map { outcome.lines.last?.hasSuffix($0) } == true && !end.isEmpty)
    }

    @Test func `COMMAND gets unescaped names with -0, and escaped names without it`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a\nb", input: "1")
        let words = ["--since", "start", "-n", "1", container.path, "--", "cat"]
        #expect(try await container.start("watch-group", words).finish().text == "a\\nb\n")
        #expect(try await container.start("watch-group", ["-0"] + words).finish().text == "a\nb\0")
    }

    @Test func `a COMMAND that fails gets the same paths and newer ones again, and the cursor stays`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let file = container.directory + "/cursor"
        // The first run writes an item itself, and fails; the next run gets both paths.
        let script = """
            cat; echo "failures $GROUP_FAILURES"
            if [ "$GROUP_FAILURES" = 0 ]; then cat "$2"; echo 2 | groupctl write "$1" a; echo 1 | groupctl write "$1" b; exit 3; fi
            """
        let watcher = try container.start(
            "watch-group",
            ["--since", "start", "--cursor-file", file, "-n", "1"] + WatchWords.oneBatch
                + [container.path, "--", "sh", "-c", script, "sh", container.path, file])
        let first = try await watcher.readLines(3)
        #expect(first[0] == "a" && first[1] == "failures 0")
        let outcome = try await watcher.finish()
        #expect(outcome.status == 0 && outcome.lines.dropFirst(3) == ["a", "b", "failures 1"], "\(outcome)")
        #expect(outcome.errors.contains("'sh' ended with status 3; it is run again in 0.5 s"), "\(outcome)")
        #expect(lines(file).first != first[2], "the place before the failure")
        let rest = try await container.watch("--cursor-file", file, "--timeout", "0").finish()
        #expect(rest.output.isEmpty && rest.status == 2)
    }

    @Test func `COMMAND is never run twice at once, and its own changes can be left out`() async throws {
        let container = try TemporaryContainer()
        let script = """
            mkdir "$1.lock" || echo twice; cat; echo 1 | groupctl write "$1" "made-$$" --purpose builder; rmdir "$1.lock"
            """
        let watcher = try container.start(
            "watch-group",
            [
                "--verbose", "--exclude-purpose", "builder", "--settle", "1ms", container.path, "--", "sh", "-c",
                script,
                "sh", container.path,
            ])
        #expect(try await watcher.readLine(from: .errors)?.hasPrefix("watching") == true)
        for number in 0..<5 {
            try await container.done("write", "a\(number)", input: "1")
            #expect(try await watcher.readLine() == "a\(number)")
        }
        watcher.signal(SIGTERM)
        let outcome = try await watcher.finish()
        #expect(outcome.status == 128 + SIGTERM && outcome.lines.count == 5, "\(outcome)")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `COMMAND gets the signal that ends watch-group, and watch-group waits for it`(signal: Int32)
        async throws
    {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let file = container.directory + "/cursor"
        let script = "trap 'kill -KILL $!; echo ended; exit 1' TERM INT; tail -f /dev/null & echo begun; wait"
        let watcher = try container.start(
            "watch-group",
            [
                "--since", "start", "--cursor-file", file, container.path, "--", "sh", "-c", script,
            ])
        #expect(try await watcher.readLine() == "begun")
        watcher.signal(signal)
        let outcome = try await watcher.finish()
        #expect(outcome.status == 128 + signal && outcome.lines == ["begun", "ended"], "\(outcome)")
        let again = try await container.watch("--cursor-file", file, "-n", "1").finish()
        #expect(again.lines == ["created\ta"], "its batch was not done")
    }

    @Test func `COMMAND dies with watch-group`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let watcher = try container.start(
            "watch-group", ["--since", "start", container.path, "--", "sh", "-c", "echo begun; exec tail -f /dev/null"])
        #expect(try await watcher.readLine() == "begun")
        watcher.signal(SIGKILL)
        // The output ends only when no process has it open any more.
        #expect(try await watcher.finish().status == 128 + SIGKILL)
    }

    @Test func `COMMAND gets GROUP_RESCAN when the place was lost`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        let cursor = try await JSONStatus(of: other).journal.cursor
        let outcome = try await container.start(
            "watch-group",
            ["--since", cursor, "-n", "1", container.path, "--", "sh", "-c", "cat; echo \"[$GROUP_RESCAN]\""]
        ).finish()
        #expect(outcome.text == "[1]\n" && outcome.status == 0, "\(outcome)")
    }

    @Test func `a COMMAND that cannot be started ends watch-group`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        for (command, status) in [("/nowhere/x", 127), ("/dev/null", 126)] as [(String, Int32)] {
            let outcome = try await container.start(
                "watch-group", ["--since", "start", container.path, "--", command]
            ).finish()
            #expect(outcome.status == status && outcome.errors.contains("cannot run '\(command)'"), "\(outcome)")
        }
        let quiet = try await container.start("watch-group", ["--timeout", "50ms", container.path, "--", "cat"])
            .finish()
        #expect(quiet.status == 2)
    }
}
