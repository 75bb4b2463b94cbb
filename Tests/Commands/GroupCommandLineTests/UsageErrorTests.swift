import GroupCommandLine
import Testing

struct UsageErrorTests {
    private func message(_ specification: CommandSpecification, _ line: [[UInt8]]) -> String? {
        do throws(UsageError) {
            _ = try ArgumentParser(specification).parse(line)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `an unknown option is a usage error`() {
        #expect(message(Samples.watch, words("--nonsense g")) == "unknown option '--nonsense'")
        #expect(message(Samples.watch, words("-x g")) == "unknown option '-x'")
        #expect(message(Samples.watch, words("-qx g")) == "unknown option '-x'")
        #expect(message(Samples.watch, words("--=3 g")) == "unknown option '--'")
    }

    @Test(arguments: [
        ("--jsno g", "--json"), ("--incude=a g", "--include"), ("--time 3 g", "--timeout"), ("--vresion", "--version"),
    ])
    func `an unknown or abbreviated option is refused with the nearest option`(line: String, nearest: String) {
        #expect(message(Samples.watch, words(line))?.hasSuffix("; did you mean '\(nearest)'?") == true)
    }

    @Test func `an unknown command is refused with the nearest command`() {
        #expect(message(Samples.groupctl, words("raed g p")) == "unknown command 'raed'; did you mean 'read'?")
        #expect(message(Samples.groupctl, words("rem g p")) == "unknown command 'rem'; did you mean 'remove'?")
        #expect(message(Samples.groupctl, words("frobnicate g")) == "unknown command 'frobnicate'")
        #expect(message(Samples.groupctl, [[]]) == "unknown command ''")
    }

    @Test(arguments: [
        ("ls", "list"), ("cat", "read"), ("rm", "remove"), ("delete", "remove"), ("defaults write", "set"),
    ])
    func `another system's name of a command is refused with the name here`(line: String, meant: String) {
        let word = line.split(separator: " ").last ?? ""
        #expect(
            message(Samples.groupctl, words(line + " g p")) == "unknown command '\(word)'; did you mean '\(meant)'?")
    }

    @Test(arguments: [
        ("./g/ read p", "groupctl read ./g/ p"), ("g read", "groupctl read g"),
        ("--json g list", "groupctl --json list g"),
        ("defaults g s set k v", "groupctl defaults set g s k v"),
        ("defaults ./g/ s set --type int -- k -5", "groupctl defaults set ./g/ s --type int -- k -5"),
        ("defaults g --json s set k v", "groupctl defaults set g --json s k v"),
    ])
    func `a GROUP before its command is refused with the corrected call`(line: String, right: String) {
        #expect(
            message(Samples.groupctl, words(line))?.hasSuffix("; the command comes before GROUP: \(right)") == true,
            "\(message(Samples.groupctl, words(line)) ?? "")")
    }

    @Test func `a corrected call is quoted for a shell`() {
        let line = [bytes("g"), bytes("read"), bytes("it's $HOME"), []]
        #expect(message(Samples.groupctl, line)?.hasSuffix(#"groupctl read g 'it'\''s $HOME' ''"#) == true)
    }

    @Test(arguments: [
        (Samples.watch, "./a ./b", "unexpected argument './b'; COMMAND comes after '--': watch-group ./a -- ./b"),
        (Samples.watch, "g --json make -n", "COMMAND comes after '--': watch-group g --json -- make -n"),
        (Samples.watch, "g make -- x", "COMMAND comes after '--': watch-group g -- make -- x"),
        (Samples.groupctl, "lock g a sort", "missing COMMAND, which comes after '--'"),
    ])
    func `a COMMAND without two dashes is refused with the corrected call`(
        command: CommandSpecification, line: String, expected: String
    ) {
        #expect(message(command, words(line))?.hasSuffix(expected) == true, "\(message(command, words(line)) ?? "")")
    }

