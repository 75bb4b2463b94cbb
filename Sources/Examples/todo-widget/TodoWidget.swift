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
