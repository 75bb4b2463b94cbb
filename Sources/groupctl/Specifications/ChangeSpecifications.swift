import GroupCommandLine
import GroupCommands

/// The commands over changes.
extension GroupControl {
    static let changes = CommandSpecification(
        name: "changes", summary: "Prints what happened since a place, and ends.",
        usage: ["groupctl changes GROUP --since CURSOR|start [options]"],
        options: [.value("since", "PLACE", help: "A cursor, or start: the oldest change that is kept.")]
            + ChangeText.options + FilterOptions.specifications,
        positionals: [group],
        examples: [
            HelpEntry("groupctl changes ./shared/ --since start", ""),
            HelpEntry("groupctl changes ./shared/ --since \"$(cat seen.cursor)\" --include 'Library/**'", ""),
        ],
        exitStatuses: statuses("0", "64", "65", "66", "77"))

    static let refresh = CommandSpecification(
        name: "refresh",
        summary:
            "Decides whether there is something new for a widget: prints newData, noData or failed as the last line. With COMMAND, its standard output, at most 256 MiB, is the widget's snapshot: kept, and compared with the last one; the place moves on only when it succeeds.",
        usage: ["groupctl refresh GROUP WIDGET [--interest WHAT]… [-- COMMAND [ARG…]]"],
        options: [
            .repeatable(
                "interest", "WHAT",
                help:
                    "What concerns the widget: items whose path, relative to the container, without './', matches a pattern, or, as defaults:SUITE or defaults:SUITE:KEY, keys that are set; all items, if nothing is given. What is only touched (mode, owner, dates) is noData, unless metadata:PATTERN matches it. Where they are others than the last time, it is refreshed whatever changed."
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
                "Without COMMAND: only whether something changed."),
        ],
        exitStatuses: statuses("0=newData", "3=noData", "1=failed", "64", "66", "75", "77"))
}
