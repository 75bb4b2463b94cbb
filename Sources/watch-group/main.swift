import CommandLineKit
import ContainerCommands
import GroupContainer

let specification = CommandSpecification(
    name: "watch-group",
    summary: "Streams the changes of a group container: every change, in order, once, live.",
    usage: ["watch-group [options] GROUP"],
    options: [
        .value(
            "since", "PLACE",
            help: "Where to begin: a cursor, start (the oldest change that is kept) or now (the default)."),
        .value(
            "cursor-file", "FILE",
            help:
                "Begin where FILE says and keep it current; if there is none, begin as --since says. Across a kill the last lines may be repeated, none is skipped."
        ),
        .value("count", letter: "n", "N", help: "End after N lines."),
    ]
        + CommonOptions.specifications(
            timeout: "End with status 2 when no line came for so long: 2, 0.5 (seconds) or 250ms."),
    positionals: [
        PositionalSpecification("GROUP", help: "A group identifier or, with a '/' in it, the path of a container.")
    ],
    examples: [
        HelpEntry("watch-group group.com.example.todo", "Shows what changes from now on."),
        HelpEntry("watch-group --json --since start ./shared/", "Everything that is kept, and what follows, as JSON."),
        HelpEntry(
            "watch-group --cursor-file seen ./shared/ | while read -r kind path; do …",
            "Goes on where it stopped the last time."),
    ],
    exitStatuses: [
        HelpEntry("0", "done, or the reader of the output is gone"), HelpEntry("2", "--timeout passed without a line"),
        HelpEntry("64", "wrong usage"), HelpEntry("65", "damaged, or a newer format; a damaged cursor file"),
        HelpEntry("66", "no such group"), HelpEntry("74", "input/output error"), HelpEntry("77", "not permitted"),
        HelpEntry("128+n", "ended by signal n, after the cursor file was written"),
    ])

CommandRun.main(specification) { run in
    var watch = try Watch(&run)
    return try watch.stream(&run)
}
