/// A term and its meaning, such as an exit status, or an example.
package struct HelpEntry: Sendable, Equatable {
    /// The term.
    package let term: String

    /// The explanation.
    package let text: String

    /// Creates an entry.
    package init(_ term: String, _ text: String) {
        self.term = term
        self.text = text
    }
}
