import GroupCommandLine
import GroupCommands
import GroupContainer
import WidgetCommands
import Widgets

// A widget of the example, as a process of its own: follows the container, refreshes after each change that concerns
// it, and prints its result and its snapshot.

private let specification = CommandSpecification(
    name: "todo-widget",
    summary: "Shows the to-do list, live: a line for each refresh, with its decision and what the widget shows now.",
    usage: [
        "todo-widget --style list|count|next [--group GROUP]",
        "todo-widget --style list|count|next [--group GROUP] --output waybar|polybar|i3blocks",
        "todo-widget --style list|next [--group GROUP] --press WORD | --press-line N",
        "todo-widget --style list|count|next [--group GROUP] --hosted",
    ],
    options: [
        .value(
            "style", letter: "s", "STYLE",
            help: "list: every entry; count: how many are open; next: the first open one."),
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.todo."),
        .value(
            "output", letter: "o", "BAR",
            help: """
                Print lines for a status bar, one whenever the widget changes: waybar (custom module, return-type json), \
                polybar (custom/script, tail = true) or i3blocks (interval=persist, format=json).
                """),
    ] + Pressing.options + [
        .flag("hosted", help: "Exchange messages with widget-host on standard input and output."),
        .flag("once", help: "Refresh once and end: status 0 for newData, 3 for noData, 1 for failed."),
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    exitStatuses: [HelpEntry("0", "newData"), HelpEntry("1", "failed"), HelpEntry("3", "noData")])

CommandRun.main(specification) { run in
    guard let style = try run.arguments.text("style").flatMap(TodoWidget.Style.init) else {
        throw run.arguments.usageError("--style must be list, count or next")
    }
    let container = try WidgetCommand.container(run.arguments, else: "group.com.example.todo")
    let provider = TodoWidget(style: style)
    let program = WidgetProgram(provider, in: container)
    if try Pressing.perform(run.arguments, program, timeout: run.lockTimeout) { return .success }
    if run.arguments.flag("hosted") {
        try blocking { try await program.converse() }
        return .success
    }
    if let name = try run.arguments.text("output") {
        guard let format = BarFormat(rawValue: name) else {
            throw run.arguments.usageError("--output must be waybar, polybar or i3blocks")
        }
        let words = ["--style", style.rawValue, "--group", "\(container.path)"]
        try printing { try await program.print(to: format, presser: Pressing.command(words)) }
        return .success
    }
    let widget = LiveWidget(
        provider, in: container, timeout: run.lockTimeout, isJSON: run.options.isJSON)
    if run.arguments.flag("once") { return try blocking { try await widget.refresh() } }
    try printing { try await widget.run() }
    return .success
}
