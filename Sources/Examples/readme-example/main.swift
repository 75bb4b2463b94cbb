import GroupContainer
import GroupSystemCalls

// Runs the README's example in the container at a path, or the tour of docs/guide/tour.md. `Example.swift` and `Tour.swift` are
// the code of these documents, to the letter; tools/check compares them.

let words = CommandLine.arguments.dropFirst()
guard let path = words.first, words.count == 1 || Array(words.dropFirst()) == ["tour"] else {
    print("usage: readme-example PATH [tour]")
    exitProcess(64)
}
let container = try Container(path: path, creating: true)
if words.count == 1 { try await example(container) } else { try await tour(container) }
