import GroupCommandLine
import GroupCommands

/// The commands over changes.
extension GroupControl {
    static let changes = CommandSpecification(
        name: "changes", summary: "Prints the changes since a place in the journal, and ends; watch-group goes on.",
        usage: ["groupctl changes GROUP --since CURSOR|start [options]"],
        options: [.value("since", "PLACE", help: "Where to begin: a cursor, or start, the oldest change that is kept.")]
            + ChangeText.options(times: .relative) + FilterOptions.specifications,
        positionals: [group],
        examples: [
            HelpEntry("groupctl changes ./shared/ --since start", ""),
            HelpEntry("groupctl changes ./shared/ --since \"$(cat seen.cursor)\" --include 'Library/**'", ""),
        ],
        exitStatuses: statuses("0", "64", "65", "66", "77"))

    static let log = CommandSpecification(
        name: "log",
        summary:
            "Prints the history of an item, the oldest change first, as far back as the journal goes: when it was changed, by whom, and how; also under the names that it had before, and with the directories above it. In a pipe, a line is TIME<TAB>AUTHOR<TAB>KIND<TAB>PATH, and of a move also a TAB and the old path. An item that was removed has a history, too.",
        brief: "Prints the history of an item: who changed it, and when",
        usage: ["groupctl log GROUP PATH [--count N] [options]"],
        options: [.value("count", letter: "n", "N", help: "Print only the last N changes.")]
            + ChangeText.formats(times: .relative),
        positionals: [
            group, PositionalSpecification("PATH", help: "The path of an item, relative to the container's root."),
        ],
        examples: [
            HelpEntry("groupctl log ./shared/ Library/todo.json", ""),
            HelpEntry(
                "groupctl log ./shared/ now.txt -n 1 --format %u",
                "Prints the purpose of the last process that changed it."),
        ],
        exitStatuses: statuses("0", "64", "65", "66=no such group, or no change of the item is kept", "77"))

    static let refresh = CommandSpecification(
        name: "refresh",
        summary:
            "Decides whether there is new data for a widget, and prints newData, noData or failed as the last line. With COMMAND, its standard output, at most 32 MiB, is the widget's snapshot, which is kept and compared with the last snapshot; the widget's place in the journal advances only if COMMAND succeeds.",
        brief: "Decides whether there is new data for a widget",
        usage: ["groupctl refresh GROUP WIDGET [--interest WHAT]… [-- COMMAND [ARG…]]"],
        options: [
            .repeatable(
                "interest", "WHAT",
                help:
                    "What concerns the widget: a pattern for the paths of items, relative to the container, without './'; or defaults:SUITE or defaults:SUITE:KEY for keys. Without this option, all items and all keys. A change of metadata only (mode, owner, dates) is noData, unless metadata:PATTERN matches the item. If the interests differ from those of the last refresh, the widget is refreshed in any case."
            )
        ],
        positionals: [
            group, PositionalSpecification("WIDGET", help: "The widget's kind: letters, digits, '.', '-', '_'."),
        ],
        trailingCommand: .optional,
        examples: [
            HelpEntry("groupctl refresh ./shared/ clock --interest now.txt -- cat ./shared/now.txt", ""),
            HelpEntry(
                "groupctl refresh ./shared/ theme --interest defaults:settings:theme",
                "Without COMMAND, prints only whether something changed."),
        ],
        exitStatuses: statuses("0=newData", "3=noData", "1=failed", "64", "66", "75", "77"))
}
