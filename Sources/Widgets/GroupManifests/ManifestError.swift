/// A mistake in a manifest: the file, the field, its line, the cause, and what would be correct.
package struct ManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// The field; nil for the file as a whole.
    package var field: String?
    /// The line of the field, counted from 1; nil for a field that is missing, and for the file as a whole.
    package var line: Int?
    package var cause: String
    package var advice: String?

    package init(_ file: String, field: String? = nil, line: Int? = nil, _ cause: String, advice: String? = nil) {
        self.file = file
        self.field = field
        self.line = line
        self.cause = cause
        self.advice = advice
    }

    package var description: String {
        "manifest '\(file)'" + (line.map { ", line \($0)" } ?? "") + ": " + (field.map { "\($0): " } ?? "") + cause
            + (advice.map { "; \($0)" } ?? "")
    }
}
