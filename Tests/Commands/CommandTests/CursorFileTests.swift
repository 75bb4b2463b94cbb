import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A cursor file` {
    private func read(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    @Test func `watch-group with an absent cursor file begins at --since, and creates the file`() async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        let file = container.directory + "/seen"
        let all = try await container.watch(
            "--since", "start", "--cursor-file", file, "--count", "2", "--json"
        ).finish()
        let changes = try all.lines.map { try JSONChange($0) }
        #expect(all.status == 0 && changes.map(\.path) == ["a", "b"])
        #expect(try read(file) == (changes.last?.cursor ?? "") + "\n")
        let now = container.directory + "/now"
        #expect(try await container.watch("--cursor-file", now, "--timeout", "0").finish().status == 2)
        try await container.done("write", "c", input: "1")
        #expect(try await container.watch("--cursor-file", now, "--count", "1").finish().lines == ["created\tc"])
    }

    @Test func `watch-group with an empty cursor file begins at --since`() async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        let made = try await container.shell("mktemp \"$1/../cursor.XXXXXX\"")
        let file = try #require(made.lines.first)
        for expected in ["created\ta", "created\tb"] {
            let outcome = try await container.watch("--since", "start", "--cursor-file", file, "--count", "1").finish()
            #expect(outcome.status == 0 && outcome.lines == [expected], "\(outcome)")
        }
        let keys = try await container.start(
            "watch-group", ["--defaults", "s", "--cursor-file", container.directory + "/none/c", container.path]
        ).finish()
        #expect(keys.errors.contains("create the directory of the file first"), "\(keys)")
    }

    @Test func `a cursor file takes precedence over --since`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        for item in ["a", "b", "c"] { try await container.done("write", item, input: "1") }
        for expected in ["created\ta", "created\tb", "created\tc"] {
            let outcome = try await container.watch(
                "--since", "start", "--cursor-file", file, "--count", "1"
            ).finish()
            #expect(outcome.lines == [expected])
        }
        let none = try await container.watch("--since", "start", "--cursor-file", file, "--timeout", "0").finish()
        #expect(none.status == 2 && none.output.isEmpty)
    }

    @Test(arguments: ["\n", "garbage\n", "g1-00\n", "\u{0}\u{0}\u{0}", "start\n"])
    func `a damaged cursor file ends watch-group with 65 and is unchanged`(content: String) async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        try content.write(toFile: file, atomically: false, encoding: .utf8)
        let outcome = try await container.watch("--cursor-file", file, "--since", "start", "--json").finish()
        #expect(outcome.status == 65, "\(outcome)")
        let error = try JSONError(outcome)
        #expect(error.code == "damaged" && error.item == file && error.advice?.contains("remove the file") == true)
        #expect(try read(file) == content)
    }

    @Test func `a cursor file is updated soon after the lines`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        let watcher = try await container.watching("--cursor-file", file, "--json")
        let before = try await JSONStatus(of: container).journal.cursor
        for number in 0..<5 {
            try await container.done("write", "a", input: "\(number)")
            let change = try JSONChange(try #require(try await watcher.readLine()))
            // The file is at most 100 ms behind the lines, more on a loaded machine, and never ahead.
            let deadline = ContinuousClock.now + .seconds(20)
            var content = try read(file)
            while content != change.cursor + "\n", ContinuousClock.now < deadline { content = try read(file) }
            #expect(content == change.cursor + "\n")
        }
        #expect(try read(file) != before + "\n")
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["container", "seen"], "nothing else is left")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a cursor file is current after a signal, and the next follower goes on`(signal: Int32) async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        let first = try await container.watching("--cursor-file", file)
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        #expect(try await first.readLines(2) == ["created\ta", "created\tb"])
        first.signal(signal)
        let outcome = try await first.finish()
        #expect(outcome.status == 128 + signal && outcome.lines.count == 2, "\(outcome)")
        let place = try read(file).trimmingCharacters(in: .newlines)
        #expect(try await container.done("changes", "--since", place).output.isEmpty)
        try await container.done("write", "c", input: "1")
        let next = try await container.watch("--cursor-file", file, "--count", "1").finish()
        #expect(next.lines == ["created\tc"])
    }

    @Test func `a cursor file in use is refused with the name of its follower`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        let script = #"echo $$; exec "$0" --verbose --cursor-file "$1" "$2""#
        let first = try container.start(
            "sh", ["-c", script, BuildDirectory.resolve("watch-group"), file, container.path])
        let process = try #require(try await first.readLine())
        _ = try await first.readLine(from: .errors)
        // The file is replaced with each cursor.
        for item in ["a", "b", "c"] {
            let second = try await container.watch("--cursor-file", file, "--json", "--timeout", "0").finish()
            #expect(second.status == 4 && second.output.isEmpty, "\(second)")
            let error = try JSONError(second)
            #expect(error.code == "conflict" && error.item == file, "\(error)")
            #expect(error.cause == "process \(process) (watch-group) keeps its cursor there", "\(error)")
            let place = try read(file)
            try await container.done("write", item, input: "1")
            #expect(try await first.readLine() == "created\t\(item)")
            #expect(try await eventually { try read(file) != place })
        }
        let keys = try await container.watch("--defaults", "s", "--cursor-file", file, "--timeout", "0").finish()
        #expect(keys.status == 4, "\(keys)")
        first.signal(SIGKILL)
        _ = try await first.finish()
        #expect(try await container.watch("--cursor-file", file, "--timeout", "0").finish().status == 2)
    }

    @Test func `a follower waits for its cursor file until the last follower has ended`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        let first = try await container.watching("--cursor-file", file)
        let second = try container.watch("--verbose", "--cursor-file", file)
        first.signal(SIGTERM)
        #expect(try await first.finish().status == 143)
        #expect(try await second.readLine(from: .errors)?.hasPrefix("watching") == true)
        second.signal(SIGTERM)
        #expect(try await second.finish().status == 143)
    }

    @Test func `--sequence shows which lines are repeated after a kill`() async throws {
        let container = try TemporaryContainer()
        let file = container.directory + "/seen"
        try await container.done("write", "a", input: "1")
        let early = try await JSONStatus(of: container).journal.cursor
        try await container.done("move", "a", "b")
        let steps = try await container.start(
            "test-member", ["steps", container.path], input: "transaction write c 1 ; move b d\n"
        ).finish()
        #expect(steps.text == "ok 1\n")
        let words = ["--since", "start", "--cursor-file", file, "--sequence", "--count", "4"]
        let printed = try await container.start("watch-group", words + [container.path]).finish().lines
        #expect(printed == ["1\t0\tcreated\ta", "2\t0\tmoved\tb\ta", "3\t0\tcreated\tc", "3\t1\tmoved\td\tb"])
        #expect(try await container.done("changes", "--since", "start", "--sequence").lines == printed)
        // The state is that of a follower that was killed before it wrote its cursor.
        try early.write(toFile: file, atomically: false, encoding: .utf8)
        let again = try await container.watch("--cursor-file", file, "--sequence", "--timeout", "0").finish()
        #expect(again.lines == Array(printed.dropFirst()))
        for other in [["--json"], ["--format", "%f"], ["--defaults", "s"]] {
            let refused = try await container.start("watch-group", ["--sequence", container.path] + other).finish()
            #expect(refused.status == 64, "\(other): \(refused)")
        }
    }

    @Test func `a cursor file that cannot be written is an error before the first line`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let file = container.directory + "/no/such/directory"
        let outcome = try await container.watch("--since", "start", "--cursor-file", file).finish()
        #expect(outcome.status == 66 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("'\(file)'"))
    }

    @Test func `a cursor file of another container gives one rescan, and then changes`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        try await other.done("write", "x", input: "1")
        let file = container.directory + "/seen"
        try await JSONStatus(of: other).journal.cursor.write(toFile: file, atomically: false, encoding: .utf8)
        let outcome = try await container.watch("--cursor-file", file, "--count", "1").finish()
        #expect(outcome.lines == ["rescan\t"])
        try await container.done("write", "a", input: "1")
        #expect(try await container.watch("--cursor-file", file, "--count", "1").finish().lines == ["created\ta"])
    }
}
