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
    func `the nearest option is suggested, an abbreviation is not accepted`(line: String, nearest: String) {
        #expect(message(Samples.watch, words(line))?.hasSuffix("; did you mean '\(nearest)'?") == true)
    }

    @Test func `the nearest command is suggested`() {
        #expect(message(Samples.groupctl, words("raed g p")) == "unknown command 'raed'; did you mean 'read'?")
        #expect(message(Samples.groupctl, words("rem g p")) == "unknown command 'rem'; did you mean 'remove'?")
        #expect(message(Samples.groupctl, words("frobnicate g")) == "unknown command 'frobnicate'")
        #expect(message(Samples.groupctl, [[]]) == "unknown command ''")
    }

    @Test func `a missing value names its placeholder`() {
        #expect(message(Samples.watch, words("g --timeout")) == "option '--timeout' needs a value: TIME")
        #expect(message(Samples.watch, words("g -0n")) == "option '-n' needs a value: N")
    }

    @Test func `a flag takes no value`() {
        #expect(message(Samples.watch, words("--json=yes g")) == "option '--json' takes no value")
        #expect(message(Samples.watch, words("--help=yes g")) == "option '--help' takes no value")
    }

    @Test(arguments: [
        ("read", "missing GROUP"), ("read g", "missing PATH"), ("lock g -- ls", "missing PATH"),
        ("lock g p", "missing COMMAND"), ("lock g p --", "missing COMMAND after '--'"),
        ("defaults g", "missing SUITE"), ("defaults g s", "missing a command, one of: set"),
        ("read g p q", "unexpected argument 'q'"), ("list g p q", "unexpected argument 'q'"),
    ])
    func `what is missing or too many is named`(line: String, expected: String) {
        #expect(message(Samples.groupctl, words(line)) == expected)
    }

    @Test func `a command line without its subcommand lists them`() {
        let expected = "missing a command, one of: read, list, remove, lock, defaults"
        #expect(message(Samples.groupctl, []) == expected)
        #expect(message(Samples.groupctl, words("--json")) == expected)
    }

    @Test func `a negative number is told where to go`() {
        #expect(
            message(Samples.groupctl, words("defaults g s set n -5"))
                == "unknown option '-5'; a negative number goes behind '--'")
    }

    @Test func `an option of a subcommand is unknown before it`() {
        #expect(message(Samples.groupctl, words("--recursive remove g p")) == "unknown option '--recursive'")
        #expect(message(Samples.groupctl, words("-r remove g p")) == "unknown option '-r'")
    }

    @Test func `words of the user cannot write to the terminal`() {
        #expect(message(Samples.groupctl, [bytes("\u{1B}[2J")]) == #"unknown command '\033[2J'"#)
        #expect(message(Samples.watch, [[0x2D, 0x2D, 0xFF]]) == #"unknown option '--\377'"#)
        #expect(message(Samples.watch, [[0x2D, 0xFF]]) == #"unknown option '-\377'"#)
        #expect(message(Samples.watch, [[0x2D, 0x07]]) == #"unknown option '-\007'"#)
    }

    @Test func `the hint names the innermost command`() {
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser(Samples.groupctl).parse(words("defaults g s set --nonsense"))
        }
        #expect(error?.hint == "try 'groupctl defaults set --help'")
        #expect(error?.description == "unknown option '--nonsense' (try 'groupctl defaults set --help')")
    }

    @Test func `a time that is none is a usage error of its option`() throws {
        let parsed = try #require(try arguments(Samples.watch, "--timeout soon g"))
        let error = #expect(throws: UsageError.self) { try parsed.time("timeout") }
        #expect(error?.message == "--timeout: 'soon' is no time; one is like 2, 0.5 (seconds) or 250ms")
        #expect(error?.hint == "try 'watch-group --help'")
        #expect(try arguments(Samples.watch, "g")?.time("timeout") == nil)
    }
}
