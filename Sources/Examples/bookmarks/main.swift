import Extensions
import FoundationEssentials
import GroupCommandLine
import GroupCommands
import GroupContainer

// The app of the bookmarks: a list in the container. What its share extension has put into the inbox is added to it.

private struct Bookmark: Codable {
    var url: String
    var title: String?
}

private let list: ItemPath = "Library/bookmarks.json"

private let specification = CommandSpecification(
    name: "bookmarks", summary: "A list of addresses, to which other programs share.",
    usage: ["bookmarks [--group GROUP] list | take | serve"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.bookmarks.")
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    subcommands: [
        CommandSpecification(name: "list", summary: "Prints the bookmarks.", usage: ["bookmarks list"]),
        CommandSpecification(name: "take", summary: "Adds what was shared, and ends.", usage: ["bookmarks take"]),
        CommandSpecification(
            name: "serve", summary: "Adds what was shared, and what comes, until it is ended.",
            usage: ["bookmarks serve"]),
    ],
    examples: [HelpEntry("bookmarks take", ""), HelpEntry("bookmarks --group ./shared/ list", "")])

/// Adds an item's addresses to the list: one transaction with the item's removal, so that each is added once.
private func add(_ shared: SharedItem, _ access: Access) throws -> [Bookmark] {
    var new: [Bookmark] = []
    for attachment in shared.item.attachments {
        if case .url(let url) = attachment.content {
            new.append(Bookmark(url: url.absoluteString, title: shared.item.title ?? attachment.name))
        }
    }
    let old = try access.item(list) == nil ? [] : access.read(list, as: [Bookmark].self)
    try access.write(json: old + new, to: list)
    return new
}

private func line(_ bookmark: Bookmark) -> String { TerminalName.line(of: [bookmark.url, bookmark.title ?? ""]) }

CommandRun.main(specification) { run in
    let group = run.arguments.value("group") ?? Array("group.com.example.bookmarks".utf8)
    let container = run.use(try Container(named: group, creating: true))
    let inbox = try ShareInbox(container)
    switch run.arguments.subcommands.first {
    case "list":
        let coordinator = container.coordinator(purpose: "bookmarks").blocking
        let bookmarks = try coordinator.coordinate(.reading(list)) { access in
            try access.item(list) == nil ? [] : access.read(list, as: [Bookmark].self)
        }
        for bookmark in bookmarks { try run.output.writeLine(line(bookmark)) }
    case "take":
        while let new = try inbox.blocking.handleNext(changing: [.writing(list)], add) {
            for bookmark in new { try run.output.writeLine(line(bookmark)) }
        }
    case "serve":
        try printing {
            // Changes are awaited without polling; the first look covers what came before.
            var changes = container.changes(since: .now, matching: ["Share Inbox/**"]).makeAsyncIterator()
            var output = StandardOutput()
            repeat {
                while let new = try await inbox.handleNext(changing: [.writing(list)], add) {
                    for bookmark in new { try output.writeLine(line(bookmark)) }
                    try output.flush()
                }
            } while try await changes.next() != nil
        }
    default: throw run.arguments.usageError("missing a command: list, take or serve")
    }
    return .success
}
