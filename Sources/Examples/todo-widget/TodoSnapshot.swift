import Widgets

/// What the widget shows: as one text, for logs, and as lines, for hosts and bars.
struct TodoSnapshot: WidgetContent, Hashable {
    var title: String
    var text: String
    var lines: [WidgetView.Line]

    var view: WidgetView { WidgetView(title: title, lines: lines) }
}

extension TodoSnapshot {
    /// Every entry.
    init(list todos: [Todo]) {
        title = "To do"
        text = todos.map { ($0.done ? "[x] " : "[ ] ") + $0.title }.joined(separator: ", ")
        lines = todos.map { $0.done ? .init("✓ \($0.title)", .secondary) : .init($0.title) }
        if lines.isEmpty { lines = [.init("nothing to do", .good)] }
    }

    /// How many are open.
    init(countOf todos: [Todo]) {
        title = "Open"
        let open = todos.count { !$0.done }
        text = "\(open) to do"
        lines = [.init(text, open == 0 ? .good : .prominent)]
    }

    /// The first open one.
    init(nextOf todos: [Todo]) {
        title = "Next"
        let next = todos.first { !$0.done }
        text = next?.title ?? "all done"
        lines = [next.map { .init($0.title, .prominent) } ?? .init(text, .good)]
    }
}
