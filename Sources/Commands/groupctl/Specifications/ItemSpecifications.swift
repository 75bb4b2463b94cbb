import GroupCommandLine
import GroupCommands
import RemovedOptions

/// The commands over items.
extension GroupControl {
    private static let item = PositionalSpecification(
        "PATH", help: "The path of an item, relative to the container's root.")

    private static let relaxed = OptionSpecification.flag(
        "relaxed", help: "Do not wait for the disk; the change is atomic and visible nevertheless.")

    private static let exitCode = OptionSpecification.flag(
        "exit-code", help: "End with status 3 if the item already had this content.")

    static let read = CommandSpecification(
        name: "read", summary: "Prints an item's content, read under a shared lock.",
        usage: ["groupctl read GROUP PATH [--generation-file FILE] [--need-answers]"],
        options: [
            .value(
                "generation-file", "FILE",
                help:
                    "After printing the content, write its generation to FILE, outside the container, for --if-generation."
            ),
            .flag(
                "need-answers",
                help:
                    "Print nothing, and end with status 1, if a process that presents the item does not answer in time. Without this option, the content is printed without what that process has not saved, and a line on standard error says so."
            ),
        ],
        removedOptions: RemovedOptions.of("read"),
        positionals: [group, item],
        examples: [
            HelpEntry("groupctl read ./shared/ Library/todo.json", ""),
            HelpEntry(
                "groupctl read ./shared/ n --generation-file n.generation",
                "Keeps the generation for a later write --if-generation."),
        ],
        exitStatuses: statuses(
            "0", "1=--need-answers: a process that presents the item did not answer in time; any other failure", "64",
            "66", "74", "75", "77"))

    static let write = CommandSpecification(
        name: "write",
        summary:
            "Replaces an item with standard input: atomically, durably, under an exclusive lock. Missing directories on the path are created.",
        usage: [
            "groupctl write GROUP PATH [--relaxed] [--mode OCTAL]",
            "groupctl write GROUP PATH --if-generation N [options]",
        ],
        options: [
            relaxed,
            .value(
                "if-generation", "N",
                help:
                    "Write only if the item is still at generation N or, with 'absent', if there is no such item; otherwise end with status 4."
            ),
            .value(
                "mode", "OCTAL",
                help: "The file's mode. Without this option, the mode and owner of the replaced file are kept."),
            exitCode,
        ],
        removedOptions: RemovedOptions.of("write"),
        positionals: [group, item],
        surplusAdvice: "the content comes from standard input: echo TEXT | groupctl write GROUP PATH",
        examples: [
            HelpEntry("date | groupctl write ./shared/ now.txt", ""),
            HelpEntry(
                "echo 7 | groupctl write ./shared/ n --if-generation \"$(cat n.generation)\"",
                "Writes only if the item was not changed since it was read."),
        ],
        exitStatuses: statuses(
            "0", "3=--exit-code: the item already had this content",
            "4=--if-generation does not hold", "64", "66", "74", "75", "77"))

    static let update = CommandSpecification(
        name: "update",
        summary:
            "Runs COMMAND with an item's content on its standard input, and replaces the content with COMMAND's output, at most 256 MiB, all under one exclusive lock, which keeps out all that use this package; what another program writes meanwhile is replaced. COMMAND does not get the standard input of groupctl. An absent item counts as empty. If COMMAND fails, or prints nothing for an item that has contents, nothing is written; where it fails, groupctl ends with its status.",
        brief: "Replaces an item's content by what COMMAND makes of it",
        usage: [
            "groupctl update GROUP PATH [options] -- COMMAND [ARG…]"
        ],
        options: [
            relaxed,
            .flag(
                "allow-empty",
                help: "Let the item become empty where COMMAND prints nothing; without it, that is an error."),
            exitCode,
        ],
        removedOptions: RemovedOptions.of("update"),
        positionals: [group, item], trailingCommand: .required,
        examples: [
            HelpEntry(
                "groupctl update ./shared/ n -- awk '{ n = $1 } END { print n + 1 }'",
                "Adds 1; concurrent additions are not lost."),
            HelpEntry("groupctl update ./shared/ log.txt -- sh -c 'cat; date'", "Appends a line."),
        ],
        exitStatuses: statuses(
            "0", "1=COMMAND printed more than 256 MiB; any other failure",
            "3=--exit-code: the item already had this content",
            "64",
            "65=COMMAND printed nothing, and the item has contents", "66", "74", "75", "77",
            "126, 127=COMMAND cannot be executed; COMMAND was not found", "N=COMMAND's status"))

