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
                "Where to begin: a cursor, start (the oldest change that is kept), now (the default), or snapshot: a 'present' line for each item, a 'bookmark', then what changes."
        ),
        .value(
            "cursor-file", "FILE",
            help:
                "Begin where FILE says and keep it current; if there is none, or an empty one, begin as --since says. With COMMAND it moves on when that has succeeded; with lines when they are written: across a kill of watch-group the last ones may be repeated, none is skipped, but what still stands in a pipe when its reader is killed is not told again. Where that matters, the reader keeps the place itself: --cursor. It stands outside of the container. One follower a file: the next is refused."
        ),
        .flag(
            "bookmarks",
            help: "Print a 'bookmark' line when everything up to its cursor was told and nothing happens for a while."),
        .value("count", letter: "n", "N", help: "End after N lines, or N successful runs of COMMAND."),
        .value(
            "defaults", "SUITE",
            help:
                "The keys of this suite that change, rather than items: --include and --exclude match keys, --kind says set, removed, cleared or present."
        ),
    ] + ChangeText.options + FilterOptions.specifications + [
        .value(
            "settle", "T",
            help:
                "One line a path, once nothing happened to it for so long: what came to nothing is left out, and what was written aside and renamed is told at its place. With COMMAND 100ms, unless told."
        ),
        .value("settle-max", "T", help: "At the latest after so long; ten times --settle, unless told."),
        .flag("null", letter: "0", help: "COMMAND reads paths as they are, each with a NUL behind."),
    ]
        + CommonOptions.specifications(
            timeout:
                "End with status 2 when no line came, or COMMAND did not run, for so long: \(TimeArgument.forms). As long as a COMMAND that failed is to be run again, it does not end."
        ),
    positionals: [
        PositionalSpecification("GROUP", help: "A group identifier or, with a '/' in it, the path of a container.")
    ],
    trailingCommand: .optional,
    description: [
        "Prints a line for each change of the items of a container: first what happened since the place where it is to begin, then what happens, without end. Changes that members make come from the journal, with who made them; those that anything else makes are found, and told as uncoordinated.",
        "A place in the stream is a cursor. A follower that comes back with one gets everything that happened behind it, or one rescan line where that is not kept any more. With COMMAND there are no lines: it is run for what changed.",
    ],
    environment: ContainerEnvironment.variables + [
        HelpEntry("NO_COLOR", "If it is set and not empty, nothing is colored, unless --color always says so.")
    ],
    files: [
        HelpEntry(
            "FILE of --cursor-file",
            "A cursor and a newline, replaced at most 100 ms behind the lines. An empty one counts as none.")
    ],
    seeAlso: ["groupctl(1)", "widget-host(1)", "inotifywait(1)"],
    notes: [
        HelpEntry(
            "Lines",
            "In a pipe KIND<TAB>PATH, and the old path behind another TAB for what moved; tabs, newlines, backslashes, control characters and what is not UTF-8 are escaped. Kinds: created, modified, removed, moved, exchanged, touched (metadata; or the same bytes again, but not by a coordinated write of them, which changes nothing and tells nothing); present and bookmark; rescan: the place was lost, so compare everything, for which '--since snapshot' lists what there is (where that was given, the list follows by itself); degraded: watching is incomplete, and why."
        ),
        HelpEntry(
            "Command",
            "COMMAND is run for each batch of changes that settled, never twice at once, with a path a line on its standard input (of a move both paths) and GROUP_CONTAINER (its whole path; the paths are relative to it, and COMMAND runs where watch-group was started), GROUP_CURSOR (the place behind the batch), GROUP_PATHS (how many), GROUP_RESCAN (1 if the place was lost) and GROUP_FAILURES in its environment. The cursor file moves on only when it ends with 0. If it fails, it is run again after half a second, then one, two, up to a minute, with what changed meanwhile. What it changes itself comes back, unless its purpose is left out: --exclude-purpose. It is killed if watch-group is, and gets the signal that ends watch-group."
        ),
        HelpEntry(
            "Keys",
            "With --defaults a line in a pipe is KIND<TAB>KEY<TAB>VALUE, without VALUE for what is gone; VALUE is what 'groupctl defaults get' prints, escaped. Kinds: set, removed, cleared (all keys, in one line), present; rescan: the place was lost, what is set now, or how it differs, follows up to the next bookmark; degraded: a record is damaged, so something that was set is lost, and why. A snapshot ends with a bookmark, too. JSON lines have old and new; those of a transaction share sequence and cursor. COMMAND reads the keys that changed, each once, and has GROUP_SUITE, GROUP_KEYS, GROUP_CLEARED (1 if all keys were removed) in its environment. Options for which keys have no meaning are refused."
        ),
    ],
    examples: [
        HelpEntry("watch-group group.com.example.todo", "Shows what changes from now on."),
        HelpEntry(
            "watch-group --json --since snapshot ./shared/", "What stands there, and then what changes, as JSON."),
        HelpEntry(
            "watch-group --cursor-file seen ./shared/ | grep -v '^touched'",
            "Goes on where it stopped the last time."),
        HelpEntry(
            "watch-group --include 'Library/**' --exclude '**/*.tmp' --settle 0.2 ./shared/",
            "What is below Library, but for temporary files, once each is quiet."),
        HelpEntry(
            "watch-group --format '%T %e %w%f' --timefmt %H:%M ./shared/", "As inotifywait would say it."),
        HelpEntry(
            "watch-group -0 ./shared/ -- sh -c 'cd \"$GROUP_CONTAINER\"; xargs -0 ls -ld --'",
            "Runs a command with the paths that changed; those of one that failed come again."),
        HelpEntry(
            "watch-group --defaults settings --since snapshot --json ./shared/",
            "The keys and values of a suite, and then what is set."),
    ],
    exitStatuses: [
        HelpEntry("0", "done, or the reader of the output is gone"), HelpEntry("2", "--timeout passed without a line"),
        HelpEntry("1", "any other failure: a limit, for one"),
        HelpEntry("4", "another follower keeps its place in the cursor file"),
        HelpEntry("64", "wrong usage"), HelpEntry("65", "damaged, or a newer format; a damaged cursor file"),
        HelpEntry("66", "no such group"), HelpEntry("74", "input/output error"), HelpEntry("77", "not permitted"),
        HelpEntry("126, 127", "COMMAND may not be run; there is none, which is found at the beginning"),
        HelpEntry("128+n", "ended by signal n, after the cursor file was written"),
    ])
