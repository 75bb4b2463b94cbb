/// One option of a command, as the parser accepts it and the help shows it.
package struct OptionSpecification: Sendable, Equatable {
    /// The heading of options that say nothing else.
    package static let plainHeading = "Options"

    /// The heading under which `--help` and `--version` stand; for the set every command shares.
    package static let commonHeading = "Common options"

    /// The long name without its dashes: `timeout`. ASCII.
    package let name: String

    /// The short name without its dash, if there is one. ASCII.
    package let letter: Character?

    /// What stands for the value in the help (`TIME`); nil for a flag, which takes none.
    package let placeholder: String?

    /// Whether every occurrence counts. Of an option that is not repeatable the last one counts, as GNU does.
    package let isRepeatable: Bool

    /// What the option does, in a sentence or two.
    package let help: String

    /// The section of the help it is listed in.
    package let heading: String

    /// The values that there are, for completions; none where any may be.
    package let choices: [String]

    /// An option without a value.
    package static func flag(
        _ name: String, letter: Character? = nil, heading: String = plainHeading, help: String
    ) -> OptionSpecification {
        OptionSpecification(
            name: name, letter: letter, placeholder: nil, isRepeatable: false, help: help, heading: heading, choices: []
        )
    }

    /// An option with a value, of which the last occurrence counts.
    package static func value(
        _ name: String, letter: Character? = nil, _ placeholder: String, heading: String = plainHeading,
        choices: [String] = [], help: String
    ) -> OptionSpecification {
        OptionSpecification(
            name: name, letter: letter, placeholder: placeholder, isRepeatable: false, help: help, heading: heading,
            choices: choices)
    }

    /// An option with a value, of which every occurrence counts.
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