    @Test func `the error of a missing value names its placeholder`() {
        #expect(message(Samples.watch, words("g --timeout")) == "option '--timeout' needs a value: TIME")
        #expect(message(Samples.watch, words("g -0n")) == "option '-n' needs a value: N")
    }

    @Test func `an empty path is a usage error, and an empty text is a value`() {
        let command = CommandSpecification(
            name: "x", summary: "", usage: [],
            options: [.value("file", letter: "f", "FILE", help: ""), .value("text", "TEXT", help: "")])
        for line in [["--file", ""], ["--file="], ["-f", ""]] {
            let message = message(command, line.map { Array($0.utf8) }) ?? ""
            #expect(message.hasSuffix("needs a value, and it is empty: FILE"), "\(message)")
        }
        #expect(message(command, [Array("--text".utf8), []]) == nil)
    }

    @Test func `a value of a flag is a usage error`() {
        #expect(message(Samples.watch, words("--json=yes g")) == "option '--json' takes no value")
        #expect(message(Samples.watch, words("--help=yes g")) == "option '--help' takes no value")
    }

    @Test(arguments: [
        ("read", "missing GROUP"), ("read g", "missing PATH"), ("lock g -- ls", "missing PATH"),
        ("lock g p", "missing COMMAND, which comes after '--'"), ("lock g p --", "missing COMMAND after '--'"),
        ("defaults set g", "missing SUITE"), ("defaults", "missing a command, one of: set"),
        ("read g p q", "unexpected argument 'q'"), ("list g p q", "unexpected argument 'q'"),
    ])
    func `a missing or unexpected argument is named in the usage error`(line: String, expected: String) {
        #expect(message(Samples.groupctl, words(line)) == expected)
    }

    @Test func `a missing subcommand is a usage error that lists the subcommands`() {
        let expected = "missing a command, one of: read, list, remove, lock, defaults"
        #expect(message(Samples.groupctl, []) == expected)
        #expect(message(Samples.groupctl, words("--json")) == expected)
    }

    @Test func `a negative number as an option is refused with a hint at two dashes`() {
        #expect(
            message(Samples.groupctl, words("defaults set g s n -5"))
                == "unknown option '-5'; put '--' before a negative number")
    }

    @Test func `an option of a subcommand is unknown before the subcommand`() {
        #expect(message(Samples.groupctl, words("--recursive remove g p")) == "unknown option '--recursive'")
        #expect(message(Samples.groupctl, words("-r remove g p")) == "unknown option '-r'")
    }

    @Test func `control characters of an argument are escaped in a usage error`() {
        #expect(message(Samples.groupctl, [bytes("\u{1B}[2J")]) == #"unknown command '\033[2J'"#)
        #expect(message(Samples.watch, [[0x2D, 0x2D, 0xFF]]) == #"unknown option '--\377'"#)
        #expect(message(Samples.watch, [[0x2D, 0xFF]]) == #"unknown option '-\377'"#)
        #expect(message(Samples.watch, [[0x2D, 0x07]]) == #"unknown option '-\007'"#)
    }

    @Test func `the hint of a usage error names the innermost command`() {
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser(Samples.groupctl).parse(words("defaults set g s --nonsense"))
        }
        #expect(error?.hint == "try 'groupctl defaults set --help'")
        #expect(error?.description == "unknown option '--nonsense' (try 'groupctl defaults set --help')")
    }

    @Test func `a malformed time is a usage error that names its option`() throws {
        let parsed = try #require(try arguments(Samples.watch, "--timeout soon g"))
        let error = #expect(throws: UsageError.self) { try parsed.time("timeout") }
        #expect(
            error?.message
                == "--timeout: 'soon' is not a time; a time is like 5s, 2m, 1h, 30d or 250ms; a plain number is in seconds"
        )
        #expect(error?.hint == "try 'watch-group --help'")
        #expect(try arguments(Samples.watch, "g")?.time("timeout") == nil)
    }
}
