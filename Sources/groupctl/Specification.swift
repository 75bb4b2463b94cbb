import GroupCommandLine
import GroupCommands

/// What groupctl can be told.
enum GroupControl {
    static let specification = CommandSpecification(
        name: "groupctl",
        summary: "Makes, reads, changes and shows group containers: folders that an app and its widgets share.",
        usage: ["groupctl COMMAND GROUP … [options]"],
        options: CommonOptions.specifications(
            timeout: "How long to wait for a lease: 2, 0.5 (seconds) or 250ms; 30 s unless told; 0 is one try."),
        subcommands: [
            create, path, list, read, write, update, mkdir, remove, move, copy, lock, defaults, changes,
            refresh, status, doctor, deleteGroup,
        ],
        examples: [
            HelpEntry("groupctl create group.com.example.todo", "Makes a container for this user."),
            HelpEntry(
                "date | groupctl write ./shared/ now.txt", "Replaces a file: atomically, durably, under a lease."),
            HelpEntry("groupctl update ./shared/ n -- awk '{n=$1} END {print n+1}'", "Adds one; nobody's one is lost."),
        ],
        exitStatuses: [
            HelpEntry("0", "done, also when nothing had to change"), HelpEntry("1", "any other failure"),
            HelpEntry("3", "refresh: noData; elsewhere, with --exit-code: unchanged"), HelpEntry("4", "conflict"),
            HelpEntry("64", "wrong usage"),
            HelpEntry("65", "damaged, or a newer format; content that is not what it should be"),
            HelpEntry("66", "no such group, item or key"),
            HelpEntry("69", "this file system cannot do it"), HelpEntry("74", "input/output error, disk full"),
            HelpEntry("75", "lease not granted in time; the holder is named"),
            HelpEntry("77", "not permitted; leads out of the container"),
            HelpEntry("128+n", "ended by signal n"),
        ])

    static let group = PositionalSpecification(
        "GROUP", help: "A group identifier or, with a '/' in it, the path of a container.")
    private static let item = PositionalSpecification("PATH", help: "An item, relative to the container's root.")
    private static let relaxed = OptionSpecification.flag(
        "relaxed", help: "Atomic and visible, but do not wait for the disk.")
    private static let exitCode = OptionSpecification.flag(
        "exit-code", help: "Exit with 3 when the item had this content already.")

    private static let create = CommandSpecification(
        name: "create",
        summary:
            "Makes a container; does nothing where there is one. A folder that is there becomes private (0700), unless its mode shares it (setgid, writable by its group). It may lie in another container, not in a .group.",
        usage: [
            "groupctl create GROUP [--unix-group NAME]",
            "groupctl create GROUP [--journal-size SIZE] [--journal-age AGE]",
        ],
        options: [
            .value(
                "unix-group", "NAME",
                help:
                    "Share it with this Unix group (mode 2770) rather than keep it to oneself (0700). GROUP is a path then; a container that is there and not shared with it ends it with 4."
            ),
            .value(
                "journal-size", "SIZE",
                help:
                    "Drop the oldest changes from the journal beyond this: 64M (the default), 512K, 1G; of a new container."
            ),
            .value(
                "journal-age", "AGE",
                help: "Drop changes older than this: 30d (the default), 12h, or a time in seconds; of a new container."),
        ],
        positionals: [group])

    private static let deleteGroup = CommandSpecification(
        name: "delete-group",
        summary:
            "Deletes a container with everything in it, unless somebody has it open: then it names them and ends with 75. Without --yes it says what would go and ends with 64. Interrupted, it can be run again.",
        usage: ["groupctl delete-group GROUP --yes"],
        options: [.flag("yes", help: "Do it.")], positionals: [group])

    private static let path = CommandSpecification(
        name: "path", summary: "Prints where a container is.", usage: ["groupctl path GROUP"], positionals: [group],
        examples: [HelpEntry("ls \"$(groupctl path group.com.example.todo)\"", "")])

    private static let list = CommandSpecification(
        name: "list", summary: "Lists the containers of this user, or the items of one.",
        usage: ["groupctl list [GROUP [PATH]]"],
        positionals: [
            PositionalSpecification("GROUP", .optional, help: "Its items, rather than all containers."),
            PositionalSpecification("PATH", .optional, help: "A folder in it."),
        ])

    private static let read = CommandSpecification(
        name: "read", summary: "Prints an item's content, read under a shared lease.",
        usage: ["groupctl read GROUP PATH [--generation-file FILE]"],
        options: [
            .value(
                "generation-file", "FILE",
                help: "Once the content is printed, write its generation to FILE, for --if-generation.")
        ],
        positionals: [group, item])

    private static let write = CommandSpecification(
        name: "write",
        summary:
            "Replaces an item by standard input: atomically, durably, under an exclusive lease. Folders on the way are made.",
        usage: ["groupctl write GROUP PATH [--relaxed] [--mode OCTAL] [--if-generation N]"],
        options: [
            relaxed,
            .value(
                "if-generation", "N",
                help:
                    "Write only if the item is at this generation still, or, with absent, if nothing stands there; else end with status 4."
            ),
            .value("mode", "OCTAL", help: "Its mode; otherwise the mode and owner of what is replaced are kept."),
            exitCode,
        ],
        positionals: [group, item])

