import GroupBytes
package import GroupCommandLine
package import GroupContainer

/// The option `--since`.
package enum OriginOption {
    /// Returns the origin; nil without the option. `words`: the words that are allowed besides a cursor.
    package static func origin(
        _ arguments: ParsedArguments, words: [(String, ChangeOrigin)]
    ) throws(UsageError) -> ChangeOrigin? {
        guard let text = try arguments.text("since") else { return nil }
        if let known = words.first(where: { $0.0 == text }) { return known.1 }
        guard let cursor = Cursor(text) else {
            let names = words.map(\.0)
            let list =
                (names.dropLast().isEmpty ? "" : names.dropLast().joined(separator: ", ") + " or ")
                + (names.last ?? "")
            throw arguments.usageError(
                "--since: '\(PipeText.escaped(Array(text.utf8)))' is neither a cursor nor \(list)")
        }
        return .cursor(cursor)
    }
}
