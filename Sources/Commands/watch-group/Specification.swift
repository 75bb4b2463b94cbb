import GroupCommandLine
import GroupCommands

/// The options and arguments of watch-group.
let watchGroupSpecification = CommandSpecification(
    name: "watch-group",
    summary: "Streams the changes of a group container: every change, in order, once, live.",
    usage: ["watch-group [options] GROUP [-- COMMAND [ARG…]]"],
    options: [
        .value(
            "since", "PLACE", choices: ["start", "now", "snapshot"],
            help:
                "Where to begin: a cursor, start (the oldest change that is kept), now (the default), or snapshot: a 'present' line for each item, a 'bookmark' line, then the changes."
        ),
        .value(
            "cursor-file", "FILE",
            help:
                "Begin at the cursor in FILE, and keep FILE current; if FILE is missing or empty, begin as --since specifies. With COMMAND the cursor advances when COMMAND has succeeded, without it when lines are written: after a kill of watch-group the last lines may be repeated, and none is skipped. But lines that are still in a pipe when its reader is killed are not printed again; if that matters, the reader keeps its own place, with --cursor. FILE must be outside the container. Only one follower can use FILE at a time; a second one is refused."
        ),
        .flag(
            "bookmarks",
            help:
                "Print a 'bookmark' line when all changes up to its cursor were printed and nothing changes for a while."
        ),
        .value(
            "ready-fd", "N",
            help:
                "Write the cursor and a newline to descriptor N once the watch is established: every later change is seen when it happens. N is 1, or one that watch-group has inherited, which is then closed. A line on standard output stands among the lines of changes."
        ),
        .value("count", letter: "n", "N", help: "End after N lines, or N successful runs of COMMAND."),
        .value(
            "defaults", "SUITE",
            help:
                "Follow the keys of this suite instead of items: --include and --exclude match keys, and the kinds for --kind are set, removed, cleared and present."
        ),
    ] + ChangeText.options(times: .clock) + FilterOptions.specifications + [
        .value(
            "settle", "T",
            help:
                "Print one line for a path, after nothing happened to it for T. Changes that cancel each other out are left out, and a file that was written under another name and renamed is reported under its final name. With COMMAND, the default is 100ms."
        ),
        .value("settle-max", "T", help: "Print the line after T at the latest. The default is ten times --settle."),
        .flag(
            "run-at-start",
            help:
                "Run COMMAND once before the first change, with empty input; changes from then on are not missed."
        ),
        .flag(
            "restart",
            help:
                "COMMAND runs on, such as a server: for each batch, it is ended and started again. It gets SIGTERM, with all processes of its group, and after --grace SIGKILL. A COMMAND that ends by itself is started again at the next change. The cursor advances when it is started."
        ),
        .value("grace", "T", help: "With --restart, how long COMMAND may take to end. The default is 5s."),
        .flag("null", letter: "0", help: "Pass paths to COMMAND unescaped, with a NUL after each."),
    ]
        + CommonOptions.specifications(
            timeout:
                "End with status 2 when no line was printed, or COMMAND was not run, for T: \(TimeArgument.forms). This does not end watch-group while a COMMAND that failed is to be run again."
        ),
    positionals: [
        PositionalSpecification("GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")
    ],
    trailingCommand: .optional,
    surplusAdvice: "--include PATTERN chooses items",
    description: [
        "Prints a line for each change of the items of a container: first the changes since the place where it begins, then each change as it happens, without end. Changes by members come from the journal, with the member that made each; changes by other programs are detected, and reported as uncoordinated.",
        "A cursor is a place in the stream. A follower that begins at a cursor gets every change after it, or a rescan line if those changes are no longer kept. With COMMAND no lines are printed; COMMAND is run for the changes.",
    ],
    environment: ContainerEnvironment.variables + [
        HelpEntry("NO_COLOR", "If set and not empty, output is not colored, except with --color always.")
    ],
    files: [
        HelpEntry(
            "FILE of --cursor-file",
            "A cursor and a newline; the file is replaced at most 100 ms after the lines. An empty file counts as missing."
        )
    ],
    seeAlso: ["groupctl(1)", "widget-host(1)", "inotifywait(1)"],
    notes: [
        HelpEntry(
            "Lines",
            "In a pipe, a line is KIND<TAB>PATH, and of a move also a TAB and the old path; tabs, newlines, backslashes, control characters and bytes that are not UTF-8 are escaped. On a terminal, a line has the time, the kind, the path and the author: a purpose and its process; PURPOSE@HOST or @HOST for a change that was made on another machine and was brought here; or uncoordinated. Kinds: created, modified, removed, moved, exchanged, touched (metadata, or an external write of the same bytes; a coordinated write of the same bytes changes nothing and is not reported); present and bookmark; rescan: the place was lost, so compare everything; '--since snapshot' lists the items, and if it was given, the list follows by itself; degraded: watching is incomplete, with the reason."
        ),
        HelpEntry(
            "Command",
            "COMMAND is run for each batch of changes that settled, never twice at once, with one path per line on standard input (of a move, both paths) and these variables in its environment: GROUP_CONTAINER (the container's whole path; the paths are relative to it, and COMMAND runs in the directory where watch-group was started), GROUP_CURSOR (the place after the batch), GROUP_PATHS (the number of paths), GROUP_RESCAN (1 if the place was lost) and GROUP_FAILURES. The cursor file advances only when COMMAND ends with 0. If COMMAND fails, it is run again after half a second, then one, two, up to a minute, with the changes until then. COMMAND also gets its own changes, unless --exclude-purpose leaves out its purpose. COMMAND is killed if watch-group is killed, and gets the signal that ends watch-group."
        ),
        HelpEntry(
            "Keys",
            "With --defaults, a line in a pipe is KIND<TAB>KEY<TAB>VALUE, without VALUE for a removed key; VALUE is the escaped output of 'groupctl defaults get'. Kinds: set, removed, cleared (all keys, in one line), present; rescan: the place was lost, and the keys and values, or their differences, follow up to the next bookmark; degraded: a record is damaged, so a value that was set is lost, with the reason. A snapshot ends with a bookmark, too. JSON lines have old and new; the lines of a transaction share sequence and cursor. COMMAND reads the keys that changed, each once, and has GROUP_SUITE, GROUP_KEYS (their number) and GROUP_CLEARED (1 if all keys were removed) in its environment. Options that have no meaning for keys are refused."
        ),
    ],
    examples: [
        HelpEntry("watch-group group.com.example.todo", "Prints the changes from now on."),
        HelpEntry(
            "watch-group --json --since snapshot ./shared/", "Prints the items, and then the changes, as JSON."),
        HelpEntry(
            "watch-group --cursor-file seen ./shared/ | grep -v '^touched'",
            "Goes on where the last run stopped."),
        HelpEntry(
            "watch-group --include 'Library/**' --exclude '**/*.tmp' --settle 0.2 ./shared/",
            "Prints the changes below Library, except of temporary files, once each file is quiet."),
        HelpEntry(
            "watch-group --ignore-file .gitignore --ignore .git/ ./shared/",
            "Prints the changes that git would show, too."),
        HelpEntry(
            "watch-group --format '%T %e %w%f' --timefmt %H:%M ./shared/", "Prints lines as inotifywait does."),
        HelpEntry(
            "watch-group --ready-fd 3 ./shared/ 3>ready >log & read -r cursor <ready",
            "With a FIFO named ready, goes on once every change will be in the log."),
        HelpEntry(
            "watch-group -0 ./shared/ -- sh -c 'cd \"$GROUP_CONTAINER\"; xargs -0 ls -ld --'",
            "Runs a command with the paths that changed; after a failure, the command gets them again."),
        HelpEntry(
            "watch-group --run-at-start --restart --include 'etc/**' ./shared/ -- ./server",
            "Runs a server, and starts it again when its settings change."),
        HelpEntry(
            "watch-group --defaults settings --since snapshot --json ./shared/",
            "Prints the keys and values of a suite, and then the changes."),
    ],
    exitStatuses: [
        HelpEntry("0", "success, or the reader of the output is gone"),
        HelpEntry("2", "--timeout passed without a line"),
        HelpEntry("1", "any other failure, such as a limit"),
        HelpEntry("4", "another follower uses the cursor file"),
        HelpEntry("64", "wrong usage"), HelpEntry("65", "damaged, or of a newer format; a damaged cursor file"),
        HelpEntry("66", "no such group"), HelpEntry("74", "input/output error"), HelpEntry("77", "not permitted"),
        HelpEntry("126, 127", "COMMAND cannot be executed; COMMAND was not found (checked at the beginning)"),
        HelpEntry("128+n", "ended by signal n, after the cursor file was written"),
    ])
