/// One positional argument of a command.
package struct PositionalSpecification: Sendable, Equatable {
    /// How many words it takes.
    package enum Arity: Sendable, Equatable {
        /// Exactly one word.
        case required

        /// One word or none.
        case optional

        /// One word or more; only for the last positional.
        case variadic
    }

    /// The name the help and the errors use: `GROUP`.
    package let name: String

    /// How many words it takes.
    package let arity: Arity

    /// What it means; one without a text is not listed in the help.
    package let help: String

    /// Declares a positional argument.
    package init(_ name: String, _ arity: Arity = .required, help: String = "") {
        self.name = name
        self.arity = arity
        self.help = help
    }
}
