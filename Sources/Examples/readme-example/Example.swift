public import GroupContainer
import Widgets

struct NextItem: WidgetProvider {
    static let kind = "next-item"
    var interests: [Interest] { [.path("todo.json")] }

    func snapshot(in context: Context) async throws -> String {
        try await context.coordinator.read("todo.json", as: [String].self).first ?? "all done"
    }
}

/// Changes an item, sets a key, refreshes a widget, and follows the changes.
public func example(_ container: Container) async throws {
    // Reads, changes and writes under one lock: no other process's change is lost.
    let app = container.coordinator(purpose: "todo-app")
    try await app.update("todo.json", default: [String]()) { $0.append("Milk") }
    // Small values, which every process reads at once.
    try GroupDefaults(container, suite: "settings").set("dark", forKey: "theme")
    // In a widget's process: is there something new?
    print(try await Refresh(NextItem(), in: container).performUpdate { print("next:", $0) })
    // What happened and what happens, in order, each once. A cursor outlives the process.
    for try await change in container.changes(since: .start) where change.path == "todo.json" {
        print(change.kind.name, change.path, change.by?.purpose ?? "uncoordinated", change.cursor)
        break
    }
}
