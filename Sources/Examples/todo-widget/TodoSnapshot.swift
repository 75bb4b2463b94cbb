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
            .init(
                todo.title, todo.done ? .secondary : .normal, url: TodoLink.entry(index + 1).url,
                control: .toggle(TodoEntry(number: index + 1, title: todo.title).id, isOn: todo.done))
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
        guard let index = todos.firstIndex(where: { !$0.done }) else {
            text = "all done"
            lines = [.init(text, .good)]
            return
        }
        text = todos[index].title
        let entry = TodoEntry(number: index + 1, title: text)
        lines = [.init(text, .prominent, control: .toggle(entry.id, isOn: false))]
    }
}
