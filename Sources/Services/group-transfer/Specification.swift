import GroupCommandLine
import GroupCommands

private let group = PositionalSpecification(
    "GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")
private let identifier = PositionalSpecification("ID", help: "The identifier of a transfer, as `list` prints it.")

private let queueing: [OptionSpecification] = [
    .flag(
        "wait", letter: "w", help: "Wait until the transfer is over, with a bar on a terminal; else it is only queued."),
    .value("opening", "URL", help: "The URL of the app to open when the transfer is over, if the app does not listen."),
    .repeatable(
        "field", "FIELD",
        help:
            "A field of the requests, such as 'Authorization: Bearer {token}', where {token} is a secret of the group."),
    .value("give-up-after", "T", help: "The time after which the transfer is given up. The default is 7 days."),
]

/// The arguments, options and help of group-transfer.
let groupTransferSpecification = CommandSpecification(
    name: "group-transfer",
    summary: "Loads files from servers into a container, and sends files, also after the caller has ended.",
    usage: ["group-transfer COMMAND GROUP … [options]"],
    options: CommonOptions.specifications(
        timeout: "How long to wait with --wait, and for the container. The default is no limit for the transfer."),
    subcommands: [
        CommandSpecification(
            name: "download", summary: "Queues a download, prints its identifier, and starts it.",
            usage: ["group-transfer download GROUP URL PATH [options]"],
            options: [
                .value("sha256", "HEX", help: "The SHA-256 that the file has."),
                .value("length", "N", help: "The length that the file has, in bytes."),
            ] + queueing,
            positionals: [
                group, PositionalSpecification("URL", help: "An http or https address."),
                PositionalSpecification("PATH", help: "The item that the file becomes."),
            ],
            examples: [
                HelpEntry("group-transfer download --wait ./shared/ https://example.com/map.pdf Maps/town.pdf", "")
            ],
            exitStatuses: statuses),
        CommandSpecification(
            name: "upload", summary: "Queues an upload of a copy of FILE by PUT, prints its identifier, and starts it.",
            usage: ["group-transfer upload GROUP FILE URL [options]"], options: queueing,
            positionals: [
                group, PositionalSpecification("FILE", help: "The file, which is copied first."),
                PositionalSpecification("URL", help: "An http or https address."),
            ],
            exitStatuses: statuses),
        CommandSpecification(
            name: "list",
            summary: "Prints the transfers: ID<TAB>STATE<TAB>BYTES<TAB>TOTAL<TAB>PATH<TAB>URL<TAB>REASON.",
            usage: ["group-transfer list GROUP"], positionals: [group], exitStatuses: statuses),
        CommandSpecification(
            name: "wait", summary: "Waits until a transfer is over.", usage: ["group-transfer wait GROUP ID"],
            positionals: [group, identifier], exitStatuses: statuses),
        CommandSpecification(
            name: "cancel", summary: "Cancels a transfer.", usage: ["group-transfer cancel GROUP ID"],
            positionals: [group, identifier], exitStatuses: statuses),
        CommandSpecification(
            name: "run", summary: "Makes the transfers that wait, and ends when there are none left.",
            usage: ["group-transfer run GROUP [options]"],
            options: [
                .value("parallel", "N", help: "The transfers at a time. The default is 4."),
                .value(
                    "stall", "SECONDS", help: "Give up a connection without a byte for that long. The default is 60."),
                .value(
                    "retry-after", "T",
                    help: "The time before the second attempt; it doubles each time. The default is 1 s."),
            ],
            positionals: [group],
            description: [
                "The program is started by whatever queues a transfer; after a restart of the machine, by the next use of the container's transfers. To have it started at login, run it as a service of the user's systemd, or from the desktop's autostart."
            ],
            exitStatuses: statuses),
    ],
    description: [
        "A transfer is recorded in the container before its identifier is printed. The transfer goes on when its caller has ended or was killed, is resumed where the server can say that the file is still the same, and becomes the item as a whole."
    ],
    environment: ContainerEnvironment.variables + [ContainerEnvironment.color], files: ContainerEnvironment.files,
    seeAlso: ["groupctl(1)", "curl(1)"],
    examples: [
        HelpEntry(
            "group-transfer download --wait ./shared/ https://example.com/map.pdf Maps/town.pdf",
            "Downloads a file, and waits until it is there.")
    ],
    exitStatuses: statuses)

private let statuses = [
    HelpEntry("0", "success; with --wait and for wait: the file is there, or was sent"),
    HelpEntry("1", "the transfer has failed; the message says why"),
    HelpEntry("3", "the transfer was cancelled, or is over"),
    HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group or transfer"), HelpEntry("74", "input/output error"),
    HelpEntry("75", "the time is over; the transfer goes on"),
]
