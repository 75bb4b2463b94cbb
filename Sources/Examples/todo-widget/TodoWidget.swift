import GroupContainer
import Widgets

/// What the widget shows: made from the app's list, which it reads under a shared lease.
struct TodoWidget: WidgetProvider {
    enum Style: String, Sendable {
        case list, count, next
    }

    /// The part of the app's entries that the widget understands.
    private struct Todo: Codable, Sendable {
        var title: String
        var done: Bool
    }

    let style: Style

    static let kind = "todo"
    var kind: String { "\(Self.kind)-\(style.rawValue)" }
    var interests: [Interest] { [.path("Library/todo.json")] }

    func snapshot(in context: Context) async throws -> String {
        let todos: [Todo]
        do {
            todos = try await context.coordinator.read("Library/todo.json", as: [Todo].self)
        } catch let error as CoordinationError where error.code == .notFound {
            todos = []
        }
        let open = todos.filter { !$0.done }
        switch style {
        case .list: return todos.map { ($0.done ? "[x] " : "[ ] ") + $0.title }.joined(separator: ", ")
        case .count: return "\(open.count) to do"
        case .next: return open.first?.title ?? "all done"
        }
    }
}
