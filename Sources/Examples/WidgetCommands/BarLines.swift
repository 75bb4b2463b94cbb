import GroupCommandLine
import GroupSystemCalls
package import Widgets

extension WidgetProgram {
    /// Shows the widget in a status bar: prints a line whenever the text changes. `presser` is the command that a click
    /// on a button or toggle runs.
    package func print(to bar: BarFormat, presser: String? = nil) async throws {
        let last = Guarded("")
        let kind = provider.kind
        try await follow { shown in
            let line = bar.line(shown.view, kind: kind, clicks: BarFormat.Clicks(presser: presser))
            // A new rendering or a failure with the same line is not printed.
            let isNew = last.withLock { last in
                defer { last = line }
                return last != line
            }
            if !isNew { return }
            var output = StandardOutput()
            try output.writeLine(line)
            try output.flush()
        }
    }
}
