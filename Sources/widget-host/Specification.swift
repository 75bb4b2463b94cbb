import GroupCommandLine
import GroupCommands

private let kind = PositionalSpecification("KIND", help: "What a container calls the widget.")

/// What widget-host can be told.
let widgetHostSpecification = CommandSpecification(
    name: "widget-host",
    summary: "Shows the widgets of a group container: starts them, keeps them true, suspends those nobody sees.",
    usage: [
        "widget-host [options] GROUP", "widget-host GROUP run KIND", "widget-host GROUP list",
        "widget-host GROUP add|remove KIND", "widget-host GROUP order KIND…",
    ],
    options: [
        .value(
            "widgets", "DIR",
            help:
                "Where the manifests are, *.json; $XDG_CONFIG_HOME/widget-host/widgets and widget-host/widgets in $XDG_DATA_DIRS, unless told."
        ),
        .value("show", "KIND,…", help: "Show only these, in this order, whatever the list says."),
        .flag("once", help: "Refresh each once, print what it shows, and end: with 1 if one of them failed."),
        .value(
            "grace", "T",
            help:
                "How long a widget may take to give back what it holds before it is suspended; then it is ended. 5 s, unless told."
        ),
        .value(
            "opener", "COMMAND",
            help:
                "What opens an address that no app of the container has registered: COMMAND URL. xdg-open, unless told."
        ),
    ]
        + CommonOptions.specifications(
            timeout: "End with status 2 when no line came for so long; with --once when it took so long."),
    positionals: [
        PositionalSpecification("GROUP", help: "A group identifier or, with a '/' in it, the path of a container.")
    ],
    subcommands: [
        CommandSpecification(
            name: "run",
            summary:
                "Runs one widget alone, to be debugged: prints its process's number; nothing is too late, and it is not suspended. With --verbose what it is told (>) and what it says (<).",
            usage: ["widget-host GROUP run KIND"], positionals: [kind]),
        CommandSpecification(
            name: "list", summary: "Prints the widgets that are installed: shown or not, kind, title, program.",
            usage: ["widget-host GROUP list"]),
        CommandSpecification(
            name: "add", summary: "Puts a widget onto the list of those that are shown, at its end.",
            usage: ["widget-host GROUP add KIND"], positionals: [kind]),
        CommandSpecification(
            name: "remove", summary: "Takes a widget off the list.", usage: ["widget-host GROUP remove KIND"],
            positionals: [kind]),
        CommandSpecification(
            name: "order", summary: "Puts these first, in this order.", usage: ["widget-host GROUP order KIND…"],
            positionals: [PositionalSpecification("KIND", .variadic, help: "What a container calls the widgets.")]),
    ],
    worksAlone: true,
    notes: [
        HelpEntry(
            "Terminal",
            "Where standard input and output are a terminal, the widgets are shown as panels, and keys do what commands do; '?' shows them. With --once or --json, and through a pipe, there are lines instead."
        ),
        HelpEntry(
            "Lines",
            "A line whenever what one widget shows, or does, is different: TIME<TAB>KIND<TAB>STATE<TAB>TEXT[<TAB>NOTE]; the lines of its view are joined by '\\n', and tabs, backslashes and control characters are escaped. States: notRunning, starting, active, suspending, suspended, ending. NOTE says why it does not show what it should, and when it is tried again."
        ),
        HelpEntry(
            "Commands",
            "Lines on standard input: show KIND and hide KIND (it comes into sight, or goes out of it), expand KIND, collapse KIND, reload [KIND], open KIND [LINE] (its address, or a line's, counted from 1), add KIND, remove KIND, order KIND…, front yes|no (an app is in front), pressure (memory is short), quit."
        ),
        HelpEntry(
            "Lifecycle",
            "A widget that is visible runs, and is refreshed after each change that concerns it. One that is hidden gives back what it holds, and is stopped; it is continued for a refresh now and then, within its budget. One that crashes, does not answer, says what is no message, or is too large is ended and started again, after a second, then two, four, up to five minutes; its last view stays. When memory is short (the kernel says so, or SIGUSR2, or 'pressure') the suspended widget that nobody has seen for the longest time is ended."
        ),
    ],
    examples: [
        HelpEntry("widget-host group.com.example.todo", "Shows the widgets that are installed."),
        HelpEntry(
            "widget-host --widgets ./widgets --once --json ./shared/", "What each of them shows now, an object a line."),
        HelpEntry("widget-host ./shared/ run next-todo --verbose", "One widget alone, and all that is said."),
        HelpEntry("(echo hide next-todo; cat) | widget-host ./shared/", "Driven by a script."),
    ],
    exitStatuses: [
        HelpEntry("0", "done, ended by 'quit', or the reader of the output is gone"),
        HelpEntry("1", "--once, run: a widget failed"), HelpEntry("2", "--timeout passed without a line"),
        HelpEntry("64", "wrong usage"), HelpEntry("65", "a manifest or the list is damaged"),
        HelpEntry("66", "no such group, or no such widget"), HelpEntry("74", "input/output error"),
        HelpEntry("128+n", "ended by signal n, after the widgets"),
    ])
