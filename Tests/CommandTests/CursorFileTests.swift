import Foundation
import TestSupport
import Testing

@Suite(.serialized)
struct `A cursor file` {
    private func read(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    @Test func `that is absent begins as --since says, and is made`() async throws {
        let container = try await TemporaryContainer()
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        let file = container.folder + "/seen"
        let all = try await container.watch(
            "--since", "start", "--cursor-file", file, "--count", "2", "--json"
        ).finish()
        let changes = try all.lines.map { try JSONChange($0) }
        #expect(all.status == 0 && changes.map(\.path) == ["a", "b"])
        #expect(try read(file) == (changes.last?.cursor ?? "") + "\n")
        let now = container.folder + "/now"
        #expect(try await container.watch("--cursor-file", now, "--timeout", "0").finish().status == 2)
        try await container.done("write", "c", input: "1")
        #expect(try await container.watch("--cursor-file", now, "--count", "1").finish().lines == ["created\tc"])
    }

    @Test func `comes before --since, and goes on where it stopped`() async throws {
        let container = try await TemporaryContainer()
        let file = container.folder + "/seen"
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

    @Test(arguments: ["", "\n", "garbage\n", "g1-00\n", "\u{0}\u{0}\u{0}", "start\n"])
    func `that is damaged ends with 65 and stays as it is`(content: String) async throws {
        let container = try await TemporaryContainer()
        let file = container.folder + "/seen"
        try content.write(toFile: file, atomically: false, encoding: .utf8)
        let outcome = try await container.watch("--cursor-file", file, "--since", "start", "--json").finish()
        #expect(outcome.status == 65, "\(outcome)")
        let error = try JSONError(outcome)
        #expect(error.code == "damaged" && error.item == file && error.advice?.contains("remove the file") == true)
        #expect(try read(file) == content)
    }

    @Test func `is kept current, soon after the lines`() async throws {
        let container = try await TemporaryContainer()
        let file = container.folder + "/seen"
        let watcher = try await container.watching("--cursor-file", file, "--json")
        let before = try await JSONStatus(of: container).journal.cursor
        for number in 0..<5 {
            try await container.done("write", "a", input: "\(number)")
            let change = try JSONChange(try #require(try await watcher.readLine()))
            // At most 100 ms behind; a loaded machine gets more. Never ahead.
            let deadline = ContinuousClock.now + .seconds(20)
            var content = try read(file)
            while content != change.cursor + "\n", ContinuousClock.now < deadline { content = try read(file) }
            #expect(content == change.cursor + "\n")
        }
        #expect(try read(file) != before + "\n")
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["container", "seen"], "nothing else is left")
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `is current when a signal ends its follower, and the next goes on`(signal: Int32) async throws {
        let container = try await TemporaryContainer()
        let file = container.folder + "/seen"
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

    @Test func `that cannot be written is an error before anything is printed`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let file = container.folder + "/no/such/folder"
        let outcome = try await container.watch("--since", "start", "--cursor-file", file).finish()
        #expect(outcome.status == 66 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("'\(file)'"))
    }

    @Test func `of another container is answered with one rescan, then followed`() async throws {
        let (container, other) = (try await TemporaryContainer(), try await TemporaryContainer())
        try await other.done("write", "x", input: "1")
        let file = container.folder + "/seen"
        try await JSONStatus(of: other).journal.cursor.write(toFile: file, atomically: false, encoding: .utf8)
        let outcome = try await container.watch("--cursor-file", file, "--count", "1").finish()
        #expect(outcome.lines == ["rescan\t"])
        try await container.done("write", "a", input: "1")
        #expect(try await container.watch("--cursor-file", file, "--count", "1").finish().lines == ["created\ta"])
    }
}
