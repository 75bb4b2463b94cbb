import Glibc
import TestSupport
import Testing

@Suite(.tags(.process)) struct `A widget in a status bar` {
    @Test func `a widget in a status bar prints a line at its start and after each change`() async throws {
        let container = try TemporaryContainer()
        let words = ["--group", container.path, "--style", "next", "--output", "polybar"]
        let first = try container.start("todo-widget", words)
        #expect(try await first.readLine() == "%{F#87af5f}all done%{F-}")
        first.signal(SIGTERM)
        _ = try await first.finish()
        // The first process has shown this view, so it is not new, but the next process has to show it.
        let widget = try container.start("todo-widget", words)
        #expect(try await widget.readLine() == "%{F#87af5f}all done%{F-}")
        for title in ["Milk", "Bread"] { try await add(title, container) }
        let milk = try #require(try await widget.readLine())
        #expect(milk.hasSuffix("'\(container.path)' --press 1%3AMilk=on:}[ ] Milk%{A}"), "\(milk)")
        // Bread changed the list but not the view, so that no line was printed.
        // What a click runs: the text between the tag's colons.
        let command = milk.dropFirst("%{A1:".count).split(separator: ":}")[0]
        #expect(try await container.shell(String(command)).status == 0)
        #expect(try await widget.readLine()?.hasSuffix("[ ] Bread%{A}") == true)
        // The entry is done, and not the one that is shown now, though the click comes twice.
        #expect(try await container.shell(String(command)).status == 0)
        let line = ["--group", container.path, "--style", "next", "--press-line"]
        #expect(try await container.start("todo-widget", line + ["2"]).finish().status == 1)
        #expect(try await container.start("todo-widget", line + ["1"]).finish().status == 0)
        #expect(try await widget.readLine() == "%{F#87af5f}all done%{F-}")
        #expect(try await container.start("todo-widget", line + ["0"]).finish().status == 64)
    }

    @Test(arguments: [
        ["todo-widget", "--style", "next", "--output", "polybar"], ["todo-widget", "--style", "list"],
        ["note-widget", "--output", "waybar"], ["countdown-widget"],
    ])
    func `a widget ends when the reader of its lines is gone, though nothing changes`(words: [String]) async throws {
        let container = try TemporaryContainer()
        let widget = try container.start(words[0], ["--group", container.path] + words.dropFirst())
        #expect(try await widget.readLine() != nil)
        widget.closeOutput()
        let outcome = try await widget.finish()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    }

    private func add(_ title: String, _ container: TemporaryContainer) async throws {
        let todo = try container.start("todo", ["--group", container.path, "add", title])
        #expect(try await todo.finish().status == 0)
    }
}