    private static let update = CommandSpecification(
        name: "update",
        summary:
            "Runs COMMAND with an item's content on its standard input, and replaces it by what COMMAND prints; all under one exclusive lease. An absent item is empty. If COMMAND fails, nothing is written and its status is passed on.",
        usage: ["groupctl update GROUP PATH [--relaxed] -- COMMAND [ARG…]"], options: [relaxed, exitCode],
        positionals: [group, item], trailingCommand: .required)

    private static let noReplace = OptionSpecification.flag(
        "no-replace", letter: "n", help: "End with status 4 if something stands at TO, rather than replace it.")
    private static let from = PositionalSpecification("FROM", help: "An item, relative to the container's root.")
    private static let to = PositionalSpecification(
        "TO", help: "Its new path: not the folder to put it into. Folders on the way are made.")

    private static let mkdir = CommandSpecification(
        name: "mkdir", summary: "Makes a folder, and those on the way; does nothing where there is one.",
        usage: ["groupctl mkdir GROUP PATH [--relaxed]"],
        options: [relaxed, .flag("exit-code", help: "Exit with 3 when the folder was there already.")],
        positionals: [group, item])

    private static let remove = CommandSpecification(
        name: "remove",
        summary:
            "Removes an item, of a symbolic link the link; a folder that has something in it with -r only, and then all of it at once.",
        usage: ["groupctl remove GROUP PATH [-r] [--relaxed]"],
        options: [.flag("recursive", letter: "r", help: "A folder goes with everything in it."), relaxed],
        positionals: [group, item])

    private static let move = CommandSpecification(
        name: "move",
        summary:
            "Moves an item, a folder with everything in it, at once. What stands at TO is replaced, if it is a file or an empty folder.",
        usage: ["groupctl move GROUP FROM TO [-n] [--relaxed]"], options: [noReplace, relaxed],
        positionals: [group, from, to])

    private static let copy = CommandSpecification(
        name: "copy",
        summary:
            "Copies a file with its mode, owner and extended attributes, without copying the bytes where the file system can. A file at TO is replaced atomically. A folder with -r only: with everything in it, at once; an empty folder at TO is replaced.",
        usage: ["groupctl copy GROUP FROM TO [-r] [-n] [--relaxed]"],
        options: [
            .flag("recursive", letter: "r", help: "A folder goes with everything in it."), noReplace, relaxed,
            .flag("exit-code", help: "Exit with 3 when TO was the same already."),
        ],
        positionals: [group, from, to])

    private static let lock = CommandSpecification(
        name: "lock",
        summary:
            "Runs COMMAND while it holds the lease on all of the items: alone, or with other readers. COMMAND itself cannot outlive the lease; what it leaves running in the background can. Its exit status is passed on; 126: it may not be run, 127: there is none.",
        usage: ["groupctl lock GROUP PATH… [--shared] -- COMMAND [ARG…]"],
        options: [
            .flag("shared", help: "For reading: other readers go on, writers wait."),
            .value(
                "conflict-exit-code", "N", help: "Exit with N, rather than 75, when the lease is not granted in time."),
        ],
        positionals: [group, PositionalSpecification("PATH", .variadic, help: "Items; they need not exist.")],
        trailingCommand: .required,
        examples: [
            HelpEntry("groupctl lock ./shared/ a.db b.db -- sqlite3 …", "Nobody who asks for them comes in between.")
        ])

    private static let changes = CommandSpecification(
        name: "changes", summary: "Prints what happened since a place, and ends.",
        usage: ["groupctl changes GROUP --since CURSOR|start [options]"],
        options: [.value("since", "PLACE", help: "A cursor, or start: the oldest change that is kept.")]
            + ChangeText.options + FilterOptions.specifications,
        positionals: [group])

    private static let refresh = CommandSpecification(
        name: "refresh",
        summary:
            "Decides whether there is something new for a widget: prints newData, noData or failed as the last line. With COMMAND, its standard output is the widget's snapshot: kept, and compared with the last one; the place moves on only when it succeeds.",
        usage: ["groupctl refresh GROUP WIDGET [--interest WHAT]… [-- COMMAND [ARG…]]"],
        options: [
            .repeatable(
                "interest", "WHAT",
                help:
                    "What concerns the widget: items whose path matches a pattern, or, as defaults:SUITE or defaults:SUITE:KEY, keys that are set; all items, if nothing is given. What is only touched (mode, owner, dates) is noData, unless metadata:PATTERN matches it."
            )
        ],
        positionals: [
            group, PositionalSpecification("WIDGET", help: "The widget's kind: letters, digits, '.', '-', '_'."),
        ],
        trailingCommand: .optional)

    private static let status = CommandSpecification(
        name: "status",
        summary:
            "Shows the members, what each holds or waits for and since when, the journal, the steward, and the suites and channels with who listens and how far behind.",
        usage: ["groupctl status GROUP"], positionals: [group])

    private static let doctor = CommandSpecification(
        name: "doctor",
        summary:
            "Says what is wrong with a container, also one that cannot be opened: why nothing arrives, who is in the way, what is damaged; why it matters, and what would mend it. Ends with 0 if it is healthy, notes aside, and with 1 if something was found.",
        usage: ["groupctl doctor GROUP [--repair]"],
        options: [
            .flag(
                "repair",
                help:
                    "Mend what can be mended, and say what was done: changes that members died over, the journal, the catalog, leftovers; and where nobody has the container open, suites, channels and other files of .group."
            )
        ],
        positionals: [group],
        examples: [HelpEntry("groupctl doctor --json ./shared/ | jq -r .code", "An object for each finding.")])
}
