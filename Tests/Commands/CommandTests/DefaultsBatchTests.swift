import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)), .tags(.process))
struct `groupctl defaults batch` {
    @Test func `a batch prints a line for each command, and goes on after an error`() async throws {
        let container = try TemporaryContainer()
        let commands: [(command: String, answer: String)] = [
            ("increment n 2", "2"), ("get n", "2"), (#"set k "two words""#, "ok"), ("get k", #""two words""#),
            ("   ", ""),
            ("get missing", "error: cannot get 's: missing': nothing is set under this key"),
            ("get missing --default x", #""x""#), ("set --type json j '[1,null]'", "ok"), ("get j", "[1,null]"),
            (#"set 'a key' --type json '"a\nb"'"#, "ok"),
            ("list", #"{"a key":"a\nb","j":[1,null],"k":"two words","n":2}"#),
            ("set --if 3 n 4", "error: cannot set 's: n': the value is '2'"),
            ("set --if 2 --type int --durable n 4", "ok"),
            ("nonsense", "error: unknown command 'nonsense'"), ("set k 'open", "error: a ' is not closed"),
            ("set --type int k x", "error: VALUE: 'x' is not an integer of 64 bits"), ("get", "error: missing KEY"),
            ("get --help", "error: --help is not possible in a batch"),
            ("import -", "error: FILE: '-' is not possible here"),
            ("export --format plist", "error: cannot export 's: j': a property list has no null"), ("delete j", "ok"),
            ("export --format plist", "error: --format: an answer in a batch is one line"),
            ("export", #"{"a key":"a\nb","k":"two words","n":4}"#),
            ("increment n -- -5", "-1"), ("flush", "ok"), ("clear", "ok"), ("list", "{}"),
        ]
        let input = commands.map(\.command).joined(separator: "\n")
        let outcome = try await container.defaults("s", "batch", input: input)
        #expect(outcome.status == 1 && outcome.errors == "", "\(outcome)")
        let expected = commands.map(\.answer).filter { !$0.isEmpty }
            .map { $0.replacing("': ", with: "' in '\(container.path)': ") }
        #expect(outcome.lines.count == expected.count)
        for (line, answer) in zip(outcome.lines, expected) {
            #expect(answer.hasPrefix("error") ? line.hasPrefix(answer) : line == answer)
        }
        let good = try await container.defaults("s", "batch", input: "increment n\nincrement n")
        #expect(good.status == 0 && good.lines == ["1", "2"], "\(good)")
        #expect(try await container.defaults("s", "batch").status == 0)
    }

    @Test func `a batch with --json prints an error as an object`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.defaults("s", "batch", "--json", input: "get \"\u{202E}\"\n")
        let line = try #require(outcome.lines.first)
        #expect(line.hasPrefix("error: {"))
        let error = try JSONDecoder().decode(JSONError.self, from: Data(line.dropFirst(7).utf8))
        #expect(error.code == "notFound" && error.item == "s: \u{202E}")
    }

    @Test func `a batch flushes when no input is ready, and waits for the rest of a line`() throws {
        let container = try TemporaryContainer()
        let batch = try RunningProcess(["groupctl", "defaults", "batch", container.path, "s"])
        for number in 1...5 {
            try batch.send("increment n")
            try batch.waitForText("\(number)\n")
        }
        try batch.send("set k v\nget k")
        try batch.waitForText("ok\n\"v\"\n")
        batch.closeInput()
        #expect(try batch.finish().status == 0)
    }

    @Test func `a batch ends quietly when the reader of its output is gone`() async throws {
        let container = try TemporaryContainer()
        let batch = try container.start(
            "groupctl", ["defaults", "batch", container.path, "s"], input: "increment n\n", output: .closedPipe)
        let outcome = try await batch.finish()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    }

    // fault: lost-update
    @Test func `batches of eight processes with 500 additions each add 4,000`() async throws {
        let container = try TemporaryContainer()
        let input = String(repeating: "increment n\n", count: 500)
        let batches = try (0..<8).map { _ in
            try container.start("groupctl", ["defaults", "batch", container.path, "s"], input: input)
        }
        var answers: [Int] = []
        for batch in batches {
            let outcome = try await batch.finish(within: .seconds(120))
            #expect(outcome.status == 0)
            let numbers = outcome.lines.compactMap { Int($0) }
            #expect(numbers == numbers.sorted() && numbers.count == 500)
            answers += numbers
        }
        #expect(answers.sorted() == Array(1...4_000), "each sum was printed once")
        #expect(try await container.defaults("s", "get", "n").text == "4000\n")
    }
}
