/// A term and what it means: an exit status, or an example and what it does.
package struct HelpEntry: Sendable, Equatable {
    /// What is explained.
    package let term: String

    /// The explanation.
    package let text: String

    /// Explains a term.
    package init(_ term: String, _ text: String) {
        self.term = term
        self.text = text
    }
}
