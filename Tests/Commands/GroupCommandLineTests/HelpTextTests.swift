import GroupCommandLine
import Testing

struct HelpTextTests {
    @Test func `a help text has every section, in order`() {
        #expect(
            HelpText(of: Samples.watch, path: ["watch-group"]).rendered() == """
                Usage: watch-group [options] GROUP [-- COMMAND [ARG…]]

                Print a line for every change in a group container.

                Arguments:
                  GROUP  An identifier, or a path with a '/' in it.

                Options:
                  -n, --count N       End after N lines.
                      --include GLOB  Only paths that match GLOB. May be repeated.
                      --exclude GLOB  No paths that match GLOB. May be repeated.
                  -0, --null          End paths with NUL.

                Common options:
                      --json          Write JSON.
                      --timeout TIME  Give up after TIME.
                  -q, --quiet         Say nothing.
                  -h, --help          Show this help and end.
                  -V, --version       Show the package and format version and end.

                Examples:
                  watch-group notes -- make
                      Run make after every batch of changes.

                Exit status:
                  0   Done.
                  64  Wrong usage.

                """)
    }

    @Test func `the help of a subcommand describes its own options and names the common ones`() throws {
        guard case .help(let text) = try ArgumentParser(Samples.groupctl).parse(words("remove --help")) else {
            Issue.record("not help")
            return
        }
        #expect(text.hasPrefix("Usage: groupctl remove"))
        #expect(text.contains("-r, --recursive  With what is in it."))
        #expect(text.hasSuffix("\nAlso: --json, --timeout, --quiet, --help, --version; see 'groupctl --help'.\n"))
    }

    @Test func `the help of a command lists its subcommands`() {
        let text = HelpText(of: Samples.groupctl, path: ["groupctl"]).rendered()
        #expect(text.contains("\n  read      Print an item\n"))
        #expect(text.hasSuffix("'groupctl help COMMAND' shows the help of a command.\n"))
    }

    private static let many = CommandSpecification(
        name: "many", summary: "Has many commands.", usage: ["many COMMAND"], options: Samples.common,
        subcommands: CommandSpecification.under("Reading", Array(Samples.groupctl.subcommands.prefix(2)))
            + CommandSpecification.under("Writing", Array(Samples.groupctl.subcommands.dropFirst(2))),
        examples: [HelpEntry("many read notes a", "Print a.")], exitStatuses: [HelpEntry("0", "Done.")])

    @Test func `the help of many commands under headings is a list of them, with a line for each`() throws {
        #expect(
            HelpText(of: Self.many, path: ["many"]).rendered() == """
                Usage: many COMMAND

                Has many commands.

                Reading:
                  read      Print an item
                  list      List groups or items

                Writing:
                  remove    Remove an item
                  lock      Run under a lock
                  defaults  Keys and values

                Options: --json, --timeout, --quiet, --help, --version.
                'many help COMMAND' shows the help of a command, 'many help options' describes
                these options, and has the exit statuses and examples.

                """)
    }

    @Test(arguments: ["help options", "help read", "help defaults set"])
    func `what a list of commands leaves out is under 'help options', which the other pages name`(line: String) throws {
        guard case .help(let text) = try ArgumentParser(Self.many).parse(words(line)) else {
            Issue.record("not help")
            return
        }
        if line == "help options" {
            #expect(text.contains("\n      --timeout TIME  Give up after TIME.\n"))
            #expect(
                text.contains("\nExamples:\n  many read notes a\n") && text.contains("\nExit status:\n  0  Done.\n"))
            #expect(!text.contains("Print an item"))
        } else {
            #expect(text.hasSuffix("; see 'many help options'.\n"), "\(text)")
        }
    }

    @Test func `a help text wraps at 80 columns and keeps its indentation`() {
        let long = Array(repeating: "word", count: 40).joined(separator: " ")
        let specification = CommandSpecification(
            name: "c", summary: long, usage: ["c", "c --wide"],
            options: [
                .flag("short", help: long),
                .value("with-a-long-name", "CURSOR|start|snapshot|now", help: long),
            ])
        let lines = HelpText(of: specification, path: ["c"]).rendered().split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines[1] == "       c --wide")
        #expect(lines.contains("      --with-a-long-name CURSOR|start|snapshot|now"))
        #expect(lines.contains { $0.hasPrefix("      --short    word word") })
        #expect(lines.contains { $0.hasPrefix("                 word word") })
    }
}
