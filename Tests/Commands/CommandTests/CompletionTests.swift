import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `Completions of the commands` {
    private let container: TemporaryContainer

    init() async throws { container = try TemporaryContainer() }

    /// Returns the completions that bash offers for the last of the words.
    private func offered(_ words: String...) async throws -> [String] {
        let script = """
            source <("$1" --completions=bash); shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $(complete -p "$1" | grep -o -- '-F [^ ]*' | cut -c 4-)
            [ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
            """
        let program = BuildDirectory.resolve(words.first ?? "")
        let outcome = try await RunningProcess(
            "bash", ["-c", script, "bash", program] + words, environment: container.environment,
            directory: container.directory
        ).finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        return outcome.lines
    }

    @Test func `completions offer the commands, and the options of the present command`() async throws {
        #expect(try await offered("groupctl", "re") == ["read", "remove", "refresh"])
        #expect(try await offered("groupctl", "read", "./shared/", "--gen") == ["--generation-file"])
        #expect(try await offered("groupctl", "list", "./shared/", "--gen") == [])
        #expect(try await offered("groupctl", "--json", "defaults", "inc") == ["increment"])
        #expect(try await offered("groupctl", "help", "defaults", "ex") == ["export"])
        #expect(try await offered("watch-group", "--inc") == ["--include"])
        #expect(try await offered("groupctl", "update", "./container/", "x", "") == ["--"])
    }

    @Test func `completions offer commands after '--', and leave their arguments to the shell`() async throws {
        #expect(try await offered("watch-group", "./container/", "--", "bas").contains("bash"))
        #expect(try await offered("groupctl", "update", "./container/", "x", "--", "groupct") == ["groupctl"])
        #expect(try await offered("watch-group", "./container/", "--", "cat", "./cont") == [], "a file")
        #expect(try await offered("groupctl", "list", "--", "./cont") == ["./container/"], "no COMMAND follows")
    }

    @Test func `bash completes the arguments of COMMAND with bash-completion, if that is loaded`() async throws {
        let script = """
            _command_offset() { COMPREPLY=("from $1"); }
            source <("$1" --completions=bash); COMP_WORDS=(watch-group ./container/ -- make te); COMP_CWORD=4
            _watch_group; echo "${COMPREPLY[@]}"
            """
        let outcome = try await RunningProcess(
            "bash", ["-c", script, "bash", BuildDirectory.resolve("watch-group")], environment: container.environment,
            directory: container.directory
        ).finish()
        #expect(outcome.text == "from 3\n", "\(outcome)")
    }

    @Test func `completions offer the values of an option`() async throws {
        #expect(try await offered("groupctl", "--color", "a") == ["auto", "always"])
        #expect(
            try await offered("groupctl", "defaults", "set", "./container/", "s", "--type", "d") == [
                "double", "date", "data",
            ])
        #expect(try await offered("watch-group", "--since", "s") == ["start", "snapshot"])
        #expect(try await offered("watch-group", "--since=sn") == ["--since=snapshot"])
    }

    @Test func `completions offer groups, items, suites, keys, channels and listeners`() async throws {
        _ = try await container.start("groupctl", ["create", "group.example"]).finish()
        for item in ["Library/a b", "Library/b", "Lib"] { try await container.done("write", item, input: "1") }
        for key in ["theme", "title"] { try await container.done("defaults set", "settings", key, "1") }
        _ = try await container.done("channels post", "player", "x")
        _ = try await container.start(
            "groupctl", ["channels", "follow", container.path, "player", "-l", "lamp", "-t", "0"]
        ).finish()
        #expect(try await offered("groupctl", "list", "") == ["group.example", "./container/"])
        #expect(try await offered("groupctl", "list", "./con") == ["./container/"])
        #expect(try await offered("watch-group", container.directory + "/c") == [container.path + "/"])
        #expect(try await offered("groupctl", "read", "./container/", "Li") == ["Lib", "Library/"])
        #expect(try await offered("groupctl", "read", "./container/", "Library/") == [#"Library/a\ b"#, "Library/b"])
        #expect(try await offered("groupctl", "lock", "./container/", "Lib", "Library/b") == ["Library/b"])
        #expect(try await offered("groupctl", "defaults", "get", "./container/", "") == ["settings"])
        #expect(
            try await offered("groupctl", "defaults", "get", "./container/", "settings", "t") == ["theme", "title"])
        #expect(try await offered("watch-group", "./container/", "--defaults", "") == ["settings"])
        #expect(try await offered("groupctl", "channels", "status", "./container/", "") == ["player"])
        #expect(try await offered("groupctl", "channels", "remove", "./container/", "player", "") == ["lamp"])
        #expect(try await offered("groupctl", "read", "./nowhere/", "") == [])
    }

    @Test func `completions offer the installed widgets`() async throws {
        let made = try await container.shell(
            "mkdir \"$1/../w\"; echo '{\"kind\": \"clock\", \"executable\": \"true\"}' >\"$1/../w/clock.json\"")
        #expect(made.status == 0)
        #expect(try await offered("widget-host", "add", "--widgets", "w", "./container/", "") == ["clock"])
        #expect(try await offered("widget-host", "show", "--widgets", "w", "--show", "") == ["clock"])
    }

    @Test(.needs("fish")) func `completions in fish complete plain and quoted words`() async throws {
        try await container.done("write", "Library/a b", input: "1")
        func offered(_ line: String) async throws -> [String] {
            let script = "groupctl --completions=fish | source; complete -C $argv[1]"
            let outcome = try await RunningProcess(
                "fish", ["--no-config", "-c", script, line], environment: container.environment,
                directory: container.directory
            ).finish()
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
            return outcome.lines.map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try await offered("groupctl re") == ["read", "refresh", "remove"])
        for word in ["Library/", #"Library/a\ "#, "'Library/a", "\"Library/a "] {
            #expect(try await offered("groupctl read './container/' \(word)") == ["Library/a b"], "\(word)")
        }
        #expect(try await offered("groupctl --color=al") == ["--color=always"])
        #expect(try await offered("groupctl lock ./container/ x -- groupctl rea") == ["read"])
        #expect(try await offered("groupctl update ./container/ x -- groupct").contains("groupctl"))
        #expect(try await offered("groupctl read ./container/ --generation-file ./cont") == ["./container/"])
    }

    @Test(.needs("zsh"), .ownThreads, arguments: [true, false])
    func `completions in zsh complete plain and quoted words`(isRead: Bool)
        async throws
    {
        try await container.done("write", "Library/a b", input: "its content")
        let terminal = try TerminalProcess(
            ["env", "-C", container.directory, "zsh", "-f", "-i"], columns: 200, rows: 40,
            environment: container.environment)
        let script =
            isRead
            ? "autoload -U compinit; compinit -u -D; source <(groupctl --completions=zsh)"
            : "mkdir fp; groupctl --completions=zsh >fp/_groupctl; fpath=($PWD/fp $fpath); autoload -U compinit; compinit -u -D"
        try terminal.type("\(script); clear; echo $((20 + 3))s\r")
        try terminal.wait { $0.contains("23s") }
        for (number, word) in ["L\ta", #"Library/a\ "#, "'Library/a", "\"Library/a"].enumerated() {
            try terminal.type("groupctl rea\t./cont\t \(word)\t; echo $((30 + \(number)))s\r")
            try terminal.wait { $0.contains("\(30 + number)s") }
        }
        #expect(terminal.text.split(separator: "its content").count == 5, "\(terminal.text)")
        try terminal.type("groupctl lock ./container/ x -- groupctl rea\t./cont\t L\ta\t; echo $((30 + 9))s\r")
        try terminal.wait { $0.contains("39s") }
        #expect(terminal.text.split(separator: "its content").count == 6, "\(terminal.text)")
        try terminal.type("exit\r")
        #expect(terminal.reap() == 0)
    }

    @Test(arguments: ["groupctl", "watch-group", "widget-host", "group-share"])
    func `each program prints completions for each shell`(program: String) async throws {
        for (shell, first) in [("bash", "_"), ("zsh", "#compdef \(program)"), ("fish", "function _")] {
            let made = try await RunningProcess(program, ["--completions=\(shell)"]).finish()
            #expect(made.status == 0 && made.errors.isEmpty)
            let asks = made.text.contains("\(program) --complete ")
            #expect(made.lines.first { $0.hasPrefix(first) } != nil && asks, "\(shell)")
        }
        #expect(try await RunningProcess(program, ["--completions=csh"]).finish().status == 64)
    }
}
