import Extensions
import GroupContainer
import NotebookShared

// The share extension of the notebook: a text that is shared becomes a note. The extension opens the database, as the
// app does.

struct NoContainer: Error, CustomStringConvertible {
    let description = "the manifest names no group"
}

try await ExtensionProgram { context in
    guard let container = context.container else { throw NoContainer() }
    let notebook = try Notebook(in: container)
    for item in context.inputItems {
        if let text = item.text { try notebook.add(text) }
        for attachment in item.attachments {
            if case .text(let text) = attachment.content { try notebook.add(text) }
        }
    }
    try context.complete()
}.run()
