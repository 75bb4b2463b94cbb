import GroupCommandLine
import GroupCommands

/// The commands for items, whose changes the cluster decides, and for locks.
enum ItemSpecifications {
    static let group = PositionalSpecification(
        "GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")
    private static let item = PositionalSpecification(
        "PATH", help: "The path of an item, relative to the container's root.")
    private static let from = PositionalSpecification(
        "FROM", help: "The path of an item, relative to the container's root.")
    private static let to = PositionalSpecification(
        "TO",
        help: "The new path of the item, not the directory to put it into. Missing directories on the path are created."
    )
    private static let noReplace = OptionSpecification.flag(
        "no-replace", letter: "n", help: "End with status 4 if TO exists, instead of replacing it.")
    private static let exitCode = OptionSpecification.flag(
        "exit-code", help: "End with status 3 if nothing had to change.")

    static let description =
        "All machines have the change, or none: the command returns when the cluster has accepted it and it is made here. The machine's group-cluster join has to run. --timeout limits the wait for the locks of this machine, and then the wait for the cluster."

    static let statuses = [
        HelpEntry("0", "success"), HelpEntry("3", "--exit-code: nothing had to change"),
        HelpEntry("4", "an item was changed meanwhile, here or on another machine; nothing was changed"),
        HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group or item"),
        HelpEntry("69", "the cluster was not reached; nothing was changed"), HelpEntry("74", "input/output error"),
        HelpEntry("75", "the lock was not granted in time"),
        HelpEntry("76", "the answer was lost: the change may be made or not; the message names the operation"),
        HelpEntry("77", "not permitted, or the path leads out of the container"),
    ]

    static func statuses(without terms: String...) -> [HelpEntry] { statuses.filter { !terms.contains($0.term) } }

    static let all = [read, write, update, mkdir, copy, move, remove, resolve, lock]

    private static let read = CommandSpecification(
        name: "read", summary: "Prints an item when this machine has all that the cluster had accepted by now.",
        usage: ["group-cluster read GROUP PATH [--generation-file FILE]"],
        options: [
            .value(
                "generation-file", "FILE",
                help:
                    "After printing the content, write its generation to FILE, outside the container, for --if-generation."
            )
        ],
        positionals: [group, item],
        description: [
            "It waits until this machine has caught up, which asks a majority of etcd's nodes, and then reads as groupctl read does."
        ],
        exitStatuses: statuses(without: "3", "4", "76"))

    private static let write = CommandSpecification(
        name: "write", summary: "Replaces an item with standard input, at most 64 MiB, on all machines.",
        usage: ["group-cluster write GROUP PATH [--if-generation N] [--mode OCTAL]"],
        options: [
            .value(
                "if-generation", "N",
                help:
                    "Write only if the item is still at generation N of this machine or, with 'absent', if there is no such item; otherwise end with status 4."
            ),
            .value("mode", "OCTAL", help: "The file's mode, at most 0777. Without it, the mode stays as it is."),
            exitCode,
        ],
        positionals: [group, item],
        surplusAdvice: "the content comes from standard input: echo TEXT | group-cluster write GROUP PATH",
        description: [description], examples: [HelpEntry("date | group-cluster write ./shared/ now.txt", "")],
        exitStatuses: statuses)

    private static let update = CommandSpecification(
        name: "update",
        summary: "Replaces an item with what COMMAND makes of its content, on all machines.",
        usage: ["group-cluster update GROUP PATH [--locked] -- COMMAND [ARG…]"],
        options: [
            .flag(
                "locked",
                help:
                    "Run COMMAND on one machine of the cluster at a time, with a lock of the cluster and none of this machine. If the lock was lost meanwhile, the command ends with status 4."
            ),
            .flag(
                "allow-empty",
                help: "Let the item become empty where COMMAND prints nothing; without it, that is an error."),
            exitCode,
        ],
        positionals: [group, item], trailingCommand: .required,
        description: [
            "COMMAND gets the content on its standard input. If the item is changed while COMMAND runs, here or on another machine, by whatever program, nothing is written, and the command ends with status 4.",
            description,
        ],
        examples: [
            HelpEntry(
                "group-cluster update ./shared/ n -- awk '{ n = $1 } END { print n + 1 }'",
                "Adds 1; run it again where it ends with status 4."),
            HelpEntry("group-cluster update ./shared/ n --locked -- ./next", "Runs ./next on one machine at a time."),
        ],
        exitStatuses: statuses + [
            HelpEntry("65", "COMMAND printed nothing, and the item has contents"),
            HelpEntry("126, 127", "COMMAND cannot be executed; COMMAND was not found"),
            HelpEntry("N", "COMMAND's status"),
        ])

    private static let mkdir = CommandSpecification(
        name: "mkdir", summary: "Creates a directory, and those on its path, on all machines.",
        usage: ["group-cluster mkdir GROUP PATH"], options: [exitCode], positionals: [group, item],
        description: [description], exitStatuses: statuses)

    private static let copy = CommandSpecification(
        name: "copy", summary: "Copies a file's content and permissions, on all machines.",
        usage: ["group-cluster copy GROUP FROM TO [-n]"], options: [noReplace, exitCode],
        positionals: [group, from, to], description: [description], exitStatuses: statuses)

    private static let move = CommandSpecification(
        name: "move", summary: "Moves an item, on all machines at once.",
        usage: ["group-cluster move GROUP FROM TO [-n]"], options: [noReplace], positionals: [group, from, to],
        description: [description], exitStatuses: statuses(without: "3"))

    private static let remove = CommandSpecification(
        name: "remove", summary: "Removes an item, on all machines.",
        usage: ["group-cluster remove GROUP PATH [-r]"],
        options: [.flag("recursive", letter: "r", help: "A directory goes with everything in it.")],
        positionals: [group, item], description: [description], exitStatuses: statuses(without: "3"))

    private static let lock = CommandSpecification(
        name: "lock", summary: "Runs COMMAND while this machine, and no other, has a lock of the cluster.",
        usage: ["group-cluster lock GROUP NAME -- COMMAND [ARG…]"],
        positionals: [
            group, PositionalSpecification("NAME", help: "The name of the lock, 1 to 1,000 bytes of UTF-8."),
        ],
        trailingCommand: .required,
        description: [
            "The lock ends with COMMAND, with this command, or 15 s after the machine was last connected to etcd: after that, another machine may have it although COMMAND runs. Then this command ends with status 4, and with 69 where etcd does not say in time whether the lock was held to the end; COMMAND's own failure comes first. What must not be done by two machines at once is therefore to be done by group-cluster update --locked, which the cluster refuses once the lock is lost. COMMAND finds the name of the grant in GROUP_CLUSTER_GRANT."
        ],
        examples: [HelpEntry("group-cluster lock ./shared/ nightly -- ./report", "One report, on one machine.")],
        exitStatuses: statuses(without: "3", "4", "69", "76") + [
            HelpEntry("4", "the lock was lost while COMMAND ran; another machine may have had it"),
            HelpEntry("69", "the cluster was not reached, at the beginning or at the end of COMMAND"),
            HelpEntry("N", "COMMAND's status"),
        ])
}
