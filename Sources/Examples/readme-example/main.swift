import GroupContainer

let container = try Container(path: "./shared", creating: true)
let app = container.coordinator(purpose: "todo-app")
// Reads, changes and writes under one lock: no other process's change is lost.
try await app.update("todo.json", default: [String]()) { $0.append("Milk") }
// Sets a small value, which every process has when the call returns.
try GroupDefaults(container, suite: "settings").set("dark", forKey: "theme")
// Follows the changes: those still in the journal, then each new one, of whichever process.
for try await change in container.changes(since: .start) where change.path == "todo.json" {
    print(change.kind.name, change.path, change.author?.purpose ?? "uncoordinated")
    break
}
