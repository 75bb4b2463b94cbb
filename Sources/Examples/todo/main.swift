import CommandLineKit
import ContainerCommands
import GroupContainer

// The app of the example: a to-do list in a container that its widgets share. All of the container's part is in
// `TodoList`.

private let group = OptionSpecification.value(
    "group", letter: "g", "GROUP", help: "The container: an identifier or a path; group.com.example.todo unless told.")
private let number = PositionalSpecification("NUMBER", help: "As `todo list` counts.")

private let specification = CommandSpecification(
    name: "todo",
    summary: "A to-do list, shared with its widgets.",
    usage: ["todo [--group GROUP] add TITLE | done NUMBER | remove NUMBER | list"],
    options: [group] + CommonOptions.specifications(timeout: "How long to wait for a lease; 30 s unless told."),
    subcommands: [
        CommandSpecification(
            name: "add", summary: "Adds an entry.", usage: ["todo add TITLE"],
            positionals: [PositionalSpecification("TITLE", help: "What is to be done.")]),
        CommandSpecification(
            name: "done", summary: "Marks an entry as done.", usage: ["todo done NUMBER"], positionals: [number]),
        CommandSpecification(
            name: "remove", summary: "Removes an entry.", usage: ["todo remove NUMBER"], positionals: [number]),
        CommandSpecification(name: "list", summary: "Shows the list.", usage: ["todo list"]),
    ],
    examples: [HelpEntry("todo add Milk", ""), HelpEntry("todo --group ./shared/ list", "")])

CommandRun.main(specification) { run in
    let name = run.arguments.value("group") ?? Array("group.com.example.todo".utf8)
    let list = TodoList(
        try Container(named: name, creating: true).coordinator(purpose: "todo-app").blocking,
        timeout: run.leaseTimeout)
    let arguments = run.arguments
    func chosen() throws -> Int {
        guard let number = arguments.positional("NUMBER")?.validText.flatMap({ Int($0) }), number > 0 else {
            throw arguments.usageError("NUMBER: a positive number, as `todo list` counts")
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
            try run.output.writeLine("\(index + 1) [\(todo.done ? "x" : " ")] \(todo.title)")
        }
    default: throw arguments.usageError("say what to do: add, done, remove or list")
    }
    return .success
}