    static let edit = CommandSpecification(
        name: "edit",
        summary:
            "Opens an item in $VISUAL, else $EDITOR, else vi, on a private copy, and writes the text back when the editor has ended: only if no other process has changed the content meanwhile. Otherwise the command says who changed it and when, and on a terminal asks whether to edit again, to overwrite it or to keep the text in a file; elsewhere it keeps the text, names the file, and ends with status 4. An item that does not exist is created. Nothing is written if the text is unchanged, or if the editor fails. While the item is edited, groupctl status shows that, and the text follows where others move the item.",
        brief: "Opens an item in your editor, and writes it back safely",
        usage: ["groupctl edit GROUP PATH [--relaxed]"],
        options: [
            relaxed, .flag("exit-code", help: "End with status 3 if nothing was written, as the text is unchanged."),
        ],
        positionals: [group, item],
        environment: [
            HelpEntry(
                "VISUAL, EDITOR",
                "The editor, a line for sh(1); VISUAL only on a terminal that is not dumb (TERM). One with its own window has to wait: 'code --wait'."
            ),
            HelpEntry("TMPDIR", "The directory of the copy; otherwise /tmp."),
        ],
        examples: [
            HelpEntry("groupctl edit ./shared/ Library/todo.json", ""),
            HelpEntry("EDITOR='code --wait' groupctl edit ./shared/ notes.md", "Waits for a window of the editor."),
            HelpEntry("EDITOR='sed -i s/draft/final/' groupctl edit ./shared/ notes.md", "Edits without a terminal."),
        ],
        exitStatuses: statuses(
            "0", "3=--exit-code: the text is unchanged",
            "4=the item was changed meanwhile; the message names the file with the text", "64", "66", "74", "75", "77",
            "126, 127=the editor cannot be executed; the editor was not found", "N=the editor's status"))

    private static let noReplace = OptionSpecification.flag(
        "no-replace", letter: "n", help: "End with status 4 if TO exists, instead of replacing it.")

    private static let from = PositionalSpecification(
        "FROM", help: "The path of an item, relative to the container's root.")

    private static let to = PositionalSpecification(
        "TO",
        help: "The new path of the item, not the directory to put it into. Missing directories on the path are created."
    )

    static let mkdir = CommandSpecification(
        name: "mkdir",
        summary: "Creates a directory, and the missing directories on its path; does nothing if the directory exists.",
        usage: ["groupctl mkdir GROUP PATH [--relaxed]"],
        options: [
            relaxed, .flag("exit-code", help: "End with status 3 if the directory already existed."),
        ],
        removedOptions: RemovedOptions.of("mkdir"),
        positionals: [group, item],
        examples: [
            HelpEntry("groupctl mkdir ./shared/ Library/old", "")
        ],
        exitStatuses: statuses(
            "0", "3=--exit-code: the directory already existed", "64", "66", "75",
            "77"))

    static let remove = CommandSpecification(
        name: "remove",
        summary:
            "Removes an item; of a symbolic link, the link itself. A directory that is not empty is removed with -r only, with everything in it, at once.",
        usage: ["groupctl remove GROUP PATH [-r] [--relaxed]"],
        options: [
            .flag("recursive", letter: "r", help: "A directory goes with everything in it."), relaxed,
        ],
        removedOptions: RemovedOptions.of("remove"),
        positionals: [group, item],
        examples: [
            HelpEntry("groupctl remove ./shared/ now.txt", ""),
            HelpEntry(
                "groupctl remove -r ./shared/ Library/old", "Removes a directory with everything in it, at once."),
        ],
        exitStatuses: statuses("0", "64", "66", "75", "77"))

    static let move = CommandSpecification(
        name: "move",
        summary:
            "Moves an item, a directory with everything in it, at once. A file or an empty directory at TO is replaced.",
        usage: ["groupctl move GROUP FROM TO [-n] [--relaxed]"],
        options: [noReplace, relaxed],
        removedOptions: RemovedOptions.of("move"),
        positionals: [group, from, to],
        examples: [
            HelpEntry("groupctl move ./shared/ a.txt Library/b.txt", "")
        ],
        exitStatuses: statuses(
            "0", "4=-n: TO exists", "64", "66", "75", "77"))

