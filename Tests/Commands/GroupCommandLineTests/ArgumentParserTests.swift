import GroupCommandLine
import GroupSystemCalls
import Testing

struct ArgumentParserTests {
    @Test(arguments: ["--count=5 notes", "--count 5 notes", "-n5 notes", "-n 5 notes", "notes -n 5", "-0n5 notes"])
    func `an option's value is attached or the next word, before or after the positional`(line: String) throws {
        let parsed = try #require(try arguments(Samples.watch, line))
        #expect(parsed.value("count") == bytes("5"))
        #expect(parsed.positionals == [bytes("notes")])
        #expect(parsed.command == nil)
    }

    @Test func `an option's attached value may be empty or contain an equals sign`() throws {
        #expect(try arguments(Samples.watch, "--include= g")?.value("include") == [])
        #expect(try arguments(Samples.watch, "--include=a=b g")?.value("include") == bytes("a=b"))
        #expect(try arguments(Samples.watch, "-n=5 g")?.value("count") == bytes("=5"))
    }

    @Test func `an option's value may begin with a dash`() throws {
        #expect(try arguments(Samples.watch, "--include --json g")?.value("include") == bytes("--json"))
        #expect(try arguments(Samples.watch, "--include --json g")?.flag("json") == false)
    }

    @Test func `flags of one letter may share a word`() throws {
        let parsed = try #require(try arguments(Samples.watch, "-0q g"))
        #expect(parsed.flag("null") && parsed.flag("quiet") && !parsed.flag("json"))
    }

    @Test func `the last occurrence of an option that is not repeatable counts`() throws {
        #expect(try arguments(Samples.watch, "-n 1 --count 2 g")?.value("count") == bytes("2"))
    }

    @Test func `repeated options of several names keep their order`() throws {
        let parsed = try #require(try arguments(Samples.watch, "--include a --exclude b --include c g"))
        #expect(parsed.values("include") == [bytes("a"), bytes("c")])
        #expect(parsed.occurrences(of: "include", "exclude").map(\.name) == ["include", "exclude", "include"])
    }

    @Test func `two dashes end the options of a command line`() throws {
        let parsed = try #require(try arguments(Samples.groupctl, "read g -- --json"))
        #expect(parsed.positional("PATH") == bytes("--json"))
        #expect(!parsed.flag("json"))
        #expect(try arguments(Samples.groupctl, "read g -- --")?.positional("PATH") == bytes("--"))
    }

    @Test func `a lone dash and an empty word are positionals`() throws {
        #expect(try arguments(Samples.groupctl, [bytes("read"), bytes("-"), []])?.positionals == [bytes("-"), []])
    }

    @Test func `a COMMAND after two dashes keeps its own options`() throws {
        let parsed = try #require(try arguments(Samples.watch, "g -- make --json -- x"))
        #expect(parsed.command == words("make --json -- x"))
        #expect(!parsed.flag("json"))
    }

    @Test func `options may come between the positional and COMMAND`() throws {
        let parsed = try #require(try arguments(Samples.watch, "g --json -- make -n"))
        #expect(parsed.flag("json"))
        #expect(parsed.command == words("make -n"))
    }

    @Test func `a variadic positional takes all words up to the two dashes`() throws {
        let parsed = try #require(try arguments(Samples.groupctl, "lock g a b c -- sort -r"))
        #expect(parsed.positionals("PATH") == words("a b c"))
        #expect(parsed.command == words("sort -r"))
    }

    @Test(arguments: ["--json --timeout 2 remove g p -r", "remove -r --timeout=2 g --json p"])
    func `common options may come before or after the subcommand`(line: String) throws {
        let parsed = try #require(try arguments(Samples.groupctl, line))
        #expect(parsed.commandPath == ["groupctl", "remove"])
        #expect(parsed.flag("json") && parsed.flag("recursive"))
        #expect(try parsed.time("timeout") == .seconds(2))
        #expect(parsed.positionals == words("g p"))
    }

