import Extensions

// An action: takes texts, and hands each back with capital letters at the beginnings of its words.

try await ExtensionProgram { context in
    var items: [ExtensionItem] = []
    for attachment in context.inputItems.flatMap(\.attachments) {
        let words = try await attachment.loadText().split(separator: " ", omittingEmptySubsequences: false)
        let title = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
        items.append(ExtensionItem(attachments: [.text(title)]))
    }
    try context.complete(returning: items)
}.run()
