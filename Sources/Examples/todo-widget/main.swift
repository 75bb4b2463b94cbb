import CommandLineKit
import ContainerCommands
import Dispatch
import GroupContainer
import Widgets

// A widget of the example, as a process of its own: follows the container, refreshes when something that concerns it
// changed, and prints its decision and its snapshot.

private let specification = CommandSpecification(
    name: "todo-widget",
    summary: "Shows the to-do list, live: a line for each refresh, with its decision and what the widget shows now.",
    usage: ["todo-widget --style list|count|next [--group GROUP]"],
    options: [
        .value(
            "style", letter: "s", "STYLE",
            help: "list: every entry; count: how many are open; next: the first open one."),
        .value("group", letter: "g", "GROUP", help: "The container; group.com.example.todo unless told."),
        .flag("once", help: "Refresh once and end: status 0 for newData, 3 for noData, 1 for failed."),
    ] + CommonOptions.specifications(timeout: "How long to wait for a lease; 30 s unless told."),
    exitStatuses: [HelpEntry("0", "newData"), HelpEntry("1", "failed"), HelpEntry("3", "noData")])

CommandRun.main(specification) { run in
    guard let style = try run.arguments.text("style").flatMap(TodoWidget.Style.init) else {
        throw run.arguments.usageError("--style: say list, count or next")
    }
    let name = run.arguments.value("group") ?? Array("group.com.example.todo".utf8)
    let container = try Container(named: name, creating: true)
    let widget = LiveWidget(
        TodoWidget(style: style), in: container, timeout: run.leaseTimeout, isJSON: run.options.isJSON)
    let isOnce = run.arguments.flag("once")
    return try blocking { try await isOnce ? widget.refresh() : widget.run() }
}

/// Runs asynchronous work from the main thread of a plain program.
private func blocking<Answer: Sendable>(_ work: @escaping @Sendable () async throws -> Answer) throws -> Answer {
    let finished = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Result<Answer, any Error>?
    Task {
        do { unsafe result = .success(try await work()) } catch { unsafe result = .failure(error) }
        finished.signal()
    }
    finished.wait()
    guard let result = unsafe result else { throw CancellationError() }
    return try result.get()
}
