import GroupCommandLine
import GroupCommands

/// The commands over items.
extension GroupControl {
    private static let item = PositionalSpecification("PATH", help: "An item, relative to the container's root.")

    private static let relaxed = OptionSpecification.flag(
        "relaxed", help: "Atomic and visible, but do not wait for the disk.")

    private static let exitCode = OptionSpecification.flag(
        "exit-code", help: "Exit with 3 when the item had this content already.")

    static let read = CommandSpecification(
        name: "read", summary: "Prints an item's content, read under a shared lock.",
        usage: ["groupctl read GROUP PATH [--generation-file FILE]"],
        options: [
            .value(
                "generation-file", "FILE",
                help:
                    "Once the content is printed, write its generation to FILE, outside of the container, for --if-generation."
            )
        ],
        positionals: [group, item],
        examples: [
            HelpEntry("groupctl read ./shared/ Library/todo.json", ""),
            HelpEntry(
                "groupctl read ./shared/ n --generation-file n.generation",
                "To write it later, if nobody else has meanwhile."),
        ],
        exitStatuses: statuses("0", "64", "66", "74", "75", "77"))

    static let write = CommandSpecification(
        name: "write",
        summary:
            "Replaces an item by standard input: atomically, durably, under an exclusive lock. Directories on the way are made.",
        usage: ["groupctl write GROUP PATH [--relaxed] [--mode OCTAL] [--if-generation N]"],
        options: [
            relaxed,
            .value(
                "if-generation", "N",
                help:
                    "Write only if the item is at this generation still, or, with absent, if nothing stands there; else end with status 4."
            ),
            .value("mode", "OCTAL", help: "Its mode; otherwise the mode and owner of what is replaced are kept."),
            exitCode,
        ],
        positionals: [group, item],
        examples: [
            HelpEntry("date | groupctl write ./shared/ now.txt", ""),
            HelpEntry(
                "echo 7 | groupctl write ./shared/ n --if-generation \"$(cat n.generation)\"",
                "Only if it is as it was read."),
        ],
        exitStatuses: statuses(
            "0", "3=--exit-code: the content was there already", "4=--if-generation does not hold", "64", "66", "74",
            "75", "77"))

    static let update = CommandSpecification(
        name: "update",
        summary:
            "Runs COMMAND with an item's content on its standard input, and replaces it by what COMMAND prints, at most 256 MiB; all under one exclusive lock. An absent item is empty. If COMMAND fails, nothing is written and its status is passed on.",
        usage: ["groupctl update GROUP PATH [--relaxed] -- COMMAND [ARG…]"], options: [relaxed, exitCode],
        positionals: [group, item], trailingCommand: .required,
        examples: [
            HelpEntry(
                "groupctl update ./shared/ n -- awk '{ n = $1 } END { print n + 1 }'",
                "However many do it at once, none is lost.")
        ],
        exitStatuses: statuses(
            "0", "1=COMMAND has printed more than 256 MiB; any other failure",
            "3=--exit-code: the content was there already", "64", "66", "74", "75", "77",
            "126, 127=COMMAND may not be run; there is none", "N=COMMAND's own"))

    private static let noReplace = OptionSpecification.flag(
        "no-replace", letter: "n", help: "End with status 4 if something stands at TO, rather than replace it.")

    private static let from = PositionalSpecification("FROM", help: "An item, relative to the container's root.")

    private static let to = PositionalSpecification(
        "TO", help: "Its new path: not the directory to put it into. Directories on the way are made.")

    static let mkdir = CommandSpecification(
        name: "mkdir", summary: "Makes a directory, and those on the way; does nothing where there is one.",
        usage: ["groupctl mkdir GROUP PATH [--relaxed]"],
        options: [relaxed, .flag("exit-code", help: "Exit with 3 when the directory was there already.")],
        positionals: [group, item],
        examples: [
            HelpEntry("groupctl mkdir ./shared/ Library/old", "")
        ],
        exitStatuses: statuses("0", "3=--exit-code: it was there already", "64", "66", "75", "77"))

    static let remove = CommandSpecification(
        name: "remove",
        summary:
            "Removes an item, of a symbolic link the link; a directory that has something in it with -r only, and then all of it at once.",
        usage: ["groupctl remove GROUP PATH [-r] [--relaxed]"],
        options: [.flag("recursive", letter: "r", help: "A directory goes with everything in it."), relaxed],
        positionals: [group, item],
        examples: [
            HelpEntry("groupctl remove ./shared/ now.txt", ""),
            HelpEntry("groupctl remove -r ./shared/ Library/old", "With all that is in it, at once."),
        ],
        exitStatuses: statuses("0", "64", "66", "75", "77"))

    static let move = CommandSpecification(
        name: "move",
        summary:
            "Moves an item, a directory with everything in it, at once. What stands at TO is replaced, if it is a file or an empty directory.",
        usage: ["groupctl move GROUP FROM TO [-n] [--relaxed]"], options: [noReplace, relaxed],
        positionals: [group, from, to],
        examples: [
            HelpEntry("groupctl move ./shared/ a.txt Library/b.txt", "")
        ],
        exitStatuses: statuses("0", "4=-n: something stands at TO", "64", "66", "75", "77"))

    static let copy = CommandSpecification(
        name: "copy",
        summary:
            "Copies a file with its mode, owner and extended attributes, without copying the bytes where the file system can. A file at TO is replaced atomically. A directory with -r only: with everything in it, at once; an empty directory at TO is replaced.",
        usage: ["groupctl copy GROUP FROM TO [-r] [-n] [--relaxed]"],
        options: [
            .flag("recursive", letter: "r", help: "A directory goes with everything in it."), noReplace, relaxed,
            .flag("exit-code", help: "Exit with 3 when TO was the same already."),
        ],
        positionals: [group, from, to],
        examples: [
            HelpEntry("groupctl copy -r ./shared/ Library Backup", "")
        ],
        exitStatuses: statuses(
            "0", "3=--exit-code: TO was the same already", "4=-n: something stands at TO", "64", "66", "74", "75", "77")
    )

    static let lock = CommandSpecification(
        name: "lock",
        summary:
            "Runs COMMAND while it holds the lock on all of the items: alone, or with other readers. COMMAND itself cannot outlive the lock; what it leaves running in the background can. Its exit status is passed on; 126: it may not be run, 127: there is none.",
        usage: ["groupctl lock GROUP PATH… [--shared] -- COMMAND [ARG…]"],
        options: [
            .flag("shared", help: "For reading: other readers go on, writers wait."),
            .value(
                "conflict-exit-code", "N", help: "Exit with N, rather than 75, when the lock is not granted in time."),
        ],
        positionals: [group, PositionalSpecification("PATH", .variadic, help: "Items; they need not exist.")],
        trailingCommand: .required,
        examples: [
            HelpEntry(
                "groupctl lock ./shared/ a.db b.db -- sqlite3 ./shared/a.db 'create table t(x)'",
                "Nobody who asks for them comes in between."),
            HelpEntry(
                "groupctl lock -t 0 --conflict-exit-code 0 ./shared/ job -- ./job",
                "Not at all where another one does it already."),
        ],
        exitStatuses: statuses(
            "64", "66", "75", "77", "126, 127=COMMAND may not be run; there is none", "N=COMMAND's own"))
}
