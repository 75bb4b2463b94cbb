import GroupCommandLine
import GroupCommands

/// The commands over whole containers.
extension GroupControl {
    static let create = CommandSpecification(
        name: "create",
        summary:
            "Creates a container; does nothing if it exists. An existing directory has to be empty and this user's own, and not the home directory; it becomes private (0700), unless its mode shares it (setgid, writable by its group), and a change of its mode is printed. A container can be in another container, but not in a .group directory. An empty container takes 8.5 MB of disk space.",
        usage: [
            "groupctl create GROUP [--adopt] [--unix-group NAME]",
            "groupctl create GROUP [--journal-size SIZE] [--journal-age AGE]",
        ],
        options: [
            .flag("adopt", help: "Make the contents of an existing directory items of the container."),
            .value(
                "unix-group", "NAME",
                help:
                    "Share the container with this Unix group (mode 2770) instead of keeping it private (0700). GROUP must be a path. If the container exists and is not shared with the Unix group, the command ends with status 4."
            ),
            .value(
                "journal-size", "SIZE",
                help:
                    "For a new container: drop the oldest changes of a journal that is larger than this, as 512K, 1G or 64M (the default)."
            ),
            .value(
                "journal-age", "AGE",
                help: "For a new container: drop changes that are older than this, as 45m, 12h or 30d (the default)."),
        ],
        positionals: [group],
        examples: [
            HelpEntry(
                "groupctl create group.com.example.todo",
                "Creates a container below this user's home directory, and prints its path."),
            HelpEntry(
                "groupctl create ./shared/ --unix-group staff", "Creates a container for all users of a Unix group."),
            HelpEntry(
                "groupctl create ./log/ --journal-size 1G --journal-age 90d",
                "Keeps changes for followers that are away for long."),
        ],
        exitStatuses: statuses(
            "0", "1", "4=the container exists and is not shared with the Unix group", "64",
            "66=no directory can be made at the path", "69", "74", "77"))

    static let deleteGroup = CommandSpecification(
        name: "delete-group",
        summary:
            "Deletes a container with everything in it. If another process has it open, the command names that process and ends with status 75. Without --yes, the command prints what would be deleted and ends with status 64. After an interruption it can be run again.",
        usage: ["groupctl delete-group GROUP --yes"],
        options: [.flag("yes", help: "Delete the container.")], positionals: [group],
        examples: [
            HelpEntry("groupctl delete-group ./shared/", "Prints what would be deleted."),
            HelpEntry("groupctl delete-group ./shared/ --yes", ""),
        ],
        exitStatuses: statuses(
            "0", "64", "66", "69=a file system is mounted in it; nothing was deleted",
            "75=another process has it open; the message names the process", "77"))

    static let path = CommandSpecification(
        name: "path", summary: "Prints the path of a container.", usage: ["groupctl path GROUP"], positionals: [group],
        examples: [
            HelpEntry("ls \"$(groupctl path group.com.example.todo)\"", "")
        ],
        exitStatuses: statuses("0", "64", "66", "77"))

    static let list = CommandSpecification(
        name: "list", summary: "Lists the containers of this user, or the items of a container.",
        usage: ["groupctl list [GROUP [PATH]] [-l]"],
        options: [
            .flag(
                "long", letter: "l",
                help:
                    "Print for each item its type (file, directory, link, other), size, time of last modification, and the author of its last change, where the journal still has that. In a pipe, a line is TYPE<TAB>SIZE<TAB>TIME<TAB>AUTHOR<TAB>PATH, with the size in bytes, and '-' for what is not known; with --json, each object has 'by', too."
            ),
            TimeStyle.option(default: .relative),
        ],
        positionals: [
            PositionalSpecification(
                "GROUP", .optional, help: "List the items of this container instead of the containers."),
            PositionalSpecification("PATH", .optional, help: "A directory in the container."),
        ],
        examples: [
            HelpEntry("groupctl list", "Lists this user's containers."),
            HelpEntry("groupctl list ./shared/ Library", "Lists a directory of a container."),
            HelpEntry(
                "groupctl list -l ./shared/ | sort -t \"$(printf '\\t')\" -k 2n", "Prints the largest items last."),
        ],
        exitStatuses: statuses("0", "64", "66", "77"))