    static let copy = CommandSpecification(
        name: "copy",
        summary:
            "Copies a file with its mode, owner and extended attributes; the copy shares the bytes if the file system can do that. A file at TO is replaced atomically. A directory is copied with -r only, with everything in it, at once; an empty directory at TO is replaced. Of a directory, one record of the journal (4 MiB, or less where --journal-size is small) has about 64 bytes and the path for each item; a larger directory is refused, and cp -a copies it.",
        usage: ["groupctl copy GROUP FROM TO [-r] [-n] [--relaxed]"],
        options: [
            .flag("recursive", letter: "r", help: "A directory goes with everything in it."), noReplace, relaxed,
            .flag("exit-code", help: "End with status 3 if TO was already the same."),
        ],
        removedOptions: RemovedOptions.of("copy"),
        positionals: [group, from, to],
        examples: [
            HelpEntry("groupctl copy -r ./shared/ Library Backup", "")
        ],
        exitStatuses: statuses(
            "0", "3=--exit-code: TO was already the same",
            "4=-n: TO exists", "64", "66", "74", "75", "77"))

    static let lock = CommandSpecification(
        name: "lock",
        summary:
            "Runs COMMAND while holding a lock on all of the items: an exclusive lock or, with --shared, a shared lock. A signal to groupctl is passed on to COMMAND and to what COMMAND has started in its process group, also to what ignores it, and the lock lasts until COMMAND has ended, and then until the others have, or until another signal. SIGUSR1 and SIGUSR2 are passed on to COMMAND alone. A signal that nohup has set to be ignored is ignored. Processes that COMMAND leaves in the background can outlive the lock, and so can those that it has started if groupctl is killed (SIGKILL): the kernel kills COMMAND then, and frees the lock at once. groupctl ends with COMMAND's status; with 126 if COMMAND cannot be executed, with 127 if it was not found.",
        usage: ["groupctl lock GROUP PATH… [--shared] -- COMMAND [ARG…]"],
        options: [
            .flag("shared", help: "Lock for reading: other readers go on, writers wait."),
            .value(
                "conflict-exit-code", "N", help: "End with status N instead of 75 if the lock is not granted in time."),
        ],
        positionals: [
            group, PositionalSpecification("PATH", .variadic, help: "The paths of the items, which need not exist."),
        ],
        trailingCommand: .required,
        examples: [
            HelpEntry(
                "groupctl lock ./shared/ a.db b.db -- sqlite3 ./shared/a.db 'create table t(x)'",
                "Other processes cannot lock the two items meanwhile."),
            HelpEntry(
                "groupctl lock -t 0 --conflict-exit-code 0 ./shared/ job -- ./job",
                "Does nothing if another process does the job already."),
        ],
        exitStatuses: statuses(
            "64", "66", "75", "77", "126, 127=COMMAND cannot be executed; COMMAND was not found", "N=COMMAND's status"))

    static let present = CommandSpecification(
        name: "present",
        summary:
            "Presents an item, or a directory with everything below it, until a signal ends it: other processes' requests for it wait until COMMAND has saved. COMMAND gets the question in GROUP_QUESTION: its own groupctl write counts as the presenter's, and is refused (status 4) if the request went on without it. A COMMAND that fails makes the request fail. A signal is passed on to COMMAND, and present ends when COMMAND, and what it had started, has ended.",
        brief: "Holds up requests for an item until COMMAND has saved",
        usage: ["groupctl present GROUP PATH [--all] -- COMMAND [ARG…]"],
        options: [
            .flag(
                "all",
                help:
                    "Run COMMAND for every question. GROUP_WANTED has their words: relinquish-to-reader, relinquish-to-writer, save, accommodate-deletion."
            )
        ],
        positionals: [group, item], trailingCommand: .required,
        environment: [
            HelpEntry("GROUP_CONTAINER, GROUP_ITEM", "Given to COMMAND: the container's path, and PATH."),
            HelpEntry("GROUP_QUESTION", "Given to COMMAND: the question that it answers."),
            HelpEntry("GROUP_WANTED", "Given to COMMAND: what it is asked to do."),
        ],
        examples: [
            HelpEntry(
                "groupctl present ./shared/ notes.txt -- sh -c 'groupctl write ./shared/ notes.txt < draft'",
                "Saves the draft before another process reads notes.txt.")
        ],
        exitStatuses: statuses(
            "64", "66", "75", "77", "126, 127=COMMAND cannot be executed; COMMAND was not found", "128+n"))
}
