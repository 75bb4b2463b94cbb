import Foundation
import GroupCommandLine
import GroupCommands
import GroupContainer
import NoteShared
import GroupSystemCalls
import WidgetApp

// The app of the note: a text field, as far as a terminal has one. While the user types, the app is active and nothing
// is saved; the app saves when it becomes inactive.

private let specification = CommandSpecification(
    name: "note", summary: "A note, shared with its widget.",
    usage: ["note [--group GROUP] [--through file|defaults] edit | save TEXT | get | clear"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.note."),
        .value(
            "through", "WAY",
            help: "Keep the text in a file of the container, or in a key of the group defaults, from now on."),
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "edit",
            summary: "Reads lines from standard input, and saves them when the input ends or the app is ended.",
            usage: ["note edit"]),
        CommandSpecification(
            name: "save", summary: "Saves a text.", usage: ["note save TEXT"],
            positionals: [PositionalSpecification("TEXT", help: "The text of the note.")]),
        CommandSpecification(
            name: "get", summary: "Prints the text; ends with status 66 if there is none.", usage: ["note get"]),
        CommandSpecification(name: "clear", summary: "Removes the text.", usage: ["note clear"]),
    ],
    examples: [HelpEntry("note save 'buy milk'", ""), HelpEntry("note --through defaults get", "")])

CommandRun.main(specification) { run in
    let arguments = run.arguments
    let container = run.use(
        try Container(named: arguments.value("group") ?? Array("group.com.example.note".utf8), creating: true))
    let store = try NoteStore(container)
    if let name = try arguments.text("through") {
        guard let way = NoteWay(rawValue: name) else {
            throw arguments.usageError("--through must be file or defaults")
        }
        try store.choose(way)
    }
    switch arguments.subcommands.first {
    case "edit": try edit(store, container)
    case "save":
        guard let text = arguments.positional("TEXT")?.validText else {
            throw arguments.usageError("TEXT is not UTF-8")
        }
        try store.save(text)
    case "get":
        guard let text = try store.read() else {
            run.complain("there is no note")
            return .notFound
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try run.output.writeLine(
            StandardOutput.isTerminal
                ? lines.map { TerminalText.message(String($0), isForTerminal: true) }.joined(separator: "\n") : text)
    case "clear": try store.clear()
    default: throw arguments.usageError("missing a command: edit, save, get or clear")
    }
    return .success
}

/// Stays active until the input ends, or the app is ended; then saves, as apps do when they leave the foreground.
private func edit(_ store: NoteStore, _ container: Container) throws {
    let signals = TerminationSignals()
    let presence = try AppPresence(container)
    try presence.becomeActive()
    var input = InputLines(limit: 1 << 20)
    var lines: [String] = []
    reading: while signals.received == nil {
        switch try input.next() {
        case .line(let line): lines.append(String(decoding: line, as: UTF8.self))
        case .dry: try input.wait(orUntil: signals)
        case .end: break reading
        }
    }
    let text = lines.joined(separator: "\n")
    do { try store.save(text) } catch {
        // Otherwise it would be lost with this process.
        try? FileHandle.standardError.write(contentsOf: Data("note: not saved; this was typed:\n\(text)\n".utf8))
        throw error
    }
    try presence.resignActive()
}
