import Extensions
import GroupContainer

// The share extension of the bookmarks: puts what is shared into the app's inbox. The app need not run.

struct NoContainer: Error, CustomStringConvertible {
    let description = "the manifest names no group"
}

try await ExtensionProgram { context in
    guard let container = context.container else { throw NoContainer() }
    let inbox = try ShareInbox(container)
    for item in context.inputItems { try await inbox.add(item) }
    try context.complete()
}.run()
