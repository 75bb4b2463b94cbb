import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Lists the containers of this user, or the items of a container.
func list(_ run: inout CommandRun) throws -> ExitStatus {
    let times = try TimeStyle.chosen(run.arguments, default: .relative)
    guard run.arguments.positional("GROUP") != nil else {
        if run.arguments.flag("long") { throw run.arguments.usageError("-l is for the items of a GROUP") }
        for identifier in try Container.groupIdentifiers() {
            try run.output.writeLine(
                run.options.isJSON ? JSONValue.object([("identifier", .string(identifier))]).encoded() : identifier)
        }
        return .success
    }
    let container = try run.openContainer()
    let directory = run.arguments.positional("PATH").map { ItemPath(bytes: ItemCommands.withoutSlash($0)) }
    if run.arguments.flag("long") { return try listLong(directory, in: container, times, &run) }
    let isTerminal = StandardOutput.isTerminal
    for item in try container.items(in: directory) {
        try run.output.writeLine(run.options.isJSON ? item.json.encoded() : name(of: item, isTerminal: isTerminal))
    }
    return .success
}

private func name(of item: Item, isTerminal: Bool) -> String {
    TerminalName.forOutput(item.path.bytes, isTerminal: isTerminal) + (item.type == .directory ? "/" : "")
}

private func listLong(
    _ directory: ItemPath?, in container: Container, _ times: TimeStyle, _ run: inout CommandRun
) throws -> ExitStatus {
    // A damaged journal ends the comparison; the items are listed nonetheless.
    let comparison = Result { try container.noteUncoordinatedChanges() }
    let items = try container.items(in: directory)
    let last = try container.lastChanges(in: directory)
    if run.options.isJSON {
        for item in items { try run.output.writeLine(item.json(withAuthorOf: last[item.path]).encoded()) }
    } else if StandardOutput.isTerminal {
        try printTable(items, last, times, &run)
    } else {
        for item in items {
            let author = last[item.path].map { PipeText.escaped(Array(TerminalName.writer(of: $0).utf8)) }
            let fields = [
                ChangeText.name(item.type), "\(item.size)", item.modified.flatMap { Timestamp.text($0) } ?? "-",
                author ?? "-", name(of: item, isTerminal: false),
            ]
            try run.output.writeLine(fields.joined(separator: "\t"))
        }
    }
    try comparison.get()
    return .success
}

/// Prints aligned columns for a person.
private func printTable(
    _ items: [Item], _ last: [ItemPath: Change], _ times: TimeStyle, _ run: inout CommandRun
) throws {
    let text = TerminalText(run.options.color)
    let authors = items.map { item in last[item.path].map { TerminalName.writer(of: $0) } ?? "-" }
    let sizes = items.map { $0.type == .file ? Progress.amount($0.size, .bytes) : "-" }
    let widestAuthor = authors.map(\.count).max() ?? 0
    let widestSize = sizes.map(\.count).max() ?? 0
    for ((item, author), size) in zip(zip(items, authors), sizes) {
        let type = ChangeText.name(item.type)
        let columns = [
            type + spaces(9 - type.count), spaces(widestSize - size.count) + size,
            text.styled(times.column(item.modified), as: .faint),
            text.styled(author, as: .faint) + spaces(widestAuthor - author.count), name(of: item, isTerminal: true),
        ]
        try run.output.writeLine(columns.joined(separator: "  "))
    }
}

private func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
