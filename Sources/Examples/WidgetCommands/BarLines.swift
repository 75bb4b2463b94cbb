import GroupCommandLine
import GroupSystemCalls
package import Widgets

extension WidgetProgram {
    /// A widget in a status bar: a line whenever what is shown changes.
    package func print(to bar: BarFormat) async throws {
        let last = Guarded("")
        let kind = provider.kind
        try await follow { shown in
            let line = bar.line(shown.view, kind: kind)
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
    }
}
