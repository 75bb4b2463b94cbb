import Extensions
import GroupContainer

// The extension of a page script: counts the words of the text that its script, page-words.js, has found.

try await ExtensionProgram { context in
    guard case .dictionary(let found) = try PageScript(context.inputItems).value,
        case .string(let text)? = found["text"]
    else { throw ExtensionError(domain: "com.example.page-words", text: "the script has found no text") }
    let words = text.split(whereSeparator: \.isWhitespace).count
    try context.complete(returning: PageScript.result(.dictionary(["words": .integer(words)])))
}.run()
