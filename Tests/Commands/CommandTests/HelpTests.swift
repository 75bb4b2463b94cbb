import Foundation
import TestSupport
import Testing

@Suite
struct `Help of the commands` {
    static let calls: [(program: String, words: [String])] =
        [("groupctl", []), ("watch-group", [])]
        + ["create", "path", "list", "read", "write", "update", "defaults", "changes", "refresh", "status"].map {
            ("groupctl", [$0])
        }

    @Test(arguments: calls)
    func `--help of every command prints its usage and succeeds`(program: String, words: [String]) async throws {
        let outcome = try await RunningProcess(program, words + ["--help"]).finish()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.errors == "")
        let usage = ([program] + words).joined(separator: " ")
        #expect(outcome.lines.first?.hasPrefix("Usage: \(usage)") == true)
        for option in ["--json", "--timeout", "--purpose", "--quiet", "--verbose", "--color", "--help", "--version"] {
            #expect(outcome.text.contains(option))
        }
        #expect(outcome.lines.allSatisfy { $0.count <= 80 }, "a line is wider than a terminal")
    }

    @Test(arguments: calls)
    func `--version of every command prints its version and the format's`(program: String, words: [String]) async throws
    {
        let outcome = try await RunningProcess(program, words + ["--version"]).finish()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.errors == "")
        #expect(
            outcome.text.wholeMatch(of: /(groupctl|watch-group) \d+\.\d+\.\d+\S* \(format \d+\)\n/)?.1 == program[...])
    }

    @Test func `--help of groupctl is a page with a line for each command`() async throws {
        let help = try await RunningProcess("groupctl", ["--help"]).finish()
        let commands = help.lines.filter { $0.hasPrefix("  ") }
        #expect(help.lines.count <= 45, "\(help.lines.count) lines")
        #expect(commands.count > 20 && commands.allSatisfy { $0.wholeMatch(of: #/  [a-z-]+ +[A-Z].*/#) != nil })
    }

    @Test(arguments: [["groupctl", "help", "options"], ["watch-group", "--help"]])
    func `the help of a program lists its exit statuses`(call: [String]) async throws {
        let outcome = try await RunningProcess(call[0], Array(call.dropFirst())).finish()
        let statuses = outcome.text.components(separatedBy: "Exit status:").last ?? ""
        for status in ["0", "64", "65", "66", "74", "77", "128+n"] {
            #expect(statuses.contains("\n  \(status) "), "\(status) is not explained")
        }
    }

    @Test func `the help of a nested command needs no arguments, in each spelling`() async throws {
        for words in [["defaults", "get", "--help"], ["defaults", "get", "-h"], ["help", "defaults", "get"]] {
            let outcome = try await RunningProcess("groupctl", words).finish()
            let usage = "Usage: groupctl defaults get GROUP SUITE KEY"
            #expect(outcome.status == 0 && outcome.lines.first?.hasPrefix(usage) == true, "\(outcome)")
        }
        let all = try await RunningProcess("groupctl", ["defaults", "--help"]).finish()
        for command in ["get", "set", "delete", "increment", "list", "import", "export", "clear", "flush", "batch"] {
            #expect(all.text.contains("\n  \(command) "))
        }
    }

    @Test(arguments: ["groupctl", "widget-host"])
    func `the help of each command has its own examples and exit statuses only`(program: String) async throws {
        func commands(of words: [String]) async throws -> [String] {
            let help = try await RunningProcess(program, ["help"] + words).finish()
            // Of the sections, those of commands: all of a list of commands, else the one with that heading.
            let sections = help.text.components(separatedBy: "\n\n")
            let isList = help.text.contains("'\(program) help options'") && words.isEmpty
            let lists = isList ? sections : Array(sections.filter { $0.hasPrefix("Commands:\n") }.prefix(1))
            return lists.flatMap { section in
                section.split(separator: "\n").compactMap {
                    $0.wholeMatch(of: #/  ([a-z-]+)( .*)?/#).map { String($0.1) }
                }
            }
        }
        var rest = try await commands(of: []).map { [$0] }
        #expect(rest.count > 4)
        while let words = rest.popLast() {
            let inner = try await commands(of: words)
            rest += inner.map { words + [$0] }
            let help = try await RunningProcess(program, ["help"] + words).finish()
            #expect(help.status == 0 && help.text.contains("\nExamples:\n  "), "\(words)")
            #expect(help.text.contains("\nAlso: ") && !help.text.contains("\nCommon options:"), "\(words)")
            if inner.isEmpty { #expect(help.text.contains("\nExit status:\n  "), "\(words)") }
        }
    }

    @Test func `--help takes precedence over errors in other words`() async throws {
        let outcome = try await RunningProcess("groupctl", ["write", "--help", "nowhere", "a", "b", "c"]).finish()
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test(arguments: ["groupctl", "watch-group"])
    func `help into a closed pipe is quiet, and into a full disk an error`(program: String) async throws {
        let closed = try await RunningProcess(program, ["--help"], output: .closedPipe).finish()
        #expect(closed.status == 0 && closed.errors == "", "\(closed)")
        let full = try await RunningProcess(program, ["--help"], output: .file("/dev/full")).finish()
        #expect(full.status == 74 && full.errors.contains("No space left"), "\(full)")
    }
}
