/// The arguments and the help of a command: a value, without behavior.
package struct CommandSpecification: Sendable, Equatable {
    /// Whether `-- COMMAND [ARG…]` may follow.
    package enum TrailingCommand: Sendable, Equatable {
        /// No COMMAND may follow; `--` only ends the options.
        case none

        /// A COMMAND may be left out.
        case optional

        /// A line without COMMAND is a usage error.
        case required
    }

    /// The word that calls the command: `groupctl`, or `read` for a subcommand.
    package let name: String

    /// What the command does, in a few sentences.
    package let summary: String

    /// What the command does, for a list of commands: a line of about 60 characters.
    package let brief: String

    /// The heading under which the help of the command around this one lists it; nil if that list has no headings.
    package var heading: String?

    /// The complete usage lines, without the word "Usage".
    package let usage: [String]

    /// The command's own options; a subcommand also accepts those of the commands around it.
    package let options: [OptionSpecification]

    /// The options that the command had before, each with what to call instead.
    package let removedOptions: [String: String]

    /// The positional arguments in order: required ones first, a variadic one last. A command with subcommands has
    /// none: a subcommand comes before all positionals (`defaults get GROUP SUITE KEY`).
    package let positionals: [PositionalSpecification]

    /// Whether a COMMAND may follow.
    package let trailingCommand: TrailingCommand

    /// What to say about a word more than the positionals, for a command whose input people give as an argument.
    package let surplusAdvice: String?

    /// The commands under this one; if there are any, one of them must be given.
    package let subcommands: [CommandSpecification]

    /// The subcommand that is most probably meant by a call without one.
    package let usualSubcommand: String?

    /// What the command is for, in whole paragraphs, for the manual page; if empty, the summary is used.
    package let description: [String]

    /// The environment variables that the command reads, and the files that it keeps, each with its meaning.
    package let environment: [HelpEntry], files: [HelpEntry]

    /// Related manual pages: `groupctl(1)`.
    package let seeAlso: [String]

    /// Further paragraphs of the help, each under its heading.
    package let notes: [HelpEntry]

    /// Command lines to copy, each with what it does.
    package let examples: [HelpEntry]

    /// The exit statuses with a meaning of their own.
    package let exitStatuses: [HelpEntry]

    /// Declares a command.
    package init(
        name: String,
        summary: String,
        brief: String? = nil,
        usage: [String],
        options: [OptionSpecification] = [],
        removedOptions: [String: String] = [:],
        positionals: [PositionalSpecification] = [],
        trailingCommand: TrailingCommand = .none,
        surplusAdvice: String? = nil,
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
        self.brief = brief ?? HelpEntry.firstClause(of: summary)
        self.usage = usage
        self.options = options
        self.removedOptions = removedOptions
        self.positionals = positionals
        self.surplusAdvice = surplusAdvice
        self.trailingCommand = trailingCommand
        self.subcommands = subcommands
        self.usualSubcommand = usualSubcommand
        self.description = description
        self.environment = environment
        self.files = files
        self.seeAlso = seeAlso
        self.notes = notes
        self.examples = examples
        self.exitStatuses = exitStatuses
    }

    /// Returns the commands with a heading for the help of the command around them.
    package static func under(_ heading: String, _ commands: [CommandSpecification]) -> [CommandSpecification] {
        commands.map { command in
            var command = command
            command.heading = heading
            return command
        }
    }

    /// Whether the help is a page that only lists the commands, as they are many: `help options` has the rest.
    var hasListOfCommands: Bool { subcommands.contains { $0.heading != nil } }
}
