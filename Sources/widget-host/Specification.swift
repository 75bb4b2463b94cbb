import GroupCommandLine
import GroupCommands

private let group = PositionalSpecification(
    "GROUP", help: "A group identifier or, with a '/' in it, the path of a container.")
private let kind = PositionalSpecification("KIND", help: "What a container calls the widget.")

/// The options of the commands that start widgets.
private let running: [OptionSpecification] = [
    .value(
        "grace", "T",
        help:
            "How long a widget may take to give back what it holds before it is suspended; then it is ended, if it keeps an item's lock, and goes on, if it keeps a lock on another file. 5 s, unless told."
    ),
    .value(
        "opener", "COMMAND",
        help: "What opens an address that no app of the container has registered: COMMAND URL. xdg-open, unless told."),
]

private let common = [HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group, or no such widget")]

/// The subcommands and options of widget-host.
let widgetHostSpecification = CommandSpecification(
    name: "widget-host",
    summary: "Shows the widgets of a group container: starts them, keeps them true, suspends those nobody sees.",
    usage: [
        "widget-host show GROUP [options]", "widget-host run GROUP KIND [options]", "widget-host list GROUP",
        "widget-host add|remove GROUP KIND", "widget-host order GROUP KIND…",
    ],
    options: [
        .value(
            "widgets", "DIR",
            help:
                "Where the manifests are, *.json; $XDG_CONFIG_HOME/widget-host/widgets and widget-host/widgets in $XDG_DATA_DIRS, unless told."
        )
    ]
        + CommonOptions.specifications(
            timeout: "End with status 2 when no line came for so long; with --once when it took so long."),
    subcommands: [
        CommandSpecification(
            name: "show", summary: "Shows the widgets of the list, until it is ended.",
            usage: ["widget-host show GROUP [options]"],
            options: [
                .value("show", "KIND,…", help: "Show only these, in this order, whatever the list says."),
                .flag("once", help: "Refresh each once, print what it shows, and end: with 1 if one of them failed."),
            ] + running,
            positionals: [group],
            examples: [
                HelpEntry("widget-host show ./shared/", ""),
                HelpEntry("widget-host show ./shared/ --widgets ./widgets --once --json", "What each shows now."),
            ],
            exitStatuses: [
                HelpEntry("0", "ended by 'quit', or the reader of the output is gone"),
                HelpEntry("1", "--once: a widget failed"), HelpEntry("2", "--timeout passed without a line"),
                HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group, or no such widget"),
                HelpEntry("128+n", "ended by signal n, after the widgets"),
            ]),
        CommandSpecification(
            name: "run",
            summary:
                "Runs one widget alone, to be debugged: prints its process's number; nothing is too late, and it is not suspended. With --verbose what it is told (>) and what it says (<).",
            usage: ["widget-host run GROUP KIND [options]"], options: running, positionals: [group, kind],
            examples: [HelpEntry("widget-host run ./shared/ next-todo --verbose", "")],
            exitStatuses: [HelpEntry("0", "the widget has ended"), HelpEntry("1", "it failed")] + common),
        CommandSpecification(
            name: "list", summary: "Prints the widgets that are installed: shown or not, kind, title, program.",
            usage: ["widget-host list GROUP"], positionals: [group],
            examples: [HelpEntry("widget-host list ./shared/ --json", "")],
            exitStatuses: [HelpEntry("0", "done"), HelpEntry("65", "a manifest or the list is damaged")] + common),
        CommandSpecification(
            name: "add", summary: "Puts a widget onto the list of those that are shown, at its end.",
            usage: ["widget-host add GROUP KIND"], positionals: [group, kind],
            examples: [HelpEntry("widget-host add ./shared/ next-todo", "")],
            exitStatuses: [HelpEntry("0", "done, also where it was there")] + common),
        CommandSpecification(
            name: "remove", summary: "Takes a widget off the list.", usage: ["widget-host remove GROUP KIND"],
            positionals: [group, kind], examples: [HelpEntry("widget-host remove ./shared/ next-todo", "")],
            exitStatuses: [HelpEntry("0", "done, also where it was not there")] + common),
        CommandSpecification(
            name: "order", summary: "Puts these first, in this order.", usage: ["widget-host order GROUP KIND…"],
            positionals: [
                group, PositionalSpecification("KIND", .variadic, help: "What a container calls the widgets."),
            ],
            examples: [HelpEntry("widget-host order ./shared/ next-todo clock", "")],
            exitStatuses: [HelpEntry("0", "done")] + common),
    ],
    usualSubcommand: "show",
    description: [
        "An app's widgets are processes of their own. A host starts them, shows what they render, suspends those that nobody sees, refreshes these within a budget, and ends those that crash, hang or use too much memory.",
        "In a terminal the widgets are panels. Through a pipe there is a line whenever one of them looks different, and commands are read from standard input.",
    ],
    environment: ContainerEnvironment.variables + [
        HelpEntry("XDG_CONFIG_HOME, XDG_DATA_DIRS", "Where manifests are, unless --widgets says so."),
        HelpEntry("XDG_STATE_HOME", "Where the list of what is shown is kept; ~/.local/state, unless told."),
    ],
    files: [
        HelpEntry("DIR/*.json", "A manifest for each widget: its kind, its program, what concerns it."),
        HelpEntry("$XDG_STATE_HOME/widget-host/ID.json", "Which widgets of a container this user has shown."),
    ],
    seeAlso: ["groupctl(1)", "watch-group(1)"],
    notes: [
        HelpEntry(
            "Terminal",
            "Where standard input and output are a terminal, the widgets are shown as panels, and keys do what commands do; '?' shows them. With --once or --json, and through a pipe, there are lines instead."
        ),
        HelpEntry(
            "Lines",
            "A line whenever what one widget shows, or does, is different: TIME<TAB>KIND<TAB>STATE<TAB>TEXT[<TAB>NOTE]; the lines of its view are joined by '\\n', one that counts down says until when, and tabs, backslashes and control characters are escaped. States: notRunning, starting, active, suspending, suspended, ending. NOTE says why it does not show what it should, and when it is tried again."
        ),
        HelpEntry(
            "Commands",
            "Lines on standard input: show KIND and hide KIND (it comes into sight, or goes out of it), expand KIND, collapse KIND, reload [KIND], open KIND [LINE] (its address, or a line's, counted from 1), add KIND, remove KIND, order KIND…, front yes|no (an app is in front), pressure (memory is short), quit."
        ),
        HelpEntry(
            "Lifecycle",
            "A widget that is visible runs, and is refreshed after each change that concerns it. One that is hidden gives back what it holds, and is stopped, unless it keeps a lock on any file, which others would wait for; it is continued for a refresh now and then, within its budget. One that crashes, does not answer, says what is no message, or is too large is ended and started again, after a second, then two, four, up to five minutes; its last view stays. When memory is short (the kernel says so, or SIGUSR2, or 'pressure') the suspended widget that nobody has seen for the longest time is ended."
        ),
    ],
    examples: [
        HelpEntry("widget-host show group.com.example.todo", "Shows the widgets that are installed."),
        HelpEntry(
            "widget-host show --widgets ./widgets --once --json ./shared/",
            "What each of them shows now, an object a line."),
        HelpEntry("widget-host run ./shared/ next-todo --verbose", "One widget alone, and all that is said."),
        HelpEntry("(echo hide next-todo; cat) | widget-host show ./shared/", "Driven by a script."),
    ],
    exitStatuses: [
        HelpEntry("0", "done, ended by 'quit', or the reader of the output is gone"),
        HelpEntry("1", "--once, run: a widget failed"), HelpEntry("2", "--timeout passed without a line"),
        HelpEntry("64", "wrong usage"),
        HelpEntry("65", "a manifest or the list is damaged; list: a manifest has a field that there is not"),
        HelpEntry("66", "no such group, or no such widget"), HelpEntry("74", "input/output error"),
        HelpEntry("128+n", "ended by signal n, after the widgets"),
    ])