    @Test func `a subcommand of a subcommand comes before the positionals`() throws {
        let parsed = try #require(try arguments(Samples.groupctl, "defaults set g s --type int --quiet -- n -5"))
        #expect(parsed.subcommands == ["defaults", "set"])
        #expect(parsed.namedPositionals.map(\.name) == ["GROUP", "SUITE", "KEY", "VALUE"])
        #expect(parsed.positional("VALUE") == bytes("-5"))
        #expect(parsed.value("type") == bytes("int"))
    }

    @Test(arguments: ["list", "list g", "list g p"])
    func `optional positionals may be left out`(line: String) throws {
        #expect(try arguments(Samples.groupctl, line)?.positionals == Array(words(line).dropFirst()))
    }

    @Test func `a positional that is not UTF-8 keeps its bytes`() throws {
        let name: [UInt8] = [0x66, 0xFF, 0xFE]
        let parsed = try #require(try arguments(Samples.watch, [bytes("--include=") + name, name, bytes("--"), name]))
        #expect(parsed.positional("GROUP") == name)
        #expect(parsed.value("include") == name)
        #expect(parsed.command == [name])
        #expect(name.validText == nil)
        #expect(bytes("é").validText == "é")
        #expect(throws: UsageError.self) { try parsed.text("include") }
    }

    @Test(arguments: ["--help", "-q --help --nonsense", "--json --help g"])
    func `--help ends the parsing where it stands`(line: String) throws {
        guard case .help(let text) = try ArgumentParser(Samples.watch).parse(words(line)) else {
            Issue.record("not help")
            return
        }
        #expect(text.hasPrefix("Usage: watch-group"))
    }

    @Test(arguments: [
        ("-h", "groupctl COMMAND"), ("help", "groupctl COMMAND"), ("help read", "groupctl read"),
        ("defaults set -h", "groupctl defaults set"), ("help defaults set", "groupctl defaults set"),
        ("defaults help set", "groupctl defaults set"), ("--json help read", "groupctl read"),
    ])
    func `--help, the word help and help before a command show the help`(line: String, usage: String) throws {
        guard case .help(let text) = try ArgumentParser(Samples.groupctl).parse(words(line)) else {
            Issue.record("not help")
            return
        }
        #expect(text.hasPrefix("Usage: \(usage)"), "\(text)")
    }

    @Test func `help is a command only if it is the first word`() throws {
        guard case .help = try ArgumentParser(Samples.watch).parse(words("help")) else {
            Issue.record("not help")
            return
        }
        #expect(try arguments(Samples.watch, "--json help")?.positional("GROUP") == bytes("help"))
        #expect(throws: UsageError.self) { try ArgumentParser(Samples.groupctl).parse(words("help nonsense")) }
    }

    @Test func `--version is an option of every subcommand`() throws {
        #expect(try ArgumentParser(Samples.watch).parse(words("-V")) == .version)
        #expect(try ArgumentParser(Samples.watch).parse(words("--version")) == .version)
        #expect(try ArgumentParser(Samples.groupctl).parse(words("defaults set g s --version")) == .version)
    }

    @Test func `--help after two dashes belongs to COMMAND`() throws {
        #expect(try arguments(Samples.watch, "g -- make --help")?.command == words("make --help"))
    }

    @Test func `a flag is found among words that cannot be parsed`() {
        #expect(ArgumentParser.mentions("json", in: words("--nonsense --json")))
        #expect(!ArgumentParser.mentions("json", in: words("--jso -- --json")))
        let parser = ArgumentParser(Samples.groupctl)
        for line in ["read g -q", "--quiet read g", "remove -rq"] {
            #expect(parser.mentions(flag: "quiet", in: words(line)), "\(line)")
        }
        for line in ["read g q", "lock g a -- grep -q", "read --q", "read -xq"] {
            #expect(!parser.mentions(flag: "quiet", in: words(line)), "\(line)")
        }
    }

    @Test func `the arguments of a process do not include its name`() {
        #expect(RawArguments.current().count == CommandLine.arguments.count - 1)
        #expect(!RawArguments.programName().isEmpty)
        #expect(!RawArguments.programName().contains("/"))
    }
}
