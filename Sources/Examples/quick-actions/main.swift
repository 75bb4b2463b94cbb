import GroupCommandLine
import GroupCommands
import GroupContainer
import QuickActionsShared
import GroupSystemCalls
import WidgetApp

// The app of the quick actions: opens what its widget's buttons request, each request once and in order. The app
// records what it opened in the container, for inspection; a real app would show it.

private let specification = CommandSpecification(
    name: "quick-actions", summary: "Opens the addresses of its widget's buttons.",
    usage: ["quick-actions [--group GROUP] [--idle TIME]"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.quick-actions."),
        .value("idle", "TIME", help: "End when no address came for TIME; the default is 30 s."),
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    examples: [HelpEntry("quick-actions --idle 5", "")])

CommandRun.main(specification) { run in
    let group = run.arguments.value("group") ?? Array("group.com.example.quick-actions".utf8)
    let container = run.use(try Container(named: group, creating: true))
    let coordinator = container.coordinator(purpose: "quick-actions").blocking
    let idle = try run.arguments.time("idle")
    let links = try AppLinks(
        container, scheme: QuickAction.scheme,
        arguments: ["--group", container.path.description])
    let signals = TerminationSignals()
    var isDone = false
    while !isDone {
        isDone = try !links.openNext(timeout: idle ?? .seconds(30), until: { signals.received != nil }) { url in
            let action = QuickAction(url: url)
            let line = action.map { "opened \($0.rawValue)" } ?? "no such place: \(url)"
            try coordinator.update("Library/opened.json", default: [String]()) { $0.append(line) }
            if action == nil { throw AppLinks.Refusal("there is no such action") }
        }
    }
    return .success
}
