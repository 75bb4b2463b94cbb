import Extensions

try await ExtensionProgram { context in
    if let container = context.container {
        for item in context.inputItems { try await ShareInbox(container).add(item) }
    }
}.run()
