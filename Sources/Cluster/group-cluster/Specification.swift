import GroupCommandLine
import GroupCommands

private let group = PositionalSpecification(
    "GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")

private let statuses = [
    HelpEntry("0", "success"), HelpEntry("1", "failure; the message says why"),
    HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group, or it is in no cluster"),
    HelpEntry("69", "etcd cannot be used"),
    HelpEntry("74", "input/output error"),
    HelpEntry("75", "another group-cluster runs for this container, or a process does not answer"),
    HelpEntry("77", "etcd denies access, or the state belongs to another user; the message says what to do"),
]

/// The arguments, options and help of group-cluster.
let groupClusterSpecification = CommandSpecification(
    name: "group-cluster",
    summary: "Keeps a container together with those of other machines, through etcd.",
    usage: ["group-cluster COMMAND GROUP … [options]"],
    options: CommonOptions.specifications(timeout: "How long to wait for the container. The default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "join", summary: "Joins the cluster, and runs until it is stopped.",
            usage: ["group-cluster join GROUP [--etcd URL,… --name NAME] [options]"],
            options: [
                .value("etcd", "URL,…", help: "The addresses of the nodes of etcd. Needed the first time only."),
                .value(
                    "name", "NAME",
                    help:
                        "The name of the container in the cluster, the same on all machines. Needed the first time only."
                ),
                .value("host", "NAME", help: "The name of this machine, for people. The default is its host name."),
                .value("user", "NAME", help: "The user of etcd."),
                .value(
                    "password-file", "FILE", help: "A file with the user's password, which only its owner may read."),
                .value(
                    "snapshot-after", "N",
                    help: "Replace the entries of the cluster by a snapshot after N of them. The default is 4096."),
                .value(
                    "budget", "MIB",
                    help:
                        "The quota of etcd's database. When more than half of it is used, history included, nothing is sent until an eighth of that half is free again, and the status says so. The default is 2048."
                ),
                .value("authority", "FILE", help: "The certificate of the authority that has signed etcd's."),
            ],
            positionals: [group],
            description: [
                "Only one group-cluster runs for a container on each machine; a second one ends with status 75. The options are kept in the container, except --snapshot-after; one that is given later replaces what is kept, except --name. The program may be ended and started at any time: what was changed meanwhile is sent and applied then.",
                "If etcd refuses this machine from the start, as with a wrong password, join ends with status 77, or with 69 where an address is none of etcd's. If etcd refuses a program that was connected, it tries again every 10 s, and reads the password file anew: 'group-cluster status' has the reason and the remedy.",
            ],
            examples: [
                HelpEntry(
                    "group-cluster join ./shared/ --etcd http://a:2379,http://b:2379,http://c:2379 --name todo",
                    "join for the first time"),
                HelpEntry("group-cluster join ./shared/", "go on later"),
            ],
            exitStatuses: statuses)
    ] + ItemSpecifications.all + [
        CommandSpecification(
            name: "status", summary: "Prints what this machine knows of its cluster.",
            usage: ["group-cluster status GROUP"], positionals: [group],
            description: [
                "Each other machine has a line: whether its program runs, how many entries it was behind when it last noted that (once a minute at most), and when this machine has last seen it, by this machine's clock. A time 'by its own clock' is that of its last note."
            ],
            exitStatuses: statuses.map { entry in
                entry.term == "69"
                    ? HelpEntry(
                        "69",
                        "the program does not run, is paused, does not reach etcd, or cannot send or make what waits")
                    : entry
            }),
        CommandSpecification(
            name: "result",
            summary: "Prints what became of a change that the cluster was asked for.",
            usage: ["group-cluster result GROUP OPERATION"],
            positionals: [group, PositionalSpecification("OPERATION", help: "The operation, as the error states it.")],
            description: [
                "It prints accepted, conflict, unavailable (not sent), failed, or pending (no answer yet). For an operation that is not known here it prints forgotten, with status 66: its call has returned the result, or it is long over."
            ],
            exitStatuses: statuses),
        CommandSpecification(
            name: "verify",
            summary: "Compares this machine with the cluster, and prints what differs.",
            usage: ["group-cluster verify GROUP [--repair]"],
            options: [
                .flag(
                    "repair",
                    help:
                        "If something differs, let the machine join anew: the cluster's contents count, and what differs here gets a conflict name."
                )
            ],
            positionals: [group],
            description: [
                "It reads the whole log from etcd, waits until the machine has applied it and has nothing to send, reads all files, keys and channels here, and compares. What differs is stated without its content, and with the reason if the machine knows one. Of a channel, the number of messages is compared. While the cluster is being changed, it compares again, within --timeout.",
                "With --repair, values that the cluster has others of are written to a file that 'status' names, and the machine gets a new name: the other machines list the old one until it is taken off.",
            ],
            examples: [HelpEntry("group-cluster verify ./shared/", "Is everything here as on the other machines?")],
            exitStatuses: [
                HelpEntry("0", "everything is equal"), HelpEntry("1", "something differs"),
                HelpEntry("64", "wrong usage"), HelpEntry("66", "no such group, or it is in no cluster"),
                HelpEntry("69", "the program does not run or is paused, or etcd was not reached"),
                HelpEntry("75", "something differs, but the machine has not come to rest in time"),
            ]),
        CommandSpecification(
            name: "accept",
            summary: "Goes on with a restored etcd or another one, or sends the removals that are withheld.",
            usage: ["group-cluster accept GROUP"], positionals: [group],
            description: [
                "After another history, the machine joins anew: an item that differs here gets a conflict name, and the values for which the cluster has others are written to files that 'status' names. Where more than half of all items were gone at once, the removal of those that are still gone is sent. A running 'join' goes on at once; otherwise this takes effect when it is started."
            ],
            exitStatuses: statuses),
        CommandSpecification(
            name: "leave", summary: "Forgets the cluster; the items stay. 'join' must not be running.",
            usage: ["group-cluster leave GROUP"], positionals: [group], exitStatuses: statuses),
    ],
    description: [
        "Each machine has the whole container. Changes are made here at once, and sent in order; a change by group-cluster write, update, mkdir, copy, move or remove returns when the cluster has it and it is here. Where two machines have changed an item, the later change gets a name with 'conflict' in it. What the patterns of a file .groupignore match is not mirrored, as long as it is new: they mean what they mean in a .gitignore."
    ],
    environment: ContainerEnvironment.variables + [ContainerEnvironment.color], files: ContainerEnvironment.files,
    seeAlso: ["groupctl(1)", "etcd(1)"],
    examples: [
        HelpEntry(
            "group-cluster join ./shared/ --etcd http://a:2379,http://b:2379,http://c:2379 --name todo",
            "Joins for the first time, and runs until it is ended."),
        HelpEntry("group-cluster status ./shared/", "Shows whether the machine is connected, and what waits."),
    ],
    exitStatuses: statuses)
