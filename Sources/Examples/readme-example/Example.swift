public import GroupContainer
import Widgets

struct NextItem: WidgetProvider {
    static let kind = "next-item"
    var interests: [WidgetInterest] { [.path("todo.json")] }

    func snapshot(in context: WidgetContext) async throws -> String {
        try await context.coordinator.read("todo.json", as: [String].self).first ?? "all done"
    }
}

/// Changes an item, sets a key, refreshes a widget, and follows the changes.
public func example(_ container: Container) async throws {
    // Reads, changes and writes under one lock: no other process's change is lost.
    let app = container.coordinator(purpose: "todo-app")
    try await app.update("todo.json", default: [String]()) { $0.append("Milk") }
    // Sets a small value; every process sees it when the call returns.
    try GroupDefaults(container, suite: "settings").set("dark", forKey: "theme")
    // Refreshes a widget; the result is newData, noData or failed.
    print(try await WidgetRefresh(NextItem(), in: container).performUpdate { print("next:", $0) })
    // Follows the changes: those still in the journal, then each new one. A cursor can be stored, to continue later.
    for try await change in container.changes(since: .start) where change.path == "todo.json" {
        print(change.kind.name, change.path, change.author?.purpose ?? "uncoordinated", change.cursor)
        break
    }
}
