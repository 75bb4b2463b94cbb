import GroupCommandLine
import GroupCommands

extension GroupControl {
    static let defaults = CommandSpecification(
        name: "defaults",
        summary:
            "Reads and sets keys and values that all members share, as UserDefaults(suiteName:) does for an app group. No set is lost, and each set is visible at once.",
        brief: "Reads and sets keys and values that all members share",
        usage: ["groupctl defaults COMMAND GROUP SUITE …"],
        subcommands: DefaultsCommand.allCases.map { $0.specification(behind: suite) } + [batch],
        notes: [
            HelpEntry(
                "Values",
                "A string is printed as it is, any other value as JSON; with --json, a string is printed as JSON, too. In input and output, a date is ISO 8601 in UTC, as 2026-11-20T10:00:00Z, and data is Base64."
            )
        ],
        examples: [
            HelpEntry("groupctl defaults set ./shared/ settings theme dark", "Sets a string."),
            HelpEntry(
                "groupctl defaults increment ./shared/ settings opened", "Adds 1; concurrent additions are not lost."),
            HelpEntry(
                "groupctl defaults set ./shared/ settings --if dark -- theme light",
                "Sets the theme if it is still dark; otherwise ends with status 4."),
            HelpEntry(
                "groupctl defaults export a/ s --format plist | groupctl defaults import b/ s -",
                "Copies a suite with the types of its values."),
        ])

    private static let suite = [
        group, PositionalSpecification("SUITE", help: "The name of a suite. Its first value creates it."),
    ]

    private static let batch = CommandSpecification(
        name: "batch",
        summary:
            "Runs the commands on standard input, one per line, in one process. A line is a command without GROUP and SUITE ('set KEY VALUE'), quoted as for a shell. The answer to each command is a line: a JSON value, 'ok', or 'error: …', flushed whenever no more input is ready. An error does not end the batch, but its status is 1 then.",
        usage: ["groupctl defaults batch GROUP SUITE"],
        positionals: suite,
        notes: [
            HelpEntry(
                "Quoting",
                "In '…' every character stands for itself; in \"…\" a backslash escapes a quote, a backslash, $ and `. Nothing is expanded. A newline in a value: set --type json k '\"a\\nb\"'. Blank lines are skipped."
            )
        ],
        examples: [
            HelpEntry(
                "printf 'increment n 2\\nget n\\nset k \"two words\"\\n' | groupctl defaults batch ./shared/ settings",
                "")
        ], exitStatuses: statuses("0", "1=a command failed; its line has the reason", "66=no such group", "77"))
}

/// The commands over a suite, from the command line and in a batch.
enum DefaultsCommand: String, CaseIterable {
    case get, set, delete, increment, list
    case importing = "import"
    case export, clear, flush

    private static let key = PositionalSpecification("KEY", help: "A key, of at most 1,024 bytes.")

