/// What a command accepts and what its help says: a value, without behaviour.
package struct CommandSpecification: Sendable, Equatable {
    /// Whether a `-- COMMAND [ARG…]` to be run may follow.
    package enum TrailingCommand: Sendable, Equatable {
        /// None may follow; `--` only ends the options.
        case none

        /// It may be left out.
        case optional

        /// Without it the line is a usage error.
        case required
    }

    /// The word it is called by: `groupctl`, or `read` for a subcommand.
    package let name: String

    /// What it does, in one line.
    package let summary: String

    /// The complete usage lines, without the word "Usage".
    package let usage: [String]

    /// Its own options; a subcommand accepts those of the commands around it as well.
    package let options: [OptionSpecification]

    /// Its positional arguments in order. Required ones first; a variadic one last. There are none beside subcommands:
    /// a subcommand stands before all of them (`defaults get GROUP SUITE KEY`).
    package let positionals: [PositionalSpecification]

    /// Whether a command to be run may follow.
    package let trailingCommand: TrailingCommand

    /// The commands under this one; where there are any, one of them must be given.
    package let subcommands: [CommandSpecification]

    /// The subcommand that a caller who names none has most probably meant.
    package let usualSubcommand: String?

    /// What it is for, in whole paragraphs, for its manual page; without any, the summary.
    package let description: [String]

    /// The variables that it heeds, and the files that it keeps, each with its meaning.
    package let environment: [HelpEntry], files: [HelpEntry]

    /// Other pages: `groupctl(1)`.
    package let seeAlso: [String]

    /// What else is to be known, each paragraph under its heading.
    package let notes: [HelpEntry]

    /// Command lines worth copying, each with what it does.
    package let examples: [HelpEntry]

    /// The exit statuses worth telling apart, each with its meaning.
    package let exitStatuses: [HelpEntry]

    /// Declares a command.
    package init(
        name: String,
        summary: String,
        usage: [String],
        options: [OptionSpecification] = [],
        positionals: [PositionalSpecification] = [],
        trailingCommand: TrailingCommand = .none,
        subcommands: [CommandSpecification] = [],
        usualSubcommand: String? = nil,
        description: [String] = [],
        environment: [HelpEntry] = [],
        files: [HelpEntry] = [],
        seeAlso: [String] = [],
        notes: [HelpEntry] = [],
        examples: [HelpEntry] = [],
        exitStatuses: [HelpEntry] = []
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.options = options
        self.positionals = positionals
        self.trailingCommand = trailingCommand
        self.subcommands = subcommands
        self.usualSubcommand = usualSubcommand
        (self.description, self.environment, self.files) = (description, environment, files)
        self.seeAlso = seeAlso
        self.notes = notes
        self.examples = examples
        self.exitStatuses = exitStatuses
    }
}
