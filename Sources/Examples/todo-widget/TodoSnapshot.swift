import TodoShared
import Widgets

/// The content of the widget: as one text, for logs, and as lines, for hosts and bars.
struct TodoSnapshot: WidgetContent, Hashable {
    var title: String
    var text: String
    var lines: [WidgetView.Line]

    var view: WidgetView { WidgetView(title: title, lines: lines) }
}

extension TodoSnapshot {
    /// Creates a list of all entries, the latest first; if there are none, a button to add one.
    init(list todos: [Todo]) {
        title = "To do"
        text = todos.map { ($0.done ? "[x] " : "[ ] ") + $0.title }.joined(separator: ", ")
        lines = todos.enumerated().reversed().map { index, todo in
            let url = TodoLink.entry(index + 1).url
            return todo.done ? .init("✓ \(todo.title)", .secondary, url: url) : .init(todo.title, url: url)
        }
        if lines.isEmpty { lines = [.init("+ Add an entry", .prominent, url: TodoLink.add.url)] }
    }

    /// Creates the number of open entries.
    init(countOf todos: [Todo]) {
        title = "Open"
        let open = todos.count { !$0.done }
        text = "\(open) to do"
        lines = [.init(text, open == 0 ? .good : .prominent)]
    }

    /// Creates the first open entry.
    init(nextOf todos: [Todo]) {
        title = "Next"
        let next = todos.first { !$0.done }
        text = next?.title ?? "all done"
        lines = [next.map { .init($0.title, .prominent) } ?? .init(text, .good)]
    }
}
