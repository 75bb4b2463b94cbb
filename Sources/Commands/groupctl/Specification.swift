import GroupCommandLine
import GroupCommands

/// The subcommands and options of groupctl.
enum GroupControl {
    static let specification = CommandSpecification(
        name: "groupctl",
        summary: "Creates, reads, changes and shows group containers: directories that several processes share.",
        usage: ["groupctl COMMAND GROUP … [options]"],
        options: CommonOptions.specifications(
            timeout:
                "How long to wait for a lock, and to open GROUP: \(TimeArgument.forms). The default is 30 s; with 0 there is one attempt."
        ) + [Pager.option],
        subcommands: CommandSpecification.under("Containers", [create, path, list, deleteGroup])
            + CommandSpecification.under("Items", [read, write, update, edit, mkdir, remove, move, copy])
            + CommandSpecification.under("Locks", [lock, present])
            + CommandSpecification.under("Keys, messages and changes", [defaults, channels, changes, log, refresh])
            + CommandSpecification.under("Looking after a container", [status, top, doctor, serve]),
        description: [
            "A group container is a directory that several processes share, such as copies of one program, scripts, or an app and its widgets. Locks keep the processes from overwriting each other's changes, writes are atomic and durable, and a journal records every change, once and in order. There is no daemon.",
            "GROUP is a group identifier, whose container is below the user's home directory, or, if it contains a '/', the path of a container. PATH is relative to the container's root and cannot lead out of the container.",
        ],
        environment: ContainerEnvironment.variables + [ContainerEnvironment.color] + Pager.environment,
        files: ContainerEnvironment.files,
        seeAlso: ["watch-group(1)", "widget-host(1)", "flock(1)"],
        examples: [
            HelpEntry("groupctl create group.com.example.todo", "Creates a container for this user."),
            HelpEntry(
                "date | groupctl write ./shared/ now.txt", "Replaces a file atomically and durably, under a lock."),
            HelpEntry(
                "groupctl update ./shared/ n -- awk '{n=$1} END {print n+1}'",
                "Adds 1; concurrent additions are not lost."),
            HelpEntry("groupctl defaults set ./shared/ settings theme dark", "Sets a key that all members share."),
        ],
        exitStatuses: statuses(
            "0", "1", "3=refresh: noData; other commands, with --exit-code: unchanged", "4=a condition does not hold",
            "64", "65", "66", "69=not supported by the file system; a service was not reached", "74",
            "75", "77", "128+n"))

    /// Returns an entry for each status: a number with its usual meaning, or `NUMBER=MEANING`.
    static func statuses(_ entries: String...) -> [HelpEntry] {
        entries.map { entry in
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            return HelpEntry(parts[0], parts.count > 1 ? parts[1] : meanings[parts[0]] ?? "")
        }
    }

    private static let meanings = [
        "0": "success, also if nothing had to change", "1": "any other failure", "64": "wrong usage",
        "65": "damaged, of a newer format, or invalid content", "66": "no such group, item or key",
        "69": "not supported by the file system", "74": "input/output error, disk full",
        "75": "the lock was not granted in time; the message names the holder",
        "77": "not permitted, or the path leads out of the container",
        "128+n": "ended by signal n",
    ]

    static let group = PositionalSpecification(
        "GROUP", help: "A group identifier or, if it contains a '/', the path of a container.")
}
