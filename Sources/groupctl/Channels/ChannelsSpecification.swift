import GroupCommandLine

extension GroupControl {
    static let channels = CommandSpecification(
        name: "channels",
        summary:
            "Queues of messages that all members share: each listener gets every message, in order, until it acknowledges it.",
        usage: ["groupctl channels COMMAND GROUP …"],
        subcommands: [post, follow, channelList, channelStatus, acknowledge, removeListener],
        examples: [
            HelpEntry("echo play | groupctl channels post ./shared/ player", "A message from standard input."),
            HelpEntry(
                "groupctl channels follow ./shared/ player --listener lamp -- ./switch",
                "Runs a command for each message, which has it on its standard input."),
            HelpEntry("groupctl channels status ./shared/ player", "Who listens, and how far behind."),
        ])

    private static let channel = PositionalSpecification(
        "CHANNEL", help: "Its name; it comes into being with its first message or listener.")
    private static let listener = PositionalSpecification(
        "LISTENER", help: "A listener's name, as 'channels status' shows it.")

    private static let post = CommandSpecification(
        name: "post", summary: "Posts a message: TEXT, or else what standard input holds, as it is.",
        usage: ["groupctl channels post GROUP CHANNEL [TEXT] [--signal] [--durable]"],
        options: [
            .flag("signal", help: "A message that says nothing but that it came."),
            .flag("durable", help: "Return once it is on the disk."),
        ],
        positionals: [
            group, channel,
            PositionalSpecification(
                "TEXT", .optional, help: "What it says; one that begins with '-' goes behind '--'."),
        ],
        examples: [
            HelpEntry("groupctl channels post ./shared/ player pause", ""),
            HelpEntry("groupctl channels post ./shared/ pictures --durable <cat.png", "At most 16 MiB."),
        ],
        exitStatuses: statuses(
            "0", "1=the channel is full: the slowest listener is named", "64", "66=no such group", "74", "77"))

    private static let follow = CommandSpecification(
        name: "follow",
        summary:
            "Prints each message under a listener's name, or runs COMMAND for it, and acknowledges it once it was printed, or COMMAND has ended with 0.",
        usage: ["groupctl channels follow GROUP CHANNEL --listener NAME [options] [-- COMMAND [ARG…]]"],
        options: [
            .value(
                "listener", letter: "l", "NAME",
                help:
                    "The listener: a name that outlives this process. What is posted from its first time on is kept for it until it is acknowledged, or the listener removed."
            ),
            .value(
                "from", "PLACE", choices: ["now", "oldest"],
                help:
                    "Where a listener begins that is there for the first time: now (the default): it gets what is posted from then on, and nothing that was kept before; where it is the only one, that is dropped. Or oldest: what is kept for other listeners, too, or, where nobody has listened, the newest messages."
            ),
            .value("count", letter: "n", "N", help: "End after N messages, or N successful runs of COMMAND."),
            .flag(
                "no-acknowledge", help: "Acknowledge nothing: all of it comes again, to the next process that listens."),
            .value(
                "timeout", letter: "t", "T",
                help: "End with status 2 when no message came for so long; 0: once all were told."),
        ],
        positionals: [group, channel], trailingCommand: .optional,
        notes: [
            HelpEntry(
                "Lines",
                "In a pipe NUMBER<TAB>TEXT, escaped as watch-group's lines; a signal has no TAB. With --json an object each: channel, number, text (and bytes, in base 64, where it is not UTF-8; both null for a signal), by, time. A message is acknowledged once its line is written to the pipe, read or not: with '| head' those behind the last that it shows are lost. For some of them say -n, and for work that must be done COMMAND. After a kill of this process a message may be told again, none is skipped. One process at a time listens under a name; another one ends with 4."
            ),
            HelpEntry(
                "Command",
                "COMMAND is run for one message after the other, with its content on standard input and GROUP_CONTAINER, GROUP_CHANNEL, GROUP_MESSAGE (its number), GROUP_SIGNAL (1 if it is one), GROUP_PURPOSE (its poster), GROUP_TIME and GROUP_FAILURES in its environment. If it fails, it is run again for the same message after half a second, then one, two, up to a minute; later messages wait. It is killed if this process is, and gets the signal that ends it."
            ),
        ],
        examples: [
            HelpEntry(
                "groupctl channels follow ./shared/ player -l log --from oldest -t 0",
                "What is waiting, and ends."),
            HelpEntry(
                "groupctl channels follow ./shared/ jobs -l worker -- ./do-job",
                "Each until it succeeds."),
        ],
        exitStatuses: statuses(
            "0=--count is reached, or the reader of the output is gone", "2=--timeout passed without a message",
            "4=another process listens under that name", "64", "66=no such group; the listener was removed", "77",
            "126, 127=COMMAND may not be run; there is none", "128+n"))

    private static let channelList = CommandSpecification(
        name: "list", summary: "Prints the channels: name, messages kept, posts so far, listeners.",
        usage: ["groupctl channels list GROUP"], positionals: [group],
        examples: [HelpEntry("groupctl channels list ./shared/ --json", "")],
        exitStatuses: statuses("0", "64", "66=no such group", "77"))

    private static let channelStatus = CommandSpecification(
        name: "status",
        summary:
            "Prints the listeners, the one that is the furthest behind first: name, number acknowledged, how many wait, since when, who listened last.",
        usage: ["groupctl channels status GROUP CHANNEL"], positionals: [group, channel],
        examples: [HelpEntry("groupctl channels status ./shared/ player --json", "")],
        exitStatuses: statuses("0", "64", "65", "66=no such group or channel", "77"))

    private static let acknowledge = CommandSpecification(
        name: "acknowledge",
        summary: "Marks all messages up to NUMBER as done for a listener that nobody listens as now.",
        usage: ["groupctl channels acknowledge GROUP CHANNEL LISTENER NUMBER [--durable]"],
        options: [.flag("durable", help: "Return once it is on the disk.")],
        positionals: [group, channel, listener, PositionalSpecification("NUMBER", help: "Of the last one.")],
        examples: [HelpEntry("groupctl channels acknowledge ./shared/ jobs worker 12", "")],
        exitStatuses: statuses(
            "0", "4=somebody listens under that name", "64=there is no such message; wrong usage",
            "66=no such group or listener", "77"))

    private static let removeListener = CommandSpecification(
        name: "remove", summary: "Forgets a listener, and what is kept for nobody else.",
        usage: ["groupctl channels remove GROUP CHANNEL LISTENER"], positionals: [group, channel, listener],
        examples: [HelpEntry("groupctl channels remove ./shared/ player lamp", "")],
        exitStatuses: statuses("0", "64", "66=no such group or listener", "77"))
}
