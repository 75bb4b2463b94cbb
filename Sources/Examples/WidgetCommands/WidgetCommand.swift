package import GroupCommandLine
package import GroupCommands
import FoundationEssentials
package import GroupContainer
package import Widgets

/// The command of the example widgets, except the to-do list's: under a host it serves the host, else it prints the
/// widget itself.
package enum WidgetCommand {
    /// Runs a provider as a command. `group` is the container without `--group`, `traits` what the program needs of
    /// this package.
    package static func main<Provider: WidgetProvider>(
        name: String, summary: String, group: String, needing traits: [PackageTrait] = [], provider: Provider
    ) -> Never where Provider.Snapshot: WidgetContent {
        main(name: name, summary: summary, group: group, needing: traits) { _, _ in provider }
    }

    /// Runs a provider as a command with further options; `make` gets the arguments and the container. A widget that
    /// `isPressable` has the options by which a bar presses it.
    package static func main<Provider: WidgetProvider>(
        name: String, summary: String, group: String, needing traits: [PackageTrait] = [],
        options: [OptionSpecification] = [], isPressable: Bool = false,
        _ make: (ParsedArguments, Container) throws -> Provider
    ) -> Never where Provider.Snapshot: WidgetContent {
        var usage = ["\(name) [--group GROUP] [--hosted | --once | --output BAR]"]
        if isPressable { usage.append("\(name) [--group GROUP] --press WORD | --press-line N") }
        let specification = CommandSpecification(
            name: name, summary: summary, usage: usage,
            options: options + [
                .value("group", letter: "g", "GROUP", help: "The container; the default is \(group)."),
                .flag("hosted", help: "Exchange messages with widget-host on standard input and output."),
                .value(
                    "output", letter: "o", "BAR", help: "Print lines for a status bar: waybar, polybar or i3blocks."),
                .flag("once", help: "Refresh once and end: status 0 for newData, 3 for noData, 1 for failed."),
                .flag("expanded", help: "Show the expanded view instead of the compact view."),
            ] + (isPressable ? Pressing.options : [])
                + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
            exitStatuses: [HelpEntry("0", "newData"), HelpEntry("1", "failed"), HelpEntry("3", "noData")])
        CommandRun.main(specification, needing: traits) { run in
            let container = try container(run.arguments, else: group)
            let provider = try make(run.arguments, container)
            let program = WidgetProgram(provider, in: container)
            if isPressable, try Pressing.perform(run.arguments, program, timeout: run.lockTimeout) { return .success }
            let environment =
                run.arguments.flag("expanded")
                ? WidgetEnvironment(displayMode: .expanded, maximumSize: WidgetSize(columns: 80, rows: 20))
                : WidgetEnvironment()
            let (isJSON, timeout) = (run.options.isJSON, run.lockTimeout)
            if run.arguments.flag("hosted") {
                try blocking { try await program.converse() }
                return .success
            }
            if let name = try run.arguments.text("output") {
                guard let bar = BarFormat(rawValue: name) else {
                    throw run.arguments.usageError("--output must be waybar, polybar or i3blocks")
                }
                let presser = isPressable ? Pressing.command(["--group", "\(container.path)"]) : nil
                try printing { try await program.print(to: bar, presser: presser) }
                return .success
            }
            if run.arguments.flag("once") {
                return try blocking {
                    try await once(provider, container, environment, timeout: timeout, isJSON: isJSON)
                }
            }
            try printing {
                try await program.follow(environment) { shown in
                    // A line is a rendering, or a failure.
                    if shown.isPlaceholder && shown.failure == nil { return }
                    try show(provider.kind, shown.view, shown.failure, isJSON: isJSON)
                }
            }
            return .success
        }
    }

    /// Returns the container of `--group`, else that of the host, else that of the app.
    package static func container(_ arguments: ParsedArguments, else group: String) throws -> Container {
        if let name = arguments.value("group") { return try Container(named: name, creating: true) }
        if arguments.flag("hosted"), let container = try Container.ofWidgetHost() { return container }
        return try Container(named: Array(group.utf8), creating: true)
    }

    private static func once<Provider: WidgetProvider>(
        _ provider: Provider, _ container: Container, _ environment: WidgetEnvironment, timeout: Duration, isJSON: Bool
    ) async throws -> ExitStatus where Provider.Snapshot: WidgetContent {
        let kind = provider.kind
        let refresh = WidgetRefresh(provider, in: container, environment: environment, timeout: timeout) {
            complain(of: $0, kind)
        }
        switch try await refresh.performUpdate({ try show(kind, $0.view, nil, isJSON: isJSON) }) {
        case .newData: return .success
        case .noData: return .noData
        case .failed: return .failure
        }
    }

    /// Prints why a refresh failed, on standard error. The text may be that of another program.
    package static func complain(of error: any Error, _ kind: String) {
        var errors = StandardOutput(descriptor: 2)
        let isForTerminal = StandardOutput.isTerminalForErrors
        try? errors.writeLine(TerminalText.message("\(kind): \(error)", isForTerminal: isForTerminal))
        try? errors.flush()
    }

    /// Prints the view as one line, whatever its size.
    private static func show(_ kind: String, _ view: WidgetView, _ failure: String?, isJSON: Bool) throws {
        var output = StandardOutput()
        let lines = view.lines.map { $0.described(at: Date()) }
        if isJSON {
            let fields: [(String, JSONValue)] = [
                ("widget", .string(kind)), ("lines", .array(lines.map { .string($0) })),
                ("failure", failure.map { .string($0) } ?? .null),
            ]
            try output.writeLine(JSONValue.object(fields).encoded())
        } else {
            try output.writeLine(TerminalName.line(of: [kind, lines.joined(separator: " / ")]))
        }
        try output.flush()
    }
}