    static let serve = CommandSpecification(
        name: "serve",
        summary:
            "Serves programs in any language: they write requests, one JSON object per line, and get answers and changes in the same form.",
        usage: ["groupctl serve GROUP [options]", "groupctl serve GROUP --socket FILE [options]"],
        options: [
            .value(
                "socket", "FILE",
                help:
                    "Listen on a Unix socket, which only this user can connect to (mode 0600), for up to 1,024 clients at a time, until a signal. The file of a server that has ended is replaced. Without this option, there is one client: standard input and output."
            )
        ],
        positionals: [group],
        description: [
            "A request has an id, which its answer has, too; 'do' says what to do: {\"id\":1,\"do\":\"read\",\"path\":\"now.txt\"} is answered by {\"id\":1,\"ok\":{\"text\":…}} or {\"id\":1,\"error\":{\"code\":…}}. All operations on items, locks, keys, channels, changes and refreshes are there; a stream sends lines with 'event' until it is cancelled.",
            "When a client ends, its locks are free and its streams have ended. A client that does not read its answers waits; nothing is left out.",
        ],
        examples: [
            HelpEntry(
                "echo '{\"id\":1,\"do\":\"status\"}' | groupctl serve ./shared/", "Prints what the container has."),
            HelpEntry(
                "groupctl serve ./shared/ --socket \"$XDG_RUNTIME_DIR/shared.socket\"",
                "Serves programs that connect to the socket."),
        ],
        exitStatuses: statuses("0=the client has ended", "1", "64", "66", "74", "77", "128+n"))

    static let status = CommandSpecification(
        name: "status",
        summary:
            "Shows the journal, the members with the locks that each holds or waits for and since when, the leader, the suites, and the channels with their listeners and how far behind each is.",
        brief: "Shows the members, what each holds or waits for, the journal",
        usage: ["groupctl status GROUP [--watch [--count N] [--timeout T]]"],
        options: [
            .flag(
                "watch", letter: "w",
                help:
                    "Print the status, and again after each change, at most ten times a second; with --json, a line each. The container is not watched by a timer: while nothing changes, nothing runs. A process that may only read the container looks ten times a second."
            ),
            .value("count", letter: "n", "N", help: "With --watch: end after N statuses."),
            .value(
                "timeout", letter: "t", "T",
                help:
                    "How long to wait to open GROUP: \(TimeArgument.forms). The default is 30 s. With --watch: end with status 2 when nothing has changed for T."
            ),
        ],
        positionals: [group],
        examples: [
            HelpEntry("groupctl status ./shared/", ""),
            HelpEntry(
                "groupctl status --watch --json ./shared/ | jq -c '.members | length'",
                "Prints the number of members, again after each change."),
            HelpEntry(
                "groupctl status --json ./shared/ | jq '.members[].purpose'", "Prints the purpose of each member."),
        ],
        exitStatuses: statuses("0", "2=--timeout passed without a change", "64", "65", "66", "77"))

    static let top = CommandSpecification(
        name: "top",
        summary:
            "Shows the container live on a terminal: who waits for whom, the members with what each holds and how much it changes, the journal and the disk.",
        usage: ["groupctl top GROUP"], positionals: [group],
        description: [
            "The view is drawn again when something has changed, at most ten times a second. While no member waits and there was no change for a minute, nothing runs. It changes nothing in the container, and does not watch its items: changes by other programs are counted while some follower runs, such as watch-group. A process that may only read the container looks ten times a second.",
            "A request that waits is below the one that it waits for. Requests of which each waits for the next are shown as a deadlock; as perhaps one, if a process holds a lock while a program that it started waits, because it may not wait for that program.",
            "Keys: the arrows, PgUp, PgDn, Home and End scroll; s sorts by name, age, changes or locks; / shows only the members with a text in their names, commands or items, and Esc all of them; p pauses; ? shows all keys; q quits. Colors are those of --color and NO_COLOR.",
        ],
        examples: [HelpEntry("groupctl top ./shared/", "")],
        exitStatuses: statuses("0", "64=wrong usage; no terminal", "65", "66", "77"))

    static let doctor = CommandSpecification(
        name: "doctor",
        summary:
            "Prints what is wrong with a container, even if it cannot be opened: why changes do not arrive, which process is in the way, what is damaged; and for each finding, why it matters and what to do. Ends with status 0 if the container is healthy, apart from notes, and with 1 if something was found.",
        brief: "Prints what is wrong with a container, and repairs it",
        usage: ["groupctl doctor GROUP [--repair]"],
        options: [
            .flag(
                "repair",
                help:
                    "Repair what can be repaired, and print what was done: changes that killed members left unfinished, the journal, the checkpoint, leftover files; and, if no process has the container open, suites, channels and other files of .group."
            )
        ],
        positionals: [group],
        examples: [
            HelpEntry("groupctl doctor ./shared/ --repair", ""),
            HelpEntry("groupctl doctor --json ./shared/ | jq -r .code", "Prints the code of each finding."),
        ],
        exitStatuses: statuses("0=healthy", "1=something was found", "64"))
}
