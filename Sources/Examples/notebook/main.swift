import GroupCommandLine
import GroupCommands
import GroupContainer
import NotebookShared

// The app of the notebook: notes in a database of the container.

private let specification = CommandSpecification(
    name: "notebook", summary: "Notes in a database, shared with a widget and a share extension.",
    usage: ["notebook [--group GROUP] add TEXT | done NUMBER | list | follow | backup FILE"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.notebook.")
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "add", summary: "Adds a note.", usage: ["notebook add TEXT"],
            positionals: [PositionalSpecification("TEXT", help: "The note.")]),
        CommandSpecification(
            name: "done", summary: "Marks a note as done.", usage: ["notebook done NUMBER"],
            positionals: [PositionalSpecification("NUMBER", help: "Its number, as `notebook list` prints it.")]),
        CommandSpecification(name: "list", summary: "Prints the notes.", usage: ["notebook list"]),
        CommandSpecification(
            name: "follow", summary: "Prints how many notes are open, now and after each change, until it is ended.",
            usage: ["notebook follow"]),
        CommandSpecification(
            name: "backup", summary: "Writes a copy of the database.", usage: ["notebook backup FILE"],
            positionals: [PositionalSpecification("FILE", help: "The copy; an earlier one is replaced.")]),
    ],
    examples: [HelpEntry("notebook add \"buy milk\"", ""), HelpEntry("notebook --group ./shared/ list", "")])

CommandRun.main(specification, needing: [.sqlite]) { run in
    let group = run.arguments.value("group") ?? Array("group.com.example.notebook".utf8)
    let notebook = try Notebook(in: run.use(try Container(named: group, creating: true)))
    guard let operand = (run.arguments.positionals.first ?? []).validText else {
        throw run.arguments.usageError("TEXT, NUMBER and FILE are UTF-8")
    }
    switch run.arguments.subcommands.first {
    case "add": try notebook.add(operand)
    case "done":
        guard let number = Int(operand), try notebook.finish(number) else {
            throw run.arguments.usageError("there is no note \(operand)")
        }
    case "list":
        for note in try notebook.notes() {
            try run.output.writeLine(TerminalName.line(of: ["\(note.number)", note.isDone ? "x" : " ", note.text]))
        }
    case "follow":
        try printing {
            try await notebook.follow { notes in
                var output = StandardOutput()
                try output.writeLine("\(notes.count { !$0.isDone }) open")
                try output.flush()
            }
        }
    case "backup":
        guard let file = AbsolutePath(operand) else {
            throw run.arguments.usageError("name the file by its absolute path")
        }
        try notebook.backUp(to: file)
    default: throw run.arguments.usageError("missing a command: add, done, list, follow or backup")
    }
    return .success
}
