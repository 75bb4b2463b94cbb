/// A mistake in a manifest: the file, the field, the cause, and what would be correct.
package struct ManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// The field; nil for the file as a whole.
    package var field: String?
    package var cause: String
    package var advice: String?

    package init(_ file: String, field: String? = nil, _ cause: String, advice: String? = nil) {
        (self.file, self.field, self.cause, self.advice) = (file, field, cause, advice)
    }

    package var description: String {
        "manifest '\(file)': " + (field.map { "\($0): " } ?? "") + cause + (advice.map { "; \($0)" } ?? "")
    }
}
