import GroupContainer
import GroupSystemCalls

// Runs the tour of docs/guide/tour.md in the container at a path. `Tour.swift` is the code of that document, to the
// letter; tools/check compares them.

guard CommandLine.arguments.count == 2 else {
    print("usage: tour PATH")
    exitProcess(64)
}
try await tour(Container(path: CommandLine.arguments[1], creating: true))
