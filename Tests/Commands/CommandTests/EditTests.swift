import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `groupctl edit` {
    private let container: TemporaryContainer
    private let copies: String

    init() async throws {
        container = try TemporaryContainer()
        copies = container.directory + "/copies"
        try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: false)
    }

    private var environment: [String: String?] {
        ["TMPDIR": copies, "VISUAL": nil, "TERM": "xterm", "GROUP": container.path]
    }

    private func start(_ editor: String, _ words: String...) throws -> RunningProcess {
        try container.start(
            "groupctl", ["edit", container.path] + words, environment: environment.merging(["EDITOR": editor]) { $1 })
    }

    private func edit(_ editor: String, _ words: String...) async throws -> RunningProcess.Outcome {
        try await container.start(
            "groupctl", ["edit", container.path] + words, environment: environment.merging(["EDITOR": editor]) { $1 }
        ).finish()
    }

    private func read(_ item: String) async throws -> String { try await container.done("read", item).text }

    private func sequence() async throws -> UInt64 { try await JSONStatus(of: container).journal.sequence }

    /// The texts that were kept, by their paths.
    private func kept() throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: copies).filter { $0.contains("/") }
        return try Dictionary(
            uniqueKeysWithValues: paths.map {
                ("\(copies)/\($0)", try String(contentsOfFile: "\(copies)/\($0)", encoding: .utf8))
            })
    }

    @Test func `edit writes what the editor made of a private copy with the item's name, and removes the copy`()
        async throws
    {
        try await container.done("write", "d/a b.json", input: "one\n")
        let outcome = try await edit(
            "f() { stat -c '%a %F' \"$(dirname \"$1\")\" \"$1\"; sed -i 's/one/t w o/' \"$1\"; }; f", "d/a b.json")
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.lines == ["700 directory", "600 regular file"])
        #expect(try await read("d/a b.json") == "t w o\n" && kept().isEmpty)
        let named = try await edit("f() { basename \"$1\"; }; f", "d/a b.json")
        #expect(named.text == "a b.json\n", "the editor knows the syntax")
    }

    @Test(arguments: [
        ("f() { truncate -s 268435457 \"$1\"; }; f", "more than 268435456 bytes"),
        ("f() { rm \"$1\"; mkdir \"$1\"; echo typed >\"$1/x\"; }; f", "not a file"),
        ("f() { cp \"$1\" \"$1.typed\"; rm \"$1\"; mkfifo \"$1\"; }; f", "not a file"),
    ])
    func `a text that cannot be read back stays, the error names it, and the item is unchanged`(
        editor: String, reason: String
    ) async throws {
        try await container.done("write", "a", input: "one\n")
        let outcome = try await edit(editor, "a")
        #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome)")
        #expect(outcome.errors.contains("the edited text is in \(copies)/groupctl-edit-"), "\(outcome)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: copies).contains { $0.hasSuffix("/a") })
        #expect(try await read("a") == "one\n")
    }

    @Test func `a text that its user may not read stays`() async throws {
        try await container.done("write", "a", input: "one\n")
        // Root may read any file, so the file becomes a link to one that nobody can open.
        let outcome = try await edit("f() { mv \"$1\" \"$1.typed\"; ln -s \"$1\" \"$1\"; }; f", "a")
        #expect(outcome.status != 0 && outcome.errors.contains("the edited text is in \(copies)"), "\(outcome)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: copies)
        let typed = try #require(names.first { $0.hasSuffix("/a.typed") })
        #expect(try String(contentsOfFile: "\(copies)/\(typed)", encoding: .utf8) == "one\n")
        #expect(try await read("a") == "one\n")
    }

    @Test func `edit prefers VISUAL, and does nothing for text that is unchanged`() async throws {
        try await container.done("write", "a", input: "one\n")
        let before = try await sequence()
        let visual = environment.merging(["VISUAL": "echo visual; true", "EDITOR": "false"]) { $1 }
        let outcome = try await container.start(
            "groupctl", ["edit", container.path, "a", "--exit-code", "--verbose"], environment: visual
        ).finish()
        #expect(outcome.status == 3 && outcome.text == "visual\n", "\(outcome)")
        #expect(outcome.errors.contains("'a' is unchanged; nothing was written"))
        let dumb = visual.merging(["TERM": "dumb"]) { $1 }
        #expect(
            try await container.start("groupctl", ["edit", container.path, "a"], environment: dumb).finish().status == 1
        )
        #expect(try await sequence() == before && kept().isEmpty)
    }

    @Test func `edit creates an item, unless the text is empty`() async throws {
        let json = try await edit("echo new >", "d/a", "--json")
        #expect(json.text == #"{"path":"d/a","outcome":"written","generation":2}"# + "\n", "\(json)")
        #expect(try await read("d/a") == "new\n")
        #expect(try await edit("true", "b").status == 0)
        #expect(try await container.run("read", "b").status == 66)
    }

    @Test(arguments: [("false", 1), ("exit 9;", 9), ("nowhere-is-such-an-editor", 127), ("rm", 66)])
    func `an editor that fails writes nothing`(editor: String, status: Int32) async throws {
        try await container.done("write", "a", input: "one\n")
        let outcome = try await edit(editor, "a")
        #expect(outcome.status == status && outcome.errors.hasPrefix("groupctl: ") || status == 127, "\(outcome)")
        #expect(try await read("a") == "one\n" && kept().isEmpty)
        let changed = try await edit("f() { echo two > \"$1\"; exit 9; }; f", "a")
        let texts = try kept()
        let file = try #require(texts.first)
        #expect(changed.status == 9 && changed.errors.contains("the edited text is in \(file.key)"), "\(changed)")
        #expect(try await read("a") == "one\n" && texts.count == 1 && file.value == "two\n")
    }

    @Test(
        arguments: [
            ("echo theirs | groupctl write \"$GROUP\" a --purpose todo", "modified by todo (", "theirs\n"),
            ("groupctl remove \"$GROUP\" a", "removed by groupctl (", nil),
            ("echo theirs > \"$GROUP/a\"", "modified without coordination", "theirs\n"),
            ("groupctl move \"$GROUP\" a b; echo theirs | groupctl write \"$GROUP\" b", "modified by groupctl (", nil),
        ])
    func `edit loses neither text where the item was changed meanwhile, and says who did it`(
        change: String, said: String, content: String?
    ) async throws {
        try await container.done("write", "a", input: "one\n")
        let outcome = try await edit("\(change); echo mine >", "a")
        let texts = try kept()
        let file = try #require(texts.first)
        #expect(outcome.status == 4 && outcome.output.isEmpty && outcome.lines.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("it was \(said)"), "\(outcome)")
        #expect(outcome.errors.contains("the edited text is in \(file.key)"), "\(outcome)")
        #expect(texts.count == 1 && file.value == "mine\n")
        if let content { #expect(try await read("a") == content) }
        let json = try await container.start(
            "groupctl", ["edit", container.path, "c", "--json"],
            environment: environment.merging(["EDITOR": "echo 1 | groupctl write \"$GROUP\" c; echo mine >"]) { $1 }
        ).finish()
        #expect(json.status == 4 && json.errors.hasPrefix(#"{"code":"conflict","item":"c","#), "\(json)")
    }

    @Test func `edit writes to where the item was moved, whatever became of its metadata`() async throws {
        try await container.done("write", "d/a", input: "one\n")
        let change = "groupctl move \"$GROUP\" d e; groupctl move \"$GROUP\" e/a b; chmod 640 \"$GROUP/b\""
        let outcome = try await edit("\(change); echo two >", "d/a")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(try await read("b") == "two\n" && container.mode("b") == 0o640)
        #expect(try kept().isEmpty)
    }

    @Test func `an item that is edited is presented`() async throws {
        try await container.done("write", "a", input: "one\n")
        let shown = try await edit("groupctl status \"$GROUP\"; true", "a", "--purpose", "me")
        #expect(shown.lines.contains { $0.contains("presents  a") }, "\(shown)")
        let noticed = try await edit("echo 2 | groupctl write \"$GROUP\" a --purpose todo; true", "a", "--verbose")
        #expect(noticed.status == 0 && noticed.errors.contains("modified a by todo ("), "\(noticed)")
    }

    @Test func `a signal that ends edit is the editor's, too, and the text is kept`() async throws {
        try await container.done("write", "a", input: "one\n")
        // The interrupt key is for the editor alone.
        let editor = """
            f() { trap 'kill -KILL $!; echo ended; exit 1' TERM; tail -f /dev/null & echo two > "$1"; kill -INT $PPID
            echo begun; wait; }; f
            """
        let command = try start(editor, "a")
        #expect(try await command.readLine() == "begun")
        command.signal(SIGTERM)
        let outcome = try await command.finish()
        #expect(outcome.status == 128 + SIGTERM && outcome.lines.last == "ended", "\(outcome)")
        let texts = try kept()
        #expect(texts.values.map { $0 } == ["two\n"] && outcome.errors.contains(texts.keys.first ?? "-"), "\(outcome)")
        #expect(try await read("a") == "one\n")
    }

    @Test(arguments: [SIGTERM, SIGHUP]) func `what the editor recovers the text by stays after a signal`(
        signal: Int32
    ) async throws {
        try await container.done("write", "a", input: "one\n")
        // As vi does, which writes the file itself only when it is told to.
        let editor = #"f() { echo two > "$(dirname "$1")/.a.swp"; echo begun; sleep 600; }; f"#
        let command = try start(editor, "a")
        #expect(try await command.readLine() == "begun")
        command.signal(signal)
        let outcome = try await command.finish()
        #expect(outcome.status == 128 + signal, "\(outcome)")
        let swap = try kept().first { $0.key.hasSuffix("/.a.swp") }
        #expect(swap?.value == "two\n" && outcome.errors.contains(swap?.key ?? "-"), "\(outcome)")
    }

    @Test func `edit needs an item that is no directory, and room outside of the container`() async throws {
        try await container.done("mkdir", "d")
        #expect(try await edit("true", "d").status == 1)
        #expect(try await edit("true", "../x").status == 77)
        let inside = try await container.start(
            "groupctl", ["edit", container.path, "a"],
            environment: environment.merging(["TMPDIR": container.path]) { $1 }
        ).finish()
        #expect(inside.status == 64 && inside.errors.contains("is inside the container"), "\(inside)")
    }

    @Test(.ownThreads, arguments: ["o", "k", "x\rE"])
    func `edit asks on a terminal what to do where the item was changed`(answer: String) async throws {
        try await container.done("write", "a", input: "one\n")
        // The second time, the editor joins both texts.
        let editor = """
            f() { if [ -e "$(dirname "$1")/theirs.a" ]; then cat "$(dirname "$1")/theirs.a" >> "$1"; else
            echo theirs | groupctl write "$GROUP" a --purpose todo; echo mine > "$1"; fi; }; f
            """
        let terminal = try TerminalProcess(
            ["groupctl", "edit", container.path, "a"], columns: 200, rows: 40,
            environment: container.environment.merging(environment) { $1 }.merging(["EDITOR": editor]) { $1 })
        try terminal.wait { $0.contains("[e/o/k]") }
        #expect(terminal.text.contains("it was modified by todo (") && terminal.text.contains("Edit again, overwrite"))
        try terminal.type(answer + "\r")
        let status = terminal.reap()
        let (content, texts) = (try await read("a"), try kept())
        switch answer {
        case "o": #expect(status == 0 && content == "mine\n" && texts.isEmpty, "\(terminal.text)")
        case "k":
            #expect(status == 4 && content == "theirs\n" && texts.values.map { $0 } == ["mine\n"], "\(terminal.text)")
        default: #expect(status == 0 && content == "mine\ntheirs\n" && texts.isEmpty, "\(terminal.text)")
        }
    }
}
