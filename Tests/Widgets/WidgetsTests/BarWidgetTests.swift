import Glibc
import TestSupport
import Testing

@Suite(.tags(.process)) struct `A widget in a status bar` {
    @Test func `a widget in a status bar prints a line at its start and after each change`() async throws {
        let container = try await TemporaryContainer()
        let words = ["--group", container.path, "--style", "next", "--output", "polybar"]
        let first = try container.start("todo-widget", words)
        #expect(try await first.readLine() == "%{F#87af5f}all done%{F-}")
        first.signal(SIGTERM)
        _ = try await first.finish()
        // The first process has shown this view, so it is not new, but the next process has to show it.
        let widget = try container.start("todo-widget", words)
        #expect(try await widget.readLine() == "%{F#87af5f}all done%{F-}")
        for title in ["Milk", "Bread"] { try await add(title, container) }
        #expect(try await widget.readLine() == "Milk")
        // Bread changed the list but not the view, so that no line was printed.
        let done = try container.start("todo", ["--group", container.path, "done", "1"])
        #expect(try await done.finish().status == 0)
        #expect(try await widget.readLine() == "Bread")
    }

    private func add(_ title: String, _ container: TemporaryContainer) async throws {
        let todo = try container.start("todo", ["--group", container.path, "add", title])
        #expect(try await todo.finish().status == 0)
    }
}