    /// Returns the specification of the command. `suite`: the positionals that name the suite; empty in a batch, whose
    /// suite is fixed.
    func specification(behind suite: [PositionalSpecification]) -> CommandSpecification {
        let usage = (["groupctl defaults \(rawValue)"] + suite.map(\.name)).joined(separator: " ")
        return switch self {
        case .get:
            CommandSpecification(
                name: rawValue, summary: "Prints the value of a key; ends with status 66 if the key is not set.",
                usage: [usage + " KEY [--default VALUE]"],
                options: [.value("default", "VALUE", help: "Print this string if the key is not set.")],
                positionals: suite + [Self.key],
                examples: [HelpEntry("groupctl defaults get ./shared/ settings theme --default light", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=the key is not set; no such group", "77"))
        case .set: Self.setting(usage, suite)
        case .delete:
            CommandSpecification(
                name: rawValue, summary: "Removes a key; ends with status 66 if the key is not set.",
                usage: [usage + " KEY"],
                positionals: suite + [Self.key],
                examples: [HelpEntry("groupctl defaults delete ./shared/ settings theme", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=the key was not set; no such group", "77"))
        case .increment:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Adds N (default: 1) to an integer, and prints the sum; a key that is not set counts as 0. Put '--' before a negative N. Concurrent additions are not lost. Ends with status 65 if the value is not an integer.",
                brief: "Adds a number to an integer, and prints the sum",
                usage: [usage + " KEY [N]"],
                positionals: suite + [Self.key, PositionalSpecification("N", .optional, help: "An integer.")],
                examples: [HelpEntry("groupctl defaults increment ./shared/ settings opened -- -1", "")],
                exitStatuses: GroupControl.statuses(
                    "0", "64", "65=the value is not an integer", "66=no such group", "77"))
        case .list:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Prints each key, a TAB and its value, escaped as watch-group's lines; with --json, one object. Without SUITE, prints the names of the suites.",
                brief: "Prints the keys and values, or the suites",
                usage: suite.isEmpty ? [usage] : ["groupctl defaults list GROUP [SUITE]"],
                positionals: suite.map {
                    $0.name == "SUITE" ? PositionalSpecification("SUITE", .optional, help: $0.help) : $0
                },
                examples: [HelpEntry("groupctl defaults list ./shared/ settings --json", "")],
                exitStatuses: GroupControl.statuses("0", "64", "65", "66=no such group", "77"))
        case .importing:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Sets the keys and values of a file: a JSON object, or an XML property list with a dictionary. All are set at once or, if anything in the file is invalid, none. Other keys stay.",
                usage: [usage + " FILE"],
                positionals: suite + [PositionalSpecification("FILE", help: "A path, or '-' for standard input.")],
                examples: [HelpEntry("groupctl defaults import ./shared/ settings settings.plist", "")],
                exitStatuses: GroupControl.statuses(
                    "0", "64", "65=the file is invalid; nothing was set", "66=no such group or file", "77"
                ))
        case .export:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Prints all keys and values. A property list distinguishes dates (to the second) and data from strings; JSON does not.",
                usage: [usage + " [--format json|plist]"],
                options: [
                    .value(
                        "format", "FORMAT", choices: ["json", "plist"],
                        help: "json (the default): one object; plist: XML, version 1.0, as macOS and Python read it.")
                ], positionals: suite,
                examples: [HelpEntry("groupctl defaults export ./shared/ settings --format plist", "")],
                exitStatuses: GroupControl.statuses(
                    "0", "64", "65=a value cannot be written in this format", "66=no such group", "77")
            )
        case .clear:
            CommandSpecification(
                name: rawValue, summary: "Removes all keys, as one change.", usage: [usage], positionals: suite,
                examples: [HelpEntry("groupctl defaults clear ./shared/ settings", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=no such group", "77"))
        case .flush:
            CommandSpecification(
                name: rawValue, summary: "Waits until everything that was set is on the disk.", usage: [usage],
                positionals: suite,
                examples: [HelpEntry("groupctl defaults flush ./shared/ settings", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=no such group", "74", "77"))
        }
    }

    private static func setting(_ usage: String, _ suite: [PositionalSpecification]) -> CommandSpecification {
        CommandSpecification(
            name: "set", summary: "Sets a key. All members can read the value when the command ends.",
            usage: [usage + " [--type TYPE] [--if VALUE] [--durable] [--] KEY VALUE"],
            options: [
                .value(
                    "type", "TYPE", choices: ValueType.allCases.map(\.rawValue),
                    help:
                        "The type of VALUE: string (the default), int, double, bool, date (ISO 8601: 2026-11-20T10:00:00Z), data (Base64) or json (an array, an object, or any value)."
                ),
                .value(
                    "if", "VALUE",
                    help:
                        "Set the key only if it still has this value, as 'get' prints it; otherwise end with status 4."),
                .flag("durable", help: "Wait until the value is on the disk."),
            ],
            positionals: suite + [
                key, PositionalSpecification("VALUE", help: "The value. If it begins with '-', put '--' before KEY."),
            ],
            examples: [
                HelpEntry("groupctl defaults set ./shared/ settings theme dark", ""),
                HelpEntry("groupctl defaults set ./shared/ settings --type date seen 2026-11-20T10:00:00Z", ""),
                HelpEntry(
                    "groupctl defaults set ./shared/ settings --if dark theme light",
                    "Sets the theme if it is still dark."),
            ],
            exitStatuses: GroupControl.statuses("0", "4=--if does not hold", "64", "66=no such group", "74", "77"))
    }
}
