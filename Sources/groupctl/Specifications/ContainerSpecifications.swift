import GroupCommandLine
import GroupCommands

/// The commands over whole containers.
extension GroupControl {
    static let create = CommandSpecification(
        name: "create",
        summary:
            "Makes a container; does nothing where there is one. A directory that is there becomes private (0700), unless its mode shares it (setgid, writable by its group). It may lie in another container, not in a .group. It takes 8.3 MB of the disk from the beginning.",
        usage: [
            "groupctl create GROUP [--unix-group NAME]",
            "groupctl create GROUP [--journal-size SIZE] [--journal-age AGE]",
        ],
        options: [
            .value(
                "unix-group", "NAME",
                help:
                    "Share it with this Unix group (mode 2770) rather than keep it to oneself (0700). GROUP is a path then; a container that is there and not shared with it ends it with 4."
            ),
            .value(
                "journal-size", "SIZE",
                help:
                    "Drop the oldest changes from the journal beyond this: 64M (the default), 512K, 1G; of a new container."
            ),
            .value(
                "journal-age", "AGE",
                help: "Drop changes older than this: 30d (the default), 12h, 45m; of a new container."),
        ],
        positionals: [group],
        examples: [
            HelpEntry("groupctl create group.com.example.todo", "In this user's home; prints where."),
            HelpEntry("groupctl create ./shared/ --unix-group staff", "For everybody in that Unix group."),
            HelpEntry(
                "groupctl create ./log/ --journal-size 1G --journal-age 90d", "Followers may be away for longer."),
        ],
        exitStatuses: statuses("0", "1", "4=it is there, and not shared with that Unix group", "64", "69", "74", "77"))

    static let deleteGroup = CommandSpecification(
        name: "delete-group",
        summary:
            "Deletes a container with everything in it, unless somebody has it open: then it names them and ends with 75. Without --yes it says what would go and ends with 64. Interrupted, it can be run again.",
        usage: ["groupctl delete-group GROUP --yes"],
        options: [.flag("yes", help: "Do it.")], positionals: [group],
        examples: [
            HelpEntry("groupctl delete-group ./shared/", "Says what would go."),
            HelpEntry("groupctl delete-group ./shared/ --yes", ""),
        ],
        exitStatuses: statuses("0", "64", "66", "75=somebody has it open; they are named", "77"))

    static let path = CommandSpecification(
        name: "path", summary: "Prints where a container is.", usage: ["groupctl path GROUP"], positionals: [group],
        examples: [
            HelpEntry("ls \"$(groupctl path group.com.example.todo)\"", "")
        ],
        exitStatuses: statuses("0", "64", "66", "77"))

    static let list = CommandSpecification(
        name: "list", summary: "Lists the containers of this user, or the items of one.",
        usage: ["groupctl list [GROUP [PATH]]"],
        positionals: [
            PositionalSpecification("GROUP", .optional, help: "Its items, rather than all containers."),
            PositionalSpecification("PATH", .optional, help: "A directory in it."),
        ],
        examples: [
            HelpEntry("groupctl list", "The groups that there are."),
            HelpEntry("groupctl list ./shared/ Library", "What is in a directory of one."),
        ],
        exitStatuses: statuses("0", "64", "66", "77"))

    static let status = CommandSpecification(
        name: "status",
        summary:
            "Shows the members, what each holds or waits for and since when, the journal, the leader, and the suites and channels with who listens and how far behind.",
        usage: ["groupctl status GROUP"], positionals: [group],
        examples: [
            HelpEntry("groupctl status ./shared/", ""),
            HelpEntry("groupctl status --json ./shared/ | jq '.members[].purpose'", "Who is here."),
        ],
        exitStatuses: statuses("0", "64", "65", "66", "77"))

    static let doctor = CommandSpecification(
        name: "doctor",
        summary:
            "Says what is wrong with a container, also one that cannot be opened: why nothing arrives, who is in the way, what is damaged; why it matters, and what would mend it. Ends with 0 if it is healthy, notes aside, and with 1 if something was found.",
        usage: ["groupctl doctor GROUP [--repair]"],
        options: [
            .flag(
                "repair",
                help:
                    "Mend what can be mended, and say what was done: changes that members died over, the journal, the checkpoint, leftovers; and where nobody has the container open, suites, channels and other files of .group."
            )
        ],
        positionals: [group],
        examples: [
            HelpEntry("groupctl doctor ./shared/ --repair", ""),
            HelpEntry("groupctl doctor --json ./shared/ | jq -r .code", "An object for each finding."),
        ],
        exitStatuses: statuses("0=healthy", "1=something was found", "64"))
}
