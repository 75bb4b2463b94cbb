import GroupCommandLine
import GroupCommands

/// The arguments, options and help of group-share.
let groupShareSpecification = CommandSpecification(
    name: "group-share",
    summary: "Shares files, addresses and texts with the extensions of apps.",
    usage: [
        "group-share [options] [ITEM…]", "group-share --with ID [options] ITEM…", "group-share --desktop-entry ID",
    ],
    options: [
        .value("with", letter: "w", "ID", help: "Run this extension, and print what it returns."),
        .value(
            "point", letter: "p", "POINT", help: "Only extensions for this point, such as share or action."),
        .value("type", "TYPE", help: "The type of the files, or of standard input, instead of the one that they have."),
        .value("title", "TEXT", help: "The title of what is shared."),
        .value("extensions", "DIR", help: "The directory of the manifests, *.json, instead of the usual ones."),
        .value(
            "opener", "COMMAND",
            help:
                "The command that opens an address for which no app of the extension's group is registered, run as COMMAND URL. The default is xdg-open."
        ),
        .value(
            "desktop-entry", "ID",
            help: "Print a .desktop file, so that file managers offer the extension under \"Open with\"."),
    ]
        + CommonOptions.specifications(
            timeout: "The time that the extension has, its user included. The default is 5 min."),
    positionals: [
        PositionalSpecification(
            "ITEM", .anyNumber,
            help: "A file, an address such as https://example.com/, or - for text on standard input.")
    ],
    description: [
        "An extension is a small program of an app that runs for one request: it takes what is shared, or changes it and hands it back. Its manifest says of which types it takes how many.",
        "Without --with, the extensions that take the items are listed, in the user's order: ID<TAB>POINT<TAB>TITLE. Without items, all are listed.",
    ],
    environment: [
        HelpEntry("XDG_CONFIG_HOME, XDG_DATA_DIRS", "The directories of the manifests, unless --extensions is given."),
        HelpEntry("XDG_DATA_HOME, XDG_DATA_DIRS", "The directories of the shared MIME database: mime/globs2."),
    ],
    files: [
        HelpEntry("DIR/*.json", "A manifest for each extension: its point, its program, the types that it takes."),
        HelpEntry("DIR/order", "The user's order: an identifier a line."),
    ],
    seeAlso: ["groupctl(1)", "widget-host(1)"],
    notes: [
        HelpEntry(
            "Types",
            "A file has the type that the shared MIME database has for its name; without the database, that of a common suffix. Any other file is text/plain or application/octet-stream, by its beginning. An address is url, standard input is text."
        ),
        HelpEntry(
            "Output",
            "What comes back is printed: a text as it is, an address, and the path of an item of the container, each on lines of its own. With --json, one object: result (completed, cancelled or failed), and items, error or cause."
        ),
    ],
    examples: [
        HelpEntry("group-share photo.png", "Lists the extensions that take a picture."),
        HelpEntry("group-share --with com.example.bookmarks.share https://example.com/", "Shares an address."),
        HelpEntry(
            "echo hello | group-share --with com.example.text.upper -", "Prints what the extension makes of a text."),
        HelpEntry(
            "group-share --desktop-entry com.example.bookmarks.share > ~/.local/share/applications/bookmarks-share.desktop",
            "Adds the extension to \"Open with\"."),
    ],
    exitStatuses: [
        HelpEntry("0", "the extension has completed the request; or there are extensions to list"),
        HelpEntry("1", "the extension has failed, or has returned what is no item of its group's container"),
        HelpEntry("3", "the extension, or its user, has cancelled the request"),
        HelpEntry("64", "wrong usage"), HelpEntry("65", "the extension does not take these items"),
        HelpEntry("66", "no such file or extension; or no extension takes these items"),
        HelpEntry("75", "the extension had no result in time"),
        HelpEntry("128+n", "ended by signal n, after the extension"),
    ])
