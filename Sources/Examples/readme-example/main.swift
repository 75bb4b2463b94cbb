import GroupContainer
import GroupSystemCalls

// Runs the README's example in the container at the path that is its only argument. `Example.swift` is the README's
// code, to the letter; tools/check compares them.

guard CommandLine.arguments.count == 2 else {
    print("usage: readme-example PATH")
    exitProcess(64)
}
try await example(Container(path: CommandLine.arguments[1], creating: true))
