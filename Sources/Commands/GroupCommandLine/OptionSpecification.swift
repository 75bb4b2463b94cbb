/// An option of a command, for the parser and for the help.
package struct OptionSpecification: Sendable, Equatable {
    /// The heading of options without one of their own.
    package static let plainHeading = "Options"

    /// The heading of `--help`, `--version` and the options that every command shares.
    package static let commonHeading = "Common options"

    /// The long name without its dashes: `timeout`. ASCII.
    package let name: String

    /// The short name without its dash, if there is one. ASCII.
    package let letter: Character?

    /// The placeholder for the value in the help (`TIME`); nil for a flag, which takes none.
    package let placeholder: String?

    /// Whether every occurrence counts. For other options the last one counts, as in GNU's tools.
    package let isRepeatable: Bool

    /// What the option does, in a sentence or two.
    package let help: String

    /// The section of the help that lists the option.
    package let heading: String

    /// The possible values, for completions; empty if any value is allowed.
    package let choices: [String]

    /// Declares an option without a value.
    package static func flag(
        _ name: String, letter: Character? = nil, heading: String = plainHeading, help: String
    ) -> OptionSpecification {
        OptionSpecification(
            name: name, letter: letter, placeholder: nil, isRepeatable: false, help: help, heading: heading, choices: []
        )
    }

    /// Declares an option with a value, of which the last occurrence counts.
    package static func value(
        _ name: String, letter: Character? = nil, _ placeholder: String, heading: String = plainHeading,
        choices: [String] = [], help: String
    ) -> OptionSpecification {
        OptionSpecification(
            name: name, letter: letter, placeholder: placeholder, isRepeatable: false, help: help, heading: heading,
            choices: choices)
    }

    /// Declares an option with a value, of which every occurrence counts.
    package static func repeatable(
        _ name: String, letter: Character? = nil, _ placeholder: String, heading: String = plainHeading,
        choices: [String] = [], help: String
    ) -> OptionSpecification {
        OptionSpecification(
            name: name, letter: letter, placeholder: placeholder, isRepeatable: true, help: help, heading: heading,
            choices: choices)
    }

    static let help = flag("help", letter: "h", heading: commonHeading, help: "Show this help and end.")
    static let version = flag(
        "version", letter: "V", heading: commonHeading, help: "Show the package and format version and end.")
}

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
