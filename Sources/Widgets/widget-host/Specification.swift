import GroupCommandLine
import GroupCommands

private let group = PositionalSpecification(
    "GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")
private let kind = PositionalSpecification("KIND", help: "The widget's kind.")

/// The options of the commands that start widgets.
private let running: [OptionSpecification] = [
    .value(
        "grace", "T",
        help:
            "How long a widget may take to release its locks before it is suspended. After that, a widget that still holds an item's lock is ended, and a widget that holds a lock on another file goes on. The default is 5 s."
    ),
    .value(
        "opener", "COMMAND",
        help:
            "The command that opens an address for which no app of the container is registered, run as COMMAND URL. The default is xdg-open."
    ),
]

private let common = [HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group, or no such widget")]

/// The subcommands and options of widget-host.
let widgetHostSpecification = CommandSpecification(
    name: "widget-host",
    summary:
        "Shows the widgets of a group container: starts them, keeps them current, suspends those that are not visible.",
    usage: [
        "widget-host show GROUP [options]", "widget-host run GROUP KIND [options]", "widget-host list GROUP",
        "widget-host add|remove GROUP KIND", "widget-host order GROUP KIND…",
    ],
    options: [
        .value(
            "widgets", "DIR",
            help:
                "The directory of the manifests, *.json. The default is $XDG_CONFIG_HOME/widget-host/widgets, and widget-host/widgets in $XDG_DATA_DIRS."
        )
    ]
        + CommonOptions.specifications(
            timeout: "End with status 2 when no line was printed for T; with --once, when it takes longer than T."),
    subcommands: [
        CommandSpecification(
            name: "show", summary: "Shows the widgets on the list, until the host is ended.",
            usage: ["widget-host show GROUP [options]"],
            options: [
                .value("show", "KIND,…", help: "Show only these widgets, in this order, instead of those on the list."),
                .flag(
                    "once", help: "Refresh each widget once, print its view, and end, with status 1 if a widget failed."
                ),
            ] + running,
            positionals: [group],
            examples: [
                HelpEntry("widget-host show ./shared/", ""),
                HelpEntry(
                    "widget-host show ./shared/ --widgets ./widgets --once --json", "Prints what each widget shows now."
                ),
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
                "Runs one widget alone, for debugging: prints the number of its process, sets no deadlines, and does not suspend it. With --verbose, prints the messages to the widget (>) and from the widget (<).",
            usage: ["widget-host run GROUP KIND [options]"], options: running, positionals: [group, kind],
            examples: [HelpEntry("widget-host run ./shared/ next-todo --verbose", "")],
            exitStatuses: [HelpEntry("0", "the widget has ended"), HelpEntry("1", "the widget failed")] + common),
        CommandSpecification(
            name: "list", summary: "Prints the installed widgets: shown or not, kind, title, program.",
            usage: ["widget-host list GROUP"], positionals: [group],
            examples: [HelpEntry("widget-host list ./shared/ --json", "")],
            exitStatuses: [HelpEntry("0", "success"), HelpEntry("65", "a manifest or the list is damaged")] + common),
        CommandSpecification(
            name: "add", summary: "Adds a widget to the end of the list of shown widgets.",
            usage: ["widget-host add GROUP KIND"], positionals: [group, kind],
            examples: [HelpEntry("widget-host add ./shared/ next-todo", "")],
            exitStatuses: [HelpEntry("0", "success, also if the widget was on the list")] + common),
        CommandSpecification(
            name: "remove", summary: "Removes a widget from the list.", usage: ["widget-host remove GROUP KIND"],
            positionals: [group, kind], examples: [HelpEntry("widget-host remove ./shared/ next-todo", "")],
            exitStatuses: [HelpEntry("0", "success, also if the widget was not on the list")] + common),
        CommandSpecification(
            name: "order", summary: "Moves these widgets to the beginning of the list, in this order.",
            usage: ["widget-host order GROUP KIND…"],
            positionals: [
                group, PositionalSpecification("KIND", .variadic, help: "The widgets' kinds."),
            ],
            examples: [HelpEntry("widget-host order ./shared/ next-todo clock", "")],
            exitStatuses: [HelpEntry("0", "success")] + common),
    ],
    usualSubcommand: "show",
    description: [
        "An app's widgets are processes of their own. The host starts them, shows what they render, suspends widgets that are not visible and refreshes them within a budget, and restarts widgets that crash, hang or use too much memory.",
        "In a terminal, the widgets are panels. In a pipe, a line is printed whenever a widget's view or state changes, and commands are read from standard input.",
    ],
    environment: ContainerEnvironment.variables + [
        HelpEntry("XDG_CONFIG_HOME, XDG_DATA_DIRS", "The directories of the manifests, unless --widgets is given."),
        HelpEntry("XDG_STATE_HOME", "The directory of the lists of shown widgets. The default is ~/.local/state."),
    ],
    files: [
        HelpEntry("DIR/*.json", "A manifest for each widget: its kind, its program, its interests."),
        HelpEntry(
            "$XDG_STATE_HOME/widget-host/ID.json", "The list of a container's widgets that are shown to this user."),
    ],
    seeAlso: ["groupctl(1)", "watch-group(1)"],
    notes: [
        HelpEntry(
            "Terminal",
            "If standard input and output are a terminal, the widgets are shown as panels, and keys do what commands do; '?' shows the keys. With --once or --json, and in a pipe, lines are printed instead."
        ),
        HelpEntry(
            "Lines",
            "A line is printed whenever a widget's view or state changes: TIME<TAB>KIND<TAB>STATE<TAB>TEXT[<TAB>NOTE]. The lines of the view are joined by '\\n', a countdown is shown as its end, and tabs, backslashes and control characters are escaped. States: notRunning, starting, active, suspending, suspended, ending; and removed, without a text, when the widget is not shown any more, because it was removed from the list, or its manifest is gone or damaged. NOTE is the reason why the view is not current, and the time of the next attempt."
        ),
        HelpEntry(
            "Commands",
            "Lines on standard input: show KIND and hide KIND (the widget becomes visible, or hidden), expand KIND, collapse KIND, reload [KIND], open KIND [LINE] (opens the widget's address, or that of a line, counted from 1), press KIND LINE (presses the button or toggle that is that line, counted from 1, once it is shown), add KIND, remove KIND, order KIND…, front yes|no (an app is in front), pressure (memory is short), quit."
        ),
        HelpEntry(
            "Lifecycle",
            "A visible widget runs, and is refreshed after each change that concerns it. A hidden widget releases its locks and is stopped, unless it keeps a lock on a file, for which other processes would wait; it is continued for a refresh now and then, within its budget. A widget that crashes, does not answer, sends an invalid message or is too large is ended and started again, after a second, then two, four, up to five minutes; its last view stays. When memory is short (reported by the kernel, by SIGUSR2 or by 'pressure'), the suspended widget that was visible the longest time ago is ended."
        ),
    ],
    examples: [
        HelpEntry("widget-host show group.com.example.todo", "Shows the widgets of a container."),
        HelpEntry(
            "widget-host show --widgets ./widgets --once --json ./shared/",
            "Prints what each widget shows now, one object per line."),
        HelpEntry("widget-host run ./shared/ next-todo --verbose", "Runs one widget alone, and prints all messages."),
        HelpEntry(
            "(echo hide next-todo; cat) | widget-host show ./shared/",
            "Hides a widget, and then reads commands from the terminal."),
    ],
    exitStatuses: [
        HelpEntry("0", "success, ended by 'quit', or the reader of the output is gone"),
        HelpEntry("1", "--once, run: a widget failed"), HelpEntry("2", "--timeout passed without a line"),
        HelpEntry("64", "wrong usage"),
        HelpEntry("65", "a manifest or the list is damaged; list: a manifest has an unknown field"),
        HelpEntry("66", "no such group, or no such widget"), HelpEntry("74", "input/output error"),
        HelpEntry("128+n", "ended by signal n, after the widgets"),
    ])
