import GroupCommandLine
import GroupCommands
import GroupContainer
import WidgetCommands
import Widgets

/// A widget that keeps running: refreshes at its start, for the changes that it missed, and after each change that
/// concerns it.
struct LiveWidget: Sendable {
    private let widget: TodoWidget
    private let container: Container
    private let timeout: Duration
    private let isJSON: Bool

    init(_ widget: TodoWidget, in container: Container, timeout: Duration, isJSON: Bool) {
        self.widget = widget
        self.container = container
        self.timeout = timeout
        self.isJSON = isJSON
    }

    func run() async throws {
        _ = container.coordinator(purpose: widget.kind)
        // Follow before the refresh: a change in between is seen by both, and the second refresh returns noData.
        var changes = container.changes(since: .now, matching: ["Library/todo.json"]).makeAsyncIterator()
        _ = try await refresh()
        while try await changes.next() != nil { _ = try await refresh() }
    }

    func refresh() async throws -> ExitStatus {
        var shown = ""
        let kind = widget.kind
        let refresh = WidgetRefresh(widget, in: container, timeout: timeout) {
            WidgetCommand.complain(of: $0, kind)
        }
        let result = try await refresh.performUpdate { shown = $0.text }
        try show(result, shown)
        switch result {
        case .newData: return .success
        case .noData: return .noData
        case .failed: return .failure
        }
    }

    private func show(_ result: UpdateResult, _ snapshot: String) throws {
        var output = StandardOutput()
        if isJSON {
            let fields: [(String, JSONValue)] = [
                ("widget", .string(widget.kind)), ("result", .string(result.rawValue)),
                ("snapshot", result == .newData ? .string(snapshot) : .null),
            ]
            try output.writeLine(JSONValue.object(fields).encoded())
        } else {
            try output.writeLine(TerminalName.line(of: [widget.kind, result.rawValue, snapshot]))
        }
        try output.flush()
    }
}
