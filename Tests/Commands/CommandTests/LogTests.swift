import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `groupctl log` {
    private let container: TemporaryContainer

    init() async throws { container = try TemporaryContainer() }

    /// Returns the lines of a history as `AUTHOR KIND PATH [FROM]`, without the process.
    private func log(_ words: String...) async throws -> [String] {
        let outcome = try await container.start("groupctl", ["log", container.path] + words).finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        return outcome.lines.map { line in
            let fields = line.split(separator: "\t").map(String.init)
            #expect(isTimestamp(fields.first ?? ""), "\(line)")
            return fields.dropFirst().joined(separator: " ").replacing(#/ \(\d+\)/#, with: "")
        }
    }

    @Test func `the log of an item has its author and its times, also of external changes, and its old names`()
        async throws
    {
        // A leader records each external change at once.
        let watcher = try await container.watching()
        try await container.done("write", "d/a", "--purpose", "todo", input: "one\n")
        try await container.done("write", "other", input: "1")
        // Each step is recorded before the next one; what a leader sees of a replaced file depends on its haste.
        func wait(for line: String) async throws {
            while let next = try await watcher.readLine(), next != line {}
        }
        try await wait(for: "created\tother")
        #expect(try await container.shell("echo two 1<>\"$1/d/a\"").status == 0)
        try await wait(for: "modified\td/a")
        try await container.done("move", "d", "e", "--purpose", "mover")
        try await wait(for: "moved\te\td")
        #expect(try await container.shell("mv \"$1/e/a\" \"$1/b\"").status == 0)
        try await wait(for: "moved\tb\te/a")
        try await container.done("write", "b", "--purpose", "todo", input: "three\n")
        let expected = [
            "todo created d/a", "uncoordinated modified d/a", "mover moved e d", "uncoordinated moved b e/a",
            "todo modified b",
        ]
        #expect(try await log("b") == expected)
        #expect(try await log("b", "--count", "2") == Array(expected.suffix(2)))
        #expect(try await log("b", "-n", "99") == expected)
        #expect(try await log("d/a") == Array(expected.prefix(3)), "the end of the old name")
    }

    @Test func `the log of an item that sed -i has replaced goes back to before that`() async throws {
        let watcher = try await container.watching()
        try await container.done("write", "a", "--purpose", "todo", input: "one\n")
        #expect(try await container.shell("sed -i s/one/two/ \"$1/a\"").status == 0)
        try await container.done("write", "end", input: "1")
        while let line = try await watcher.readLine(), line != "created\tend" {}
        let lines = try await log("a")
        #expect(lines.first == "todo created a" && lines.count > 1, "\(lines)")
        #expect(
            lines.last?.hasPrefix("uncoordinated mo") == true, "modified, or moved from its temporary file: \(lines)")
    }

    @Test func `the log of an item that was removed and made again has both`() async throws {
        try await container.done("write", "d/a", input: "1")
        try await container.done("remove", "-r", "d")
        #expect(try await log("d/a") == ["groupctl created d/a", "groupctl removed d"])
        try await container.done("write", "d/a", input: "2")
        #expect(try await container.shell("rm -r \"$1/d\"; mkdir \"$1/d\"; echo 3 >\"$1/d/a\"").status == 0)
        let all = try await log("d/a/")
        #expect(all.first == "groupctl created d/a" && all.last?.hasPrefix("uncoordinated") == true, "\(all)")
        #expect(all.count >= 4)
    }

    @Test func `the log of an item is JSON or in a format, as other changes`() async throws {
        try await container.done("write", "a", "--purpose", "todo", input: "1")
        let json = try await container.done("log", "a", "--json")
        #expect(try JSONChange(try #require(json.lines.first)).path == "a" && json.lines.count == 1)
        #expect(try await container.done("log", "a", "--format", "%e %f %u").text == "CREATE a todo\n")
        let shown = try await container.done("log", "a", "--color", "always")
        #expect(shown.text.contains("now") || shown.text.contains(" s ago"), "\(shown)")
        let iso = try await container.done("log", "a", "--color", "always", "--time", "iso").text
        #expect(iso.firstMatch(of: #/\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ\u{1b}\[0m  /#) != nil, "\(iso)")
        #expect(try await container.run("log", "a", "--time", "soon").status == 64)
        #expect(try await container.run("log", "a", "--count", "0").status == 64)
        #expect(try await container.run("log", "a", "--since", "start").status == 64)
    }

    @Test func `the log of an item without a change, and of a path that is none, is an error`() async throws {
        try await container.done("write", "a", input: "1")
        let none = try await container.run("log", "b")
        #expect(none.status == 66 && none.errors.contains("it has no change") && none.output.isEmpty, "\(none)")
        #expect(try await container.run("log", "../b").status == 77)
        #expect(try await container.run("log", "a//b").status == 64)
    }

    @Test func `the log of an item whose older changes were dropped has the newer ones`() async throws {
        let small = container.directory + "/small"
        let made = try await container.start("groupctl", ["create", small, "--journal-size", "64K"]).finish()
        #expect(made.status == 0, "\(made)")
        let script = """
            echo 1 | groupctl write "$1" a; echo 1 | groupctl write "$1" d/b
            i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo "set $i $i"; groupctl copy "$1" -r d "copy-$i-$(printf %0200d $i)"; done
            i=0; while [ $i -lt 400 ]; do i=$((i + 1)); mkdir "$1/$(printf %0200d $i)"; done; groupctl changes "$1" --since start | wc -l
            echo 2 | groupctl write "$1" a
            """
        let run = try await container.start("sh", ["-c", script, "sh", small]).finish()
        #expect(run.status == 0, "\(run)")
        let log = try await container.start("groupctl", ["log", small, "a", "--verbose"]).finish()
        #expect(log.lines.count == 1 && log.text.contains("\tmodified\ta\n"), "\(log)")
        #expect(log.errors.contains("the journal keeps no older changes"), "\(log)")
        let gone = try await container.start("groupctl", ["log", small, "d/b"]).finish()
        #expect(gone.status == 66 && gone.errors.contains("the journal has no change of it any more"), "\(gone)")
    }
}
