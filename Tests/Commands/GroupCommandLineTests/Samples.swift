import GroupCommandLine

/// Commands like the real ones, so that the tests have lines that users type.
enum Samples {
    static let common: [OptionSpecification] = [
        .flag("json", heading: OptionSpecification.commonHeading, help: "Write JSON."),
        .value("timeout", "TIME", heading: OptionSpecification.commonHeading, help: "Give up after TIME."),
        .flag("quiet", letter: "q", heading: OptionSpecification.commonHeading, help: "Say nothing."),
    ]

    static let watch = CommandSpecification(
        name: "watch-group",
        summary: "Print a line for every change in a group container.",
        usage: ["watch-group [options] GROUP [-- COMMAND [ARG…]]"],
        options: [
            .value("count", letter: "n", "N", help: "End after N lines."),
            .repeatable("include", "GLOB", help: "Only paths that match GLOB."),
            .repeatable("exclude", "GLOB", help: "No paths that match GLOB."),
            .flag("null", letter: "0", help: "End paths with NUL."),
        ] + common,
        positionals: [PositionalSpecification("GROUP", help: "An identifier, or a path with a '/' in it.")],
        trailingCommand: .optional,
        examples: [HelpEntry("watch-group notes -- make", "Run make after every batch of changes.")],
        exitStatuses: [HelpEntry("0", "Done."), HelpEntry("64", "Wrong usage.")])

    static let groupctl = CommandSpecification(
        name: "groupctl", summary: "Look after group containers.",
        usage: ["groupctl COMMAND [options] GROUP …"],
        options: common,
        subcommands: [
            CommandSpecification(
                name: "read", summary: "Print an item.", usage: ["groupctl read GROUP PATH"],
                positionals: [PositionalSpecification("GROUP"), PositionalSpecification("PATH")]),
            CommandSpecification(
                name: "list", summary: "List groups or items.", usage: ["groupctl list [GROUP [PATH]]"],
                positionals: [PositionalSpecification("GROUP", .optional), PositionalSpecification("PATH", .optional)]),
            CommandSpecification(
                name: "remove", summary: "Remove an item.", usage: ["groupctl remove [-r] GROUP PATH"],
                options: [.flag("recursive", letter: "r", help: "With what is in it.")],
                positionals: [PositionalSpecification("GROUP"), PositionalSpecification("PATH")]),
            CommandSpecification(
                name: "lock", summary: "Run under a lock.", usage: ["groupctl lock GROUP PATH… -- COMMAND"],
                positionals: [PositionalSpecification("GROUP"), PositionalSpecification("PATH", .variadic)],
                trailingCommand: .required),
            CommandSpecification(
                name: "defaults", summary: "Keys and values.", usage: ["groupctl defaults COMMAND GROUP SUITE"],
                subcommands: [
                    CommandSpecification(
                        name: "set", summary: "Set a key.", usage: ["groupctl defaults set GROUP SUITE KEY VALUE"],
                        options: [.value("type", "TYPE", help: "The type of VALUE.")],
                        positionals: ["GROUP", "SUITE", "KEY", "VALUE"].map { PositionalSpecification($0) })
                ]),
        ])
}

func words(_ line: String) -> [[UInt8]] { line.split(separator: " ").map { Array($0.utf8) } }

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The arguments of a line that is meant to be run; nil for `--help` and `--version`.
func arguments(_ specification: CommandSpecification, _ line: [[UInt8]]) throws -> ParsedArguments? {
    guard case .run(let arguments) = try ArgumentParser(specification).parse(line) else { return nil }
    return arguments
}

func arguments(_ specification: CommandSpecification, _ line: String) throws -> ParsedArguments? {
    try arguments(specification, words(line))
}
