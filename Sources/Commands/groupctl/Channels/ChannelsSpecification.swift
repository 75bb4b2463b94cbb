import GroupCommandLine

extension GroupControl {
    static let channels = CommandSpecification(
        name: "channels",
        summary:
            "Posts and reads messages in channels, which are queues that all members share. Each listener gets every message, in order, until it acknowledges the message.",
        brief: "Posts and reads messages in queues that all members share",
        usage: ["groupctl channels COMMAND GROUP …"],
        subcommands: [post, follow, channelList, channelStatus, acknowledge, removeListener],
        examples: [
            HelpEntry("echo play | groupctl channels post ./shared/ player", "Posts standard input as a message."),
            HelpEntry(
                "groupctl channels follow ./shared/ player --listener lamp -- ./switch",
                "Runs a command for each message, with the message on standard input."),
            HelpEntry("groupctl channels status ./shared/ player", "Shows the listeners, and how far behind each is."),
        ])

    private static let channel = PositionalSpecification(
        "CHANNEL", help: "The name of a channel. Its first message or listener creates it.")
    private static let listener = PositionalSpecification(
        "LISTENER", help: "A listener's name, as 'channels status' shows it.")

    private static let post = CommandSpecification(
        name: "post", summary: "Posts a message: TEXT or, without it, the bytes of standard input.",
        usage: ["groupctl channels post GROUP CHANNEL [TEXT] [--signal] [--durable]"],
        options: [
            .flag("signal", help: "Post a message without content."),
            .flag("durable", help: "Wait until the change is on the disk."),
        ],
        positionals: [
            group, channel,
            PositionalSpecification(
                "TEXT", .optional, help: "The message. If it begins with '-', put '--' before it."),
        ],
        examples: [
            HelpEntry("groupctl channels post ./shared/ player pause", ""),
            HelpEntry(
                "groupctl channels post ./shared/ pictures --durable <cat.png", "Posts a file, of at most 16 MiB."),
        ],
        exitStatuses: statuses(
            "0", "1=the channel is full; the message names the slowest listener", "64", "66=no such group", "74", "77"))

    private static let follow = CommandSpecification(
        name: "follow",
        summary:
            "Prints each message for a listener, or runs COMMAND for it, and acknowledges the message after it was printed or COMMAND has succeeded.",
        usage: ["groupctl channels follow GROUP CHANNEL --listener NAME [options] [-- COMMAND [ARG…]]"],
        options: [
            .value(
                "listener", letter: "l", "NAME",
                help:
                    "The listener's name, which outlives this process. From its first use on, each message is kept until the listener acknowledges it or is removed. A new listener gets no message that was posted before: see --from."
            ),
            .value(
                "from", "PLACE", choices: ["now", "oldest"],
                help:
                    "Where a new listener begins. With now (the default): at the next message that is posted; older messages are dropped if no other listener needs them. With oldest: at the oldest message that is still kept; without listeners, a channel keeps only its newest messages."
            ),
            .value("count", letter: "n", "N", help: "End after N messages, or N successful runs of COMMAND."),
            .flag(
                "no-acknowledge",
                help: "Acknowledge nothing: the next process that uses this listener's name gets the messages again."),
            .value(
                "timeout", letter: "t", "T",
                help: "End with status 2 when no message came for T; with 0, after the waiting messages."),
        ],
        positionals: [group, channel], trailingCommand: .optional,
        notes: [
            HelpEntry(
                "Lines",
                "In a pipe, a line is NUMBER<TAB>TEXT, escaped as watch-group's lines; the line of a signal has no TAB. With --json, a line is an object: channel, number, text (null for a signal), bytes (in Base64, only if the message is not UTF-8), by, time. A message is acknowledged once its line is written to the pipe, whether or not it is read: with '| head', the messages after those that head prints are lost. Use -n for a number of messages, and COMMAND for work that must be done. After a kill of this process, a message may be printed again, and none is skipped. One process at a time can follow under a name; a second process ends with status 4."
            ),
            HelpEntry(
                "Command",
                "COMMAND is run for one message after the other, with the message on standard input and these variables in its environment: GROUP_CONTAINER, GROUP_CHANNEL, GROUP_MESSAGE (the message's number), GROUP_SIGNAL (1 for a signal), GROUP_PURPOSE (the poster's purpose), GROUP_TIME and GROUP_FAILURES. If COMMAND fails, it is run again for the same message after half a second, then one, two, up to a minute; later messages wait. COMMAND is killed if this process is killed, and gets the signal that ends this process."
            ),
        ],
        examples: [
            HelpEntry(
                "groupctl channels follow ./shared/ player -l log --from oldest -t 0",
                "Prints the waiting messages, and ends."),
            HelpEntry(
                "groupctl channels follow ./shared/ jobs -l worker -- ./do-job",
                "Runs do-job for each message until it succeeds."),
        ],
        exitStatuses: statuses(
            "0=--count was reached, or the reader of the output is gone", "2=--timeout passed without a message",
            "4=another process listens under this name", "64", "66=no such group; the listener was removed", "77",
            "126, 127=COMMAND cannot be executed; COMMAND was not found", "128+n"))

    private static let channelList = CommandSpecification(
        name: "list", summary: "Prints the channels: name, messages kept, messages posted so far, number of listeners.",
        usage: ["groupctl channels list GROUP"], positionals: [group],
        examples: [HelpEntry("groupctl channels list ./shared/ --json", "")],
        exitStatuses: statuses("0", "64", "66=no such group", "77"))

    private static let channelStatus = CommandSpecification(
        name: "status",
        summary:
            "Prints the listeners, the furthest behind first: name, last message acknowledged, number of waiting messages, since when, the process that listened last.",
        usage: ["groupctl channels status GROUP CHANNEL"], positionals: [group, channel],
        examples: [HelpEntry("groupctl channels status ./shared/ player --json", "")],
        exitStatuses: statuses("0", "64", "65", "66=no such group or channel", "77"))

    private static let acknowledge = CommandSpecification(
        name: "acknowledge",
        summary: "Acknowledges all messages up to NUMBER for a listener that no process uses now.",
        usage: ["groupctl channels acknowledge GROUP CHANNEL LISTENER NUMBER [--durable]"],
        options: [.flag("durable", help: "Wait until the change is on the disk.")],
        positionals: [
            group, channel, listener, PositionalSpecification("NUMBER", help: "The number of the last message."),
        ],
        examples: [HelpEntry("groupctl channels acknowledge ./shared/ jobs worker 12", "")],
        exitStatuses: statuses(
            "0", "4=a process listens under this name", "64=there is no such message; wrong usage",
            "66=no such group or listener", "77"))

    private static let removeListener = CommandSpecification(
        name: "remove", summary: "Removes a listener, and the messages that are kept only for it.",
        usage: ["groupctl channels remove GROUP CHANNEL LISTENER"], positionals: [group, channel, listener],
        examples: [HelpEntry("groupctl channels remove ./shared/ player lamp", "")],
        exitStatuses: statuses("0", "64", "66=no such group or listener", "77"))
}
