import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A line of watch-group` {
    @Test func `a line of watch-group in a pipe is KIND, a tab and PATH, at once`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        for (item, content, expected) in [
            ("a", "1", ["created\ta"]), ("a", "2", ["modified\ta"]), ("f/b", "1", ["created\tf", "created\tf/b"]),
        ] {
            try await container.done("write", item, input: content)
            // No other change follows, so a line that is not flushed at once does not come.
            #expect(try await watcher.readLines(expected.count) == expected)
        }
        watcher.signal(SIGTERM)
        #expect(try await watcher.finish().lines.count == 4)
    }

    @Test func `the leader goes on watching while nothing reads its own lines, and loses none of them`() async throws {
        let container = try TemporaryContainer()
        let gate = container.directory + "/gate"
        let script = #"mkfifo "$2" && watch-group --verbose --count 500 "$1" | { read x < "$2"; cat; }"#
        let leader = try container.start("sh", ["-c", script, "sh", container.path, gate])
        #expect(try await leader.readLine(from: .errors)?.hasPrefix("watching") == true)
        let other = try await container.watching("--count", "500")
        // More than a pipe takes, one change at a time: the leader's thread itself writes the lines until that.
        let names = (0..<500).map { "\($0)-" + String(repeating: "n", count: 200) }
        let source = container.directory + "/source"
        for name in names {
            #expect(FileManager.default.createFile(atPath: source, contents: nil))
            try FileManager.default.moveItem(atPath: source, toPath: "\(container.path)/\(name)")
            #expect(try await other.readLine() == "created\t\(name)")
        }
        let errors = try await other.finish().errors
        #expect(!errors.contains("leadership"), "the leader did not reply for too long: \(errors)")
        _ = try await container.shell(#"echo go > "$2""#, gate)
        #expect(try await leader.finish().lines == names.map { "created\t\($0)" })
    }

    @Test func `a line of watch-group escapes each name uniquely`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--count", "7")
        let names = ["a\tb", "a\nb", "a\rb", #"a\b"#, #"a\tb"#, "a\u{1B}[2Jb", "ä b\u{7F}\u{85}"]
        for name in names { try await container.done("write", name, input: "x") }
        let escaped = [
            #"a\tb"#, #"a\nb"#, #"a\rb"#, #"a\\b"#, #"a\\tb"#, #"a\033[2Jb"#, #"ä b\177\302\205"#,
        ]
        #expect(try await watcher.finish().lines == escaped.map { "created\t" + $0 })
        #expect(Set(try await container.done("list").lines) == Set(escaped))
        let json = try await container.done("changes", "--since", "start", "--json").lines
        #expect(try json.map { try JSONChange($0).path } == names, "JSON has its own escapes")
    }

    @Test func `a line of watch-group with --json has the documented fields in order`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--json", "--count", "2")
        let writer = try container.start("write", "Library/todo.json", "--purpose", "todo-app", input: "123456")
        #expect(try await writer.finish().status == 0)
        let lines = try await watcher.finish().lines
        let changes = try lines.map { try JSONChange($0) }
        for (line, change) in zip(lines, changes) {
            let isDirectory = change.sequence == 1
            // A directory's size depends on the file system.
            let size = isDirectory ? change.size.map { "\($0)" } ?? "null" : "6"
            #expect(
                line == #"{"sequence":\#(change.sequence),"cursor":"\#(change.cursor)","kind":"created","#
                    + #""path":"\#(isDirectory ? "Library" : "Library/todo.json")","from":null,"#
                    + #""type":"\#(isDirectory ? "directory" : "file")","size":\#(size),"generation":\#(change.sequence),"#
                    + #""transaction":null,"coordinated":true,"#
                    + #""by":{"pid":\#(writer.identifier),"purpose":"todo-app"},"time":"\#(change.time)"}"#)
            #expect(isTimestamp(change.time))
            #expect(change.cursor.wholeMatch(of: /g1-[0-9a-f]{64}/) != nil)
        }
        #expect(changes.map(\.sequence) == [1, 2])
        let last = try #require(changes.last)
        let written = try #require(ISO8601DateFormatter.withMilliseconds.date(from: last.time))
        #expect(abs(written.timeIntervalSinceNow) < 60)
    }

    @Test func `a line of watch-group with --color always is the line of a terminal`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", "--purpose", "todo-app", input: "x")
        let words = ["--since", "start", "--count", "1", "--color", "always", container.path]
        let colored = try await container.start("watch-group", words).finish()
        #expect(colored.text.contains("\u{1B}[") && colored.text.contains("created"), "\(colored)")
        #expect(colored.text.contains("todo-app ("))
        let plain = try await container.start("watch-group", words, environment: ["NO_COLOR": "1"]).finish()
        #expect(plain.status == 0)
    }

    @Test func `the lines of watch-group have every process's changes in order`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching("--json", "--count", "40")
        let script = "for i in 1 2 3 4 5 6 7 8 9 10; do echo $2 $i | groupctl write \"$1\" \"$2\" --relaxed; done"
        let writers = try ["a", "b", "c", "d"].map {
            try container.start("sh", ["-c", script, "sh", container.path, $0])
        }
        for writer in writers { #expect(try await writer.finish().status == 0) }
        let changes = try await watcher.finish().lines.map { try JSONChange($0) }
        #expect(changes.map(\.sequence) == Array(1...40))
        for item in ["a", "b", "c", "d"] {
            let kinds = changes.filter { $0.path == item }.map(\.kind)
            #expect(kinds == ["created"] + [String](repeating: "modified", count: 9))
        }
    }
}

extension ISO8601DateFormatter {
    fileprivate static var withMilliseconds: ISO8601DateFormatter {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter
    }
}
