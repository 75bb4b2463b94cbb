import GroupContainer
import TodoShared
import Widgets

/// The widget of the list, which is read under a shared lock.
struct TodoWidget: WidgetProvider {
    enum Style: String, Sendable {
        case list, count, next
    }

    let style: Style

    static let kind = "todo"
    var kind: String { "\(Self.kind)-\(style.rawValue)" }
    var interests: [WidgetInterest] { [.path("Library/todo.json")] }

    func items(for action: WidgetAction) -> [AccessIntent] { [.writing(TodoList.path)] }

    /// Ticks an entry off, or opens it again.
    func perform(_ action: WidgetAction, on access: Access) throws {
        guard let entry = TodoEntry(id: action.id), let isDone = action.isOn else {
            throw PressRefusal("the list has no button '\(action.id)'")
        }
        var todos = try access.read(TodoList.path, as: [Todo].self, default: [])
        guard let index = entry.index(in: todos) else { throw PressRefusal("'\(entry.title)' is not on the list") }
        todos[index].done = isDone
        try access.write(json: todos, to: TodoList.path)
    }

    func snapshot(in context: WidgetContext) async throws -> TodoSnapshot {
        let todos: [Todo]
        do {
            todos = try await context.coordinator.read(TodoList.path, as: [Todo].self)
        } catch let error as CoordinationError where error.code == .notFound {
            todos = []
        }
        switch style {
        case .list: return TodoSnapshot(list: todos)
        case .count: return TodoSnapshot(countOf: todos)
        case .next: return TodoSnapshot(nextOf: todos)
        }
    }
}
