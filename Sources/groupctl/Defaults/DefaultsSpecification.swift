import GroupCommandLine
import GroupCommands

extension GroupControl {
    static let defaults = CommandSpecification(
        name: "defaults",
        summary:
            "Reads and sets keys and values that all members share: what UserDefaults(suiteName:) is for an app group. No set is lost, and each is seen at once.",
        usage: ["groupctl defaults COMMAND GROUP SUITE …"],
        subcommands: DefaultsCommand.allCases.map { $0.specification(behind: suite) } + [batch],
        notes: [
            HelpEntry(
                "Values",
                "A text is printed as it is, everything else as JSON; with --json a text is JSON, too. A date is ISO 8601 in UTC, as 2026-11-20T10:00:00Z, data is base 64, both on the way in and out."
            )
        ],
        examples: [
            HelpEntry("groupctl defaults set ./shared/ settings theme dark", "Sets a text."),
            HelpEntry(
                "groupctl defaults increment ./shared/ settings opened", "Adds one; however many do, none is lost."),
            HelpEntry(
                "groupctl defaults set ./shared/ settings --if dark -- theme light",
                "Only if nobody has set another theme meanwhile; else status 4."),
            HelpEntry(
                "groupctl defaults export a/ s --format plist | groupctl defaults import b/ s -",
                "Copies a suite, types included."),
        ])

    private static let suite = [
        group, PositionalSpecification("SUITE", help: "Its name; it comes into being with its first value."),
    ]

    private static let batch = CommandSpecification(
        name: "batch",
        summary:
            "Runs the commands on standard input, one a line, in one process: the words without GROUP and SUITE ('set KEY VALUE'), quoted as for a shell. Answers with a line each: a JSON value, 'ok', or 'error: …', flushed whenever input has run dry. Goes on after an error; ends with 1 if there was any.",
        usage: ["groupctl defaults batch GROUP SUITE"],
        positionals: suite,
        notes: [
            HelpEntry(
                "Quoting",
                "'…' as it is, \"…\" with a backslash before a quote, a backslash, $ and `; nothing is expanded. A newline in a value: set --type json k '\"a\\nb\"'. Blank lines are skipped."
            )
        ],
        examples: [
            HelpEntry(
                "printf 'increment n 2\\nget n\\nset k \"two words\"\\n' | groupctl defaults batch ./shared/ settings",
                "")
        ], exitStatuses: statuses("0", "1=a command failed; its line says why", "66=no such group", "77"))
}

/// The commands over a suite, from the command line and in a batch.
enum DefaultsCommand: String, CaseIterable {
    case get, set, delete, increment, list
    case importing = "import"
    case export, clear, flush

    private static let key = PositionalSpecification("KEY", help: "At most 1,024 bytes.")

