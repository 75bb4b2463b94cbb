public import GroupContainer
import Widgets

struct Todo: Codable, Equatable, Sendable {
    var title: String
    var done = false
}

extension GroupDefaults.Key<Int> { static let opened = Self("opened", default: 0) }

struct NextTodo: WidgetProvider {
    static let kind = "next-todo"
    var interests: [WidgetInterest] { [.path("Library/todo.json")] }

    func snapshot(in context: WidgetContext) async throws -> String {
        let todos = try await context.coordinator.read("Library/todo.json", as: [Todo].self)
        return todos.first { !$0.done }?.title ?? "all done"
    }
}

/// Uses each part of a container once.
public func tour(_ container: Container) async throws {
    let todos = container.coordinator(purpose: "todo-app")
    let start = container.changes(since: .start)

    // Reads, changes and writes under one lock: no other process's change is lost.
    try await todos.update("Library/todo.json", default: [Todo]()) { $0.append(Todo(title: "Milk")) }

    // Each call has a blocking form, for code that is not async.
    try todos.blocking.write(json: [Todo(title: "Bread")], to: "Library/next-week.json")

    // Several items: all granted, or none.
    try await todos.coordinate(.reading("Library/todo.json"), .writing("Library/backup.json")) { access in
        _ = try access.write(bytes: access.readBytes("Library/todo.json"), to: "Library/backup.json")
    }

    // Several changes that become visible together.
    try await todos.transaction(.writing("Library/open.json"), .writing("Library/done.json")) { access in
        try access.write(json: ["Bread"], to: "Library/open.json")
        try access.write(json: ["Milk"], to: "Library/done.json")
    }

    // Messages: each listener gets each one, also a listener whose process does not run now.
    try GroupChannel(container, name: "news").post(bytes: Array("Milk is done".utf8))

    // Small values: every process sees a set when the call returns, and no set is lost.
    let defaults = try GroupDefaults(container, suite: "settings")
    try defaults.update(.opened) { $0 += 1 }
    print(defaults[.opened], defaults.string(forKey: "theme") ?? "no theme")

    // Refreshes a widget. A call in another process would take the news that the widget's own call is to get.
    let result = try await WidgetRefresh(NextTodo(), in: container).performUpdate { print("next:", $0) }
    print(result)  // newData, noData or failed

    // Follows the changes: those still in the journal, then each new one, in order. A cursor can be stored.
    for try await change in start {
        print(change.kind.name, change.path, change.author?.purpose ?? "uncoordinated", change.cursor)
        if change.path == "Library/backup.json" { break }
    }
}
