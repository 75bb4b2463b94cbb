import Glibc
import TestSupport
import Testing

@Suite struct `A widget in a bar` {
    @Test func `prints what it shows at its start, and a line whenever that changes`() async throws {
        let container = try await TemporaryContainer()
        let words = ["--group", container.path, "--style", "next", "--output", "polybar"]
        let first = try container.start("todo-widget", words)
        #expect(try await first.readLine() == "%{F#87af5f}all done%{F-}")
        first.signal(SIGTERM)
        _ = try await first.finish()
        // What the first one has shown is nothing new, and yet the next one has to show it.
        let widget = try container.start("todo-widget", words)
        #expect(try await widget.readLine() == "%{F#87af5f}all done%{F-}")
        for title in ["Milk", "Bread"] { try await add(title, container) }
        #expect(try await widget.readLine() == "Milk")
        // Bread changed the list and not what is shown: there was no line for it.
        let done = try container.start("todo", ["--group", container.path, "done", "1"])
        #expect(try await done.finish().status == 0)
        #expect(try await widget.readLine() == "Bread")
    }

    private func add(_ title: String, _ container: TemporaryContainer) async throws {
        let todo = try container.start("todo", ["--group", container.path, "add", title])
        #expect(try await todo.finish().status == 0)
    }
}
