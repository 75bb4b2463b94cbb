import CommandLineKit
import GroupContainer
import SystemCalls
import Widgets

/// A widget in a status bar: a line whenever what is shown changes.
struct BarLines: Sendable {
    private let widget: TodoWidget
    private let container: Container
    private let format: BarFormat

    init(_ widget: TodoWidget, in container: Container, as format: BarFormat) {
        (self.widget, self.container, self.format) = (widget, container, format)
    }

    func run() async throws -> ExitStatus {
        let last = Guarded("")
        let (kind, format) = (widget.kind, format)
        try await WidgetProgram(widget, in: container).follow { shown in
            let line = format.line(shown.view, kind: kind)
            // Rendered anew, or failed: a bar shows neither.
            let isNew = last.withLock { last in
                defer { last = line }
                return last != line
            }
            if !isNew { return }
            var output = StandardOutput()
            try output.writeLine(line)
            try output.flush()
        }
        return .success
    }
}
