import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `groupctl refresh` {
    private func refresh(
        _ container: TemporaryContainer, _ words: String..., command: String? = nil
    ) async throws -> RunningProcess.Outcome {
        let command = command.map { ["--", "sh", "-c", $0, container.path] } ?? []
        return try await container.start("groupctl", ["refresh", container.path] + words + command).finish()
    }

    private func record(_ container: TemporaryContainer) -> String {
        container.path + "/.group/widgets/w/record.json"
    }

    @Test func `a refresh is newData the first time and after a change, otherwise noData`() async throws {
        let container = try TemporaryContainer()
        for (change, status, last) in [
            (nil, 0, "newData"), (nil, 3, "noData"), ("x", 0, "newData"), (nil, 3, "noData"),
        ] {
            if let change { try await container.done("write", "a", input: change) }
            let outcome = try await refresh(container, "w")
            #expect(outcome.status == Int32(status) && outcome.lines == [last], "\(outcome)")
        }
    }

    @Test func `a refresh detects external changes`() async throws {
        let container = try TemporaryContainer()
        _ = try await refresh(container, "w")
        #expect(try await container.shell("echo x > \"$1/a\"").status == 0)
        #expect(try await refresh(container, "w").lines == ["newData"])
        #expect(try await refresh(container, "w").lines == ["noData"])
    }

    @Test func `a refresh depends only on changes that concern the widget`() async throws {
        let container = try TemporaryContainer()
        let interests = ["w", "--interest", "notes/*", "--interest", "b"]
        _ = try await container.start("groupctl", ["refresh", container.path] + interests).finish()
        for (item, last) in [("a", "noData"), ("b", "newData"), ("notes/n", "newData")] {
            try await container.done("write", item, input: "x")
            let outcome = try await container.start("groupctl", ["refresh", container.path] + interests).finish()
            #expect(outcome.lines == [last], "\(item): \(outcome)")
        }
    }

    @Test func `a change of metadata is noData, unless an interest includes metadata`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "todo.json", input: "[]")
        let widgets = [["all"], ["path", "--interest", "*.json"], ["touched", "--interest", "metadata:*.json"]]
        let answers = { () async throws -> [String] in
            var lines: [String] = []
            for words in widgets {
                lines += try await container.start("groupctl", ["refresh", container.path] + words).finish().lines
            }
            return lines
        }
        #expect(try await answers() == ["newData", "newData", "newData"])
        for (script, expected) in [
            ("touch", "newData"), ("chmod 600", "newData"), ("true", "noData"),
        ] {
            #expect(try await container.shell("\(script) \"$1/todo.json\"").status == 0)
            #expect(try await answers() == ["noData", "noData", expected], "\(script)")
        }
        #expect(try await container.shell("echo x > \"$1/todo.json\"").status == 0)
        #expect(try await answers() == ["newData", "newData", "newData"])
    }

    @Test func `each widget has its own place in the journal`() async throws {
        let container = try TemporaryContainer()
        for widget in ["one", "two"] { #expect(try await refresh(container, widget).status == 0) }
        try await container.done("write", "a", input: "x")
        for widget in ["one", "two"] { #expect(try await refresh(container, widget).status == 0) }
        for widget in ["one", "two"] { #expect(try await refresh(container, widget).status == 3) }
    }

    @Test func `a refresh prints COMMAND's output if it differs from the last snapshot`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "one\nrest")
        let first = #"head -n 1 "$0/a""#
        var outcome = try await refresh(container, "w", command: first)
        #expect(outcome.status == 0 && outcome.lines == ["one", "newData"], "\(outcome)")
        #expect(
            try String(contentsOfFile: record(container), encoding: .utf8).contains(
                Data("one\n".utf8).base64EncodedString()))
        try await container.done("write", "a", input: "one\nother")
        outcome = try await refresh(container, "w", command: first)
        #expect(outcome.status == 3 && outcome.lines == ["noData"], "\(outcome)")
        try await container.done("write", "a", input: "two\nother")
        outcome = try await refresh(container, "w", command: first)
        #expect(outcome.status == 0 && outcome.lines == ["two", "newData"], "\(outcome)")
    }

    @Test func `a refresh without a change does not run COMMAND`() async throws {
        let container = try TemporaryContainer()
        let count = #"echo run >> "$0/../runs"; wc -l < "$0/../runs""#
        #expect(try await refresh(container, "w", command: count).status == 0)
        #expect(try await refresh(container, "w", command: count).status == 3)
        #expect(try String(contentsOfFile: container.directory + "/runs", encoding: .utf8) == "run\n")
    }

    @Test(arguments: ["exit 1", "echo half; exit 5", "kill -9 $$", "exec no-such-program"])
    func `a refresh whose COMMAND fails has failed, and gets the change again`(command: String) async throws {
        let container = try TemporaryContainer()
        #expect(try await refresh(container, "w", command: "echo old").status == 0)
        try await container.done("write", "a", input: "x")
        let before = try Data(contentsOf: URL(fileURLWithPath: record(container)))
        for _ in 0..<2 {
            let outcome = try await refresh(container, "w", command: command)
            #expect(outcome.status == 1 && outcome.lines == ["failed"], "\(outcome)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: record(container))) == before)
        #expect(try await refresh(container, "w", command: "echo new").lines == ["new", "newData"])
    }

    @Test func `a refresh that is killed during COMMAND gets the change again`() async throws {
        let container = try TemporaryContainer()
        #expect(try await refresh(container, "w", command: "echo old").status == 0)
        try await container.done("write", "a", input: "x")
        let gate = container.directory + "/gate"
        #expect(unsafe mkfifo(gate, 0o600) == 0)
        let killed = try container.start(
            "refresh", "w", "--", "sh", "-c", "echo begun >&2; read line <\"$0\"; echo new", gate)
        #expect(try await killed.readLine(from: .errors) == "begun")
        // Meanwhile no other process refreshes this widget.
        let other = try await refresh(container, "w", "--timeout", "0", command: "echo other")
        #expect(other.status == 75 && other.errors.contains("process \(killed.identifier)"), "\(other)")
        #expect(try await refresh(container, "v", "--timeout", "0").status == 0, "the lock is only for one widget")
        killed.signal(SIGKILL)
        let outcome = try await killed.finish()
        #expect(outcome.status == 128 + SIGKILL && outcome.output.isEmpty, "\(outcome)")
        #expect(try await refresh(container, "w", command: "echo new").lines == ["new", "newData"])
        #expect(try await refresh(container, "w", command: "echo new").lines == ["noData"])
    }

    @Test func `two refreshes at once are newData once for one change`() async throws {
        let container = try TemporaryContainer()
        for round in 1...5 {
            try await container.done("write", "a", input: "\(round)")
            let both = try (0..<2).map { _ in try container.start("refresh", "w", "--", "cat", container.path + "/a") }
            var lines: [[String]] = []
            for command in both { lines.append(try await command.finish().lines) }
            #expect(lines.sorted { $0.count < $1.count } == [["noData"], ["\(round)", "newData"]], "\(lines)")
        }
    }

    @Test(arguments: ["", ".", "..", ".hidden", "a/b", "../w", "w w", "ü", String(repeating: "w", count: 201)])
    func `a malformed widget's kind is wrong usage, and no file is created`(widget: String) async throws {
        let container = try TemporaryContainer()
        let outcome = try await refresh(container, widget)
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: container.path + "/.group/widgets"))
    }

    // fault: empty-metadata
    @Test(arguments: [
        "", "{", "{}", #"{"cursor":"nonsense"}"#, #"{"cursor":1}"#, "[]", #"{"version":2,"cursor":"nonsense"}"#,
    ])
    func `a refresh with a damaged record ends with 65 once, and then begins anew`(content: String) async throws {
        let container = try TemporaryContainer()
        _ = try await refresh(container, "w")
        try content.write(toFile: record(container), atomically: false, encoding: .utf8)
        let outcome = try await refresh(container, "w")
        #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains(".group/widgets/w/record.json"), "\(outcome)")
        #expect(try String(contentsOfFile: record(container) + ".damaged", encoding: .utf8) == content)
        #expect(try await refresh(container, "w").lines == ["newData"])
        #expect(try await refresh(container, "w").lines == ["noData"])
    }

    // fault: unknown-data
    @Test func `a refresh with a newer record ends with 65 and leaves the record`() async throws {
        let container = try TemporaryContainer()
        let content = #"{"version":4,"places":[]}"#
        _ = try await refresh(container, "w")
        try content.write(toFile: record(container), atomically: false, encoding: .utf8)
        for _ in 0..<2 {
            let outcome = try await refresh(container, "w")
            #expect(outcome.status == 65 && outcome.errors.contains("version 4"), "\(outcome)")
        }
        #expect(try String(contentsOfFile: record(container), encoding: .utf8) == content)
    }

    @Test(arguments: [
        "./n", "/n", "a//b", "n/", "../n", "a/../n", "a/./b", "[ab", "metadata:./n", "default:s", "Defaults:s",
        "meta:n", "",
    ])
    func `an interest that cannot match is refused with the correct form`(interest: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "n", input: "x")
        let outcome = try await refresh(container, "w", "--interest", interest)
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("--interest"), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: container.path + "/.group/widgets"))
        if interest.contains("efault") { #expect(outcome.errors.contains("defaults:s"), "\(outcome)") }
        if interest == "./n" { #expect(outcome.errors.contains("without './'"), "\(outcome)") }
    }

    @Test func `a refresh with changed interests is newData`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "n", input: "x")
        for (interests, last) in [
            (["m"], "newData"), (["m"], "noData"), (["n"], "newData"), (["n", "m"], "newData"), (["m", "n"], "noData"),
            (["m", "n", "n"], "noData"), (["metadata:n", "m"], "newData"),
            (["defaults:s:k", "defaults:s:l"], "newData"),
            (["defaults:s:l", "defaults:s:k"], "noData"), ([], "newData"), ([], "noData"),
        ] {
            let words = ["refresh", container.path, "w"] + interests.flatMap { ["--interest", $0] }
            let outcome = try await container.start("groupctl", words).finish()
            #expect(outcome.lines == [last], "\(interests): \(outcome)")
        }
    }

    @Test func `a refresh without a snapshot runs COMMAND`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "x")
        #expect(try await refresh(container, "w").lines == ["newData"])
        #expect(try await refresh(container, "w").lines == ["noData"])
        #expect(try await refresh(container, "w", command: "echo shown").lines == ["shown", "newData"])
        #expect(try await refresh(container, "w", command: "echo shown").lines == ["noData"])
        #expect(try await refresh(container, "w").lines == ["noData"])
    }
}
