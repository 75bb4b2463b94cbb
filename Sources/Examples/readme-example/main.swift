import GroupContainer

let container = try Container(path: CommandLine.arguments[1], creating: true)
let app = container.coordinator(purpose: "todo-app")
// Reads and writes under one lock: no change is lost.
try await app.update("todo.json", default: [String]()) { $0.append("Milk") }
// Every process sees the value when the call returns.
try GroupDefaults(container, suite: "settings").set("dark", forKey: "theme")
// Old changes, then each new one.
for try await change in container.changes(since: .start) where change.path == "todo.json" {
    print(change.kind.name, change.path, change.author?.purpose ?? "external")
    break
}
