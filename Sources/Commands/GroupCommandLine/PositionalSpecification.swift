/// A positional argument of a command.
package struct PositionalSpecification: Sendable, Equatable {
    /// How many words a positional takes.
    package enum Arity: Sendable, Equatable {
        /// Exactly one word.
        case required

        /// One word or none.
        case optional

        /// One word or more; only for the last positional.
        case variadic

        /// Any number of words, none included; only for the last positional.
        case anyNumber

        /// Whether more words may follow the first one.
        var isRepeated: Bool { self == .variadic || self == .anyNumber }

        /// Whether a word must be there.
        var isRequired: Bool { self == .required || self == .variadic }
    }

    /// The name in the help and in errors: `GROUP`.
    package let name: String

    /// How many words the positional takes.
    package let arity: Arity

    /// What the positional means; a positional without a text is not listed in the help.
    package let help: String

    /// Declares a positional argument.
    package init(_ name: String, _ arity: Arity = .required, help: String = "") {
        self.name = name
        self.arity = arity
        self.help = help
    }
}
