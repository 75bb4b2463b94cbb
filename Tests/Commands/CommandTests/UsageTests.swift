import TestSupport
import Testing

@Suite(.tags(.process))
struct `Usage errors of the commands` {
    @Test(arguments: [
        ("groupctl", "read --nonsense g p", "unknown option '--nonsense'", "groupctl read"),
        ("groupctl", "write g p --relaxt", "unknown option '--relaxt'; did you mean '--relaxed'?", "groupctl write"),
        ("groupctl", "raed g p", "unknown command 'raed'; did you mean 'read'?", "groupctl"),
        ("groupctl", "", "missing a command, such as create, path, list; the help lists all", "groupctl"),
        ("groupctl", "status", "missing GROUP", "groupctl status"),
        ("groupctl", "read g", "missing PATH", "groupctl read"),
        ("groupctl", "update g p", "missing COMMAND", "groupctl update"),
        ("groupctl", "update g p --", "missing COMMAND after '--'", "groupctl update"),
        ("groupctl", "path g h", "unexpected argument 'h'", "groupctl path"),
        ("groupctl", "write g p --mode rw", "--mode: 'rw' is not an octal mode", "groupctl write"),
        ("groupctl", "write g p --mode 10000", "--mode: '10000' is not an octal mode", "groupctl write"),
        ("groupctl", "read g p --timeout soon", "--timeout: 'soon' is not a time", "groupctl read"),
        ("groupctl", "read g p --timeout=-1", "--timeout: '-1' is negative", "groupctl read"),
        ("groupctl", "status g --timeout soon", "--timeout: 'soon' is not a time", "groupctl status"),
        ("groupctl", "list --color blue", "--color must be auto, always or never", "groupctl list"),
        ("groupctl", "changes g", "--since is missing", "groupctl changes"),
        ("groupctl", "changes g --since yesterday", "'yesterday' is neither a cursor nor start", "groupctl changes"),
        ("watch-group", "--jsno g", "unknown option '--jsno'; did you mean '--json'?", "watch-group"),
        ("watch-group", "", "missing GROUP", "watch-group"),
        ("watch-group", "g --count 0", "--count: '0' is not a positive number", "watch-group"),
        ("watch-group", "g --count many", "--count: 'many' is not a positive number", "watch-group"),
        ("watch-group", "g --timeout 1w", "--timeout: '1w' is not a time", "watch-group"),
        ("watch-group", "g --since g1-00", "'g1-00' is neither a cursor nor start, snapshot or now", "watch-group"),
    ])
    func `a wrong call is refused with the fault and the help to read`(
        program: String, line: String, message: String, teacher: String
    ) async throws {
        let words = line.split(separator: " ").map(String.init)
        let outcome = try await RunningProcess(program, words, environment: ["GROUP_CONTAINERS_HOME": "/nonexistent"])
            .finish()
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("\(program): ") && outcome.errors.contains(message), "\(outcome)")
        #expect(outcome.errors.hasSuffix("(try '\(teacher) --help')\n"), "\(outcome)")
    }

    @Test(arguments: [["read"], ["defaults", "get"]])
    func `the help of a command is printed wherever its name stands`(names: [String]) async throws {
        let help = try await RunningProcess("groupctl", names + ["--help"]).finish()
        #expect(help.status == 0 && help.text.contains("groupctl \(names.joined(separator: " "))"))
        for words in [["-h"] + names, ["help"] + names] {
            #expect(try await RunningProcess("groupctl", words).finish().text == help.text)
        }
    }

    @Test(arguments: ["", ".hidden", "-x", "a b", "ä", "a\nb", "a:b", String(repeating: "a", count: 256)])
    func `a malformed identifier is a usage error that advises a path`(identifier: String) async throws {
        let outcome = try await RunningProcess(
            "groupctl", ["create", "--", identifier], environment: ["GROUP_CONTAINERS_HOME": "/nonexistent"]
        ).finish()
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("a group identifier has letters, digits"))
        #expect(outcome.errors.contains("write a path with a '/' in it"))
        #expect(outcome.errors.split(separator: "\n").count == 1, "one error, one line")
    }

    @Test func `an identifier without any home is a usage error that names the variables`() async throws {
        let outcome = try await RunningProcess(
            "groupctl", ["create", "g"], environment: ["GROUP_CONTAINERS_HOME": nil, "XDG_DATA_HOME": nil, "HOME": nil]
        ).finish()
        #expect(outcome.status == 64, "\(outcome)")
        for variable in ["GROUP_CONTAINERS_HOME", "XDG_DATA_HOME", "HOME"] {
            #expect(outcome.errors.contains(variable))
        }
    }

    @Test(arguments: [
        ["write", "--mode", "\u{1B}[31m\n", "GROUP", "x"], ["defaults", "get", "GROUP", "\u{1B}[31m\n", "k"],
        ["read", "GROUP", "\u{1B}[31m\n"],
    ])
    func `control characters of any argument are escaped once in a message`(words: [String]) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.start("groupctl", words.map { $0 == "GROUP" ? container.path : $0 }).finish()
        #expect(outcome.errors.contains(#"\033[31m\012"#), "\(outcome)")
        #expect(outcome.errors.unicodeScalars.count { $0.properties.generalCategory == .control } == 1, "\(outcome)")
    }

    @Test func `control characters of an environment variable are escaped in an error`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.start(
            "groupctl", ["read", container.path, "a"], environment: ["GROUP_QUESTION": "\u{1B}[31m"]
        ).finish()
        #expect(outcome.errors.contains(#"'\033[31m'"#) && !outcome.errors.contains("\u{1B}"), "\(outcome)")
    }

    @Test func `control characters of an argument are escaped in an error`() async throws {
        let outcome = try await RunningProcess("groupctl", ["\u{1B}[2J"]).finish()
        #expect(outcome.status == 64)
        #expect(!outcome.errors.contains("\u{1B}"))
    }

    @Test(arguments: [["read", "g", "--quiet"], ["-q", "read", "g"], ["read", "-vq", "g"]])
    func `an error with --quiet prints no message`(words: [String]) async throws {
        let outcome = try await RunningProcess("groupctl", words).finish()
        #expect(outcome.status == 64)
        #expect(outcome.errors == "")
    }

    @Test func `an error with --json is one object`() async throws {
        let outcome = try await RunningProcess("groupctl", ["read", "g", "--json"]).finish()
        let error = try JSONError(outcome)
        #expect(outcome.status == 64)
        #expect(error == JSONError(code: "usage", cause: "missing PATH (try 'groupctl read --help')"))
    }

    @Test func `a Unix group that does not exist is named`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.run("create", "--unix-group", "no-such-group")
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("'no-such-group'") && outcome.errors.contains("no Unix group of that name"))
    }
}
