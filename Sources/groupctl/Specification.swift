import GroupCommandLine
import GroupCommands

/// The subcommands and options of groupctl.
enum GroupControl {
    static let specification = CommandSpecification(
        name: "groupctl",
        summary: "Makes, reads, changes and shows group containers: directories that an app and its widgets share.",
        usage: ["groupctl COMMAND GROUP … [options]"],
        options: CommonOptions.specifications(
            timeout:
                "How long to wait for a lock, and to open GROUP: \(TimeArgument.forms). 30 s unless told; 0 is one try."
        ),
        subcommands: [
            create, path, list, read, write, update, mkdir, remove, move, copy, lock, defaults, channels, changes,
            refresh, status, doctor, deleteGroup,
        ],
        description: [
            "A group container is a directory that an app and its widgets, helpers or plug-ins share, each a process. Locks keep them from tearing each other's files, writes are atomic and durable, and every change is in a journal, once and in order. There is no daemon.",
            "GROUP is a group identifier, whose directory is below the user's home, or, with a '/' in it, the path of a container. PATH is relative to the container's root, and never leads out of it.",
        ],
        environment: ContainerEnvironment.variables + [
            HelpEntry("NO_COLOR", "If it is set and not empty, nothing is colored, unless --color always says so.")
        ],
        files: [
            HelpEntry("~/.local/share/group-containers/IDENTIFIER", "The container of an identifier, unless told."),
            HelpEntry("CONTAINER/.group", "What the container keeps of itself. No other program writes there."),
        ],
        seeAlso: ["watch-group(1)", "widget-host(1)", "flock(1)"],
        examples: [
            HelpEntry("groupctl create group.com.example.todo", "Makes a container for this user."),
            HelpEntry(
                "date | groupctl write ./shared/ now.txt", "Replaces a file: atomically, durably, under a lock."),
            HelpEntry("groupctl update ./shared/ n -- awk '{n=$1} END {print n+1}'", "Adds one; nobody's one is lost."),
            HelpEntry("groupctl defaults set ./shared/ settings theme dark", "Sets a key that all members share."),
        ],
        exitStatuses: statuses(
            "0", "1", "3=refresh: noData; elsewhere, with --exit-code: unchanged", "4=a condition does not hold", "64",
            "65", "66", "69", "74", "75", "77", "128+n"))

    /// Returns an entry for each status: a number with its usual meaning, or `NUMBER=MEANING`.
    static func statuses(_ entries: String...) -> [HelpEntry] {
        entries.map { entry in
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            return HelpEntry(parts[0], parts.count > 1 ? parts[1] : meanings[parts[0]] ?? "")
        }
    }

    private static let meanings = [
        "0": "done, also when nothing had to change", "1": "any other failure", "64": "wrong usage",
        "65": "damaged, or a newer format; content that is not what it should be", "66": "no such group, item or key",
        "69": "this file system cannot do it", "74": "input/output error, disk full",
        "75": "lock not granted in time; the holder is named", "77": "not permitted; leads out of the container",
        "128+n": "ended by signal n",
    ]

    static let group = PositionalSpecification(
        "GROUP", help: "A group identifier or, with a '/' in it, the path of a container.")
}
