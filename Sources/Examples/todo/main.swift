import Foundation
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls
import TodoShared
import WidgetApp

// The app of the example: a to-do list in a container that its widgets share. The use of the container is in
// `TodoList`.

private let group = OptionSpecification.value(
    "group", letter: "g", "GROUP",
    help: "The container: an identifier or a path; the default is group.com.example.todo.")
private let number = PositionalSpecification("NUMBER", help: "The number of an entry, as `todo list` prints it.")

private let specification = CommandSpecification(
    name: "todo",
    summary: "A to-do list, shared with its widgets.",
    usage: ["todo [--group GROUP] add TITLE | done NUMBER | remove NUMBER | list | edit | serve"],
    options: [group] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "add", summary: "Adds an entry.", usage: ["todo add TITLE"],
            positionals: [PositionalSpecification("TITLE", help: "The text of the entry.")]),
        CommandSpecification(
            name: "done", summary: "Marks an entry as done.", usage: ["todo done NUMBER"], positionals: [number]),
        CommandSpecification(
            name: "remove", summary: "Removes an entry.", usage: ["todo remove NUMBER"], positionals: [number]),
        CommandSpecification(name: "list", summary: "Shows the list.", usage: ["todo list"]),
        CommandSpecification(
            name: "edit",
            summary:
                "Takes entries, one a line, and saves them at the end, or as soon as another process, such as a widget, reads the list.",
            usage: ["todo edit"]),
        CommandSpecification(
            name: "serve", summary: "Opens the widget's addresses, one line each, until no address came for a while.",
            usage: ["todo serve [--idle TIME]"],
            options: [.value("idle", "TIME", help: "End when no address came for TIME; the default is 30 s.")]),
    ],
    examples: [HelpEntry("todo add Milk", ""), HelpEntry("todo --group ./shared/ list", "")])

CommandRun.main(specification) { run in
    let name = run.arguments.value("group") ?? Array("group.com.example.todo".utf8)
    let container = run.use(
        try Container(named: name, creating: ["add", "edit"].contains(run.arguments.subcommands.first)))
    let list = TodoList(container.coordinator(purpose: "todo-app").blocking, timeout: run.lockTimeout)
    let arguments = run.arguments
    func chosen() throws -> Int {
        guard let number = arguments.positional("NUMBER")?.validText.flatMap({ Int($0) }), number > 0 else {
            throw arguments.usageError("NUMBER must be a positive number, as `todo list` prints it")
        }
        return number
    }
    switch arguments.subcommands.first {
    case "add":
        guard let title = arguments.positional("TITLE")?.validText else {
            throw arguments.usageError("TITLE is not UTF-8")
        }
        try list.add(title)
    case "done": try list.complete(chosen())
    case "remove": try list.remove(chosen())
    case "list":
        for (index, todo) in try list.entries().enumerated() {
            try run.output.writeLine("\(index + 1) [\(todo.done ? "x" : " ")] \(TerminalName.line(of: [todo.title]))")
        }
    case "edit": try edit(container, timeout: run.lockTimeout)
    case "serve": try serve(container, list, &run)
    default: throw arguments.usageError("missing a command: add, done, remove, list, edit or serve")
    }
    return .success
}

/// Takes entries as an editor with a window would: they are not on the disk until they are saved.
private func edit(_ container: Container, timeout: Duration) throws {
    let draft = try TodoDraft.begin(in: container, timeout: timeout)
    let signals = TerminationSignals()
    var input = InputLines(limit: 1 << 20)
    // What was typed when a signal comes is kept.
    reading: while signals.received == nil {
        switch try input.next() {
        case .line(let line): draft.add(String(decoding: line, as: UTF8.self))
        case .dry: try input.wait(orUntil: signals)
        case .end: break reading
        }
    }
    do { try draft.end() } catch {
        // Otherwise they would be lost with this process.
        let text = draft.entries.joined(separator: "\n")
        try? FileHandle.standardError.write(contentsOf: Data("todo: not saved; this was typed:\n\(text)\n".utf8))
        throw error
    }
}

/// Opens the places that the widget requests. An app with windows would show the place; this one prints it.
private func serve(_ container: Container, _ list: TodoList, _ run: inout CommandRun) throws {
    let idle = try run.arguments.time("idle") ?? .seconds(30)
    let signals = TerminationSignals()
    // The container's whole path, because a launcher may run in another directory.
    let links = try AppLinks(
        container, scheme: TodoLink.scheme, arguments: ["--group", container.path.description, "serve"])
    let hasReader = Guarded(true)
    run.output.whenReaderIsGone {
        hasReader.withLock { $0 = false }
        Interruption.raise()
    }
    let isOver = { signals.received != nil || !hasReader.withLock(\.self) }
    var isDone = false
    while !isDone {
        isDone = try !links.openNext(timeout: idle, until: isOver) { url in
            let entries = try list.entries()
            defer { try? run.output.flush() }
            switch TodoLink(url: url) {
            case .entry(let number) where entries.indices.contains(number - 1):
                try run.output.writeLine("entry \(number): \(TerminalName.line(of: [entries[number - 1].title]))")
            case .entry(let number):
                try run.output.writeLine("entry \(number) is gone")
                throw AppLinks.Refusal("entry \(number) is gone")
            case .add: try run.output.writeLine("a new entry: todo add TITLE")
            case nil:
                try run.output.writeLine("no such place: \(TerminalName.line(of: [url]))")
                throw AppLinks.Refusal("there is no such place")
            }
        }
    }
}