    /// Returns the specification of the command. `suite`: the positionals that name the suite; empty in a batch, whose
    /// suite is fixed.
    func specification(behind suite: [PositionalSpecification]) -> CommandSpecification {
        let usage = (["groupctl defaults \(rawValue)"] + suite.map(\.name)).joined(separator: " ")
        return switch self {
        case .get:
            CommandSpecification(
                name: rawValue, summary: "Prints what is set under a key; ends with 66 where nothing is.",
                usage: [usage + " KEY [--default VALUE]"],
                options: [.value("default", "VALUE", help: "Print this text where nothing is set.")],
                positionals: suite + [Self.key],
                examples: [HelpEntry("groupctl defaults get ./shared/ settings theme --default light", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=nothing is set under the key; no such group", "77"))
        case .set: Self.setting(usage, suite)
        case .delete:
            CommandSpecification(
                name: rawValue, summary: "Removes a key; ends with 66 where nothing is set.", usage: [usage + " KEY"],
                positionals: suite + [Self.key],
                examples: [HelpEntry("groupctl defaults delete ./shared/ settings theme", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=nothing was set under the key; no such group", "77"))
        case .increment:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Adds N (1 unless told) to a whole number, and prints the sum; nothing counts as 0. A negative N goes behind '--'. Exact, however many do it at once. Ends with 65 where something else is set.",
                usage: [usage + " KEY [N]"],
                positionals: suite + [Self.key, PositionalSpecification("N", .optional, help: "A whole number.")],
                examples: [HelpEntry("groupctl defaults increment ./shared/ settings opened -- -1", "")],
                exitStatuses: GroupControl.statuses(
                    "0", "64", "65=what is set is no whole number", "66=no such group", "77"))
        case .list:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Prints each key and its value with a TAB between, escaped as watch-group's lines; with --json one object.",
                usage: [usage], positionals: suite,
                examples: [HelpEntry("groupctl defaults list ./shared/ settings --json", "")],
                exitStatuses: GroupControl.statuses("0", "64", "65", "66=no such group", "77"))
        case .importing:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Sets what a file holds: a JSON object, or a property list in XML with a dictionary. All of it at once or, if anything is wrong with it, nothing; other keys stay.",
                usage: [usage + " FILE"],
                positionals: suite + [PositionalSpecification("FILE", help: "A path, or '-' for standard input.")],
                examples: [HelpEntry("groupctl defaults import ./shared/ settings settings.plist", "")],
                exitStatuses: GroupControl.statuses(
                    "0", "64", "65=the file is not what it should be; nothing was set", "66=no such group or file", "77"
                ))
        case .export:
            CommandSpecification(
                name: rawValue,
                summary:
                    "Prints everything that is set. A property list keeps dates (to the second) and data apart from texts, JSON does not.",
                usage: [usage + " [--format json|plist]"],
                options: [
                    .value(
                        "format", "FORMAT", choices: ["json", "plist"],
                        help: "json (the default): one object; plist: XML, version 1.0, as macOS and Python read it.")
                ], positionals: suite,
                examples: [HelpEntry("groupctl defaults export ./shared/ settings --format plist", "")],
                exitStatuses: GroupControl.statuses("0", "64", "65=a value has no form in it", "66=no such group", "77")
            )
        case .clear:
            CommandSpecification(
                name: rawValue, summary: "Removes all keys, as one change.", usage: [usage], positionals: suite,
                examples: [HelpEntry("groupctl defaults clear ./shared/ settings", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=no such group", "77"))
        case .flush:
            CommandSpecification(
                name: rawValue, summary: "Returns once everything that was set is on the disk.", usage: [usage],
                positionals: suite,
                examples: [HelpEntry("groupctl defaults flush ./shared/ settings", "")],
                exitStatuses: GroupControl.statuses("0", "64", "66=no such group", "74", "77"))
        }
    }

    private static func setting(_ usage: String, _ suite: [PositionalSpecification]) -> CommandSpecification {
        CommandSpecification(
            name: "set", summary: "Sets a key. Seen by everybody when it ends.",
            usage: [usage + " [--type TYPE] [--if VALUE] [--durable] [--] KEY VALUE"],
            options: [
                .value(
                    "type", "TYPE", choices: ValueType.allCases.map(\.rawValue),
                    help:
                        "What VALUE is: string (the default), int, double, bool, date (ISO 8601: 2026-11-20T10:00:00Z), data (base 64) or json (an array, an object, or any value)."
                ),
                .value(
                    "if", "VALUE",
                    help: "Only if the key has this value still, as 'get' prints it; else end with status 4."),
                .flag("durable", help: "Return once it is on the disk."),
            ],
            positionals: suite + [
                key, PositionalSpecification("VALUE", help: "One that begins with '-' goes behind '--', with its key."),
            ],
            examples: [
                HelpEntry("groupctl defaults set ./shared/ settings theme dark", ""),
                HelpEntry("groupctl defaults set ./shared/ settings --type date seen 2026-11-20T10:00:00Z", ""),
                HelpEntry(
                    "groupctl defaults set ./shared/ settings --if dark theme light", "Unless somebody was first."),
            ],
            exitStatuses: GroupControl.statuses("0", "4=--if does not hold", "64", "66=no such group", "74", "77"))
    }
}
