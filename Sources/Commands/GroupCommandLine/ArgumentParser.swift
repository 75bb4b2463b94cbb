/// Sorts the words of a command line by their meaning in its specification.
///
/// Follows GNU: `--name=value` and `--name value`, `-n5` and `-n 5`, letters of flags in one word, options between
/// positionals, `--` ends the options. Names are not abbreviated, so that a new option breaks no script.
package struct ArgumentParser: Sendable {
    private let root: CommandSpecification

    /// Creates a parser for a command.
    package init(_ root: CommandSpecification) { self.root = root }

    /// Returns what the words, without the program's name, request. `--help` and `--version` take effect as soon as
    /// they are met.
    package func parse(_ words: [[UInt8]]) throws(UsageError) -> Invocation {
        var pass = ParsingPass(root: root, words: words)
        return try pass.run()
    }

    /// Returns whether `--name` is among the words before a `--`: a usage error may come before the parser has met
    /// `--json`, and must still be printed as JSON.
    package static func mentions(_ name: String, in words: [[UInt8]]) -> Bool {
        words.prefix { $0 != Array("--".utf8) }.contains(Array("--\(name)".utf8))
    }

    /// The form of `mentions` for a flag that also has a letter, alone or among those of other flags.
    package func mentions(flag name: String, in words: [[UInt8]]) -> Bool {
        if Self.mentions(name, in: words) { return true }
        let options = Self.options(of: root)
        let letter = options.first { $0.name == name }?.letter?.asciiValue
        // The rest of a word after another letter is a value.
        let flags = options.filter { $0.placeholder == nil }.compactMap { $0.letter?.asciiValue }
        let values = options.filter { $0.placeholder != nil }.compactMap { $0.letter?.asciiValue }
        let dash = UInt8(ascii: "-")
        return words.prefix { $0 != [dash, dash] }.contains { word in
            guard let letter, word.first == dash else { return false }
            return word.dropFirst().prefix { flags.contains($0) && !values.contains($0) }.contains(letter)
        }
    }

    private static func options(of command: CommandSpecification) -> [OptionSpecification] {
        command.options + command.subcommands.flatMap(options)
    }
}

/// The request of a command line.
package enum Invocation: Sendable, Equatable {
    /// Run the command.
    case run(ParsedArguments)

    /// Print this text, which ends in a newline, and end with 0.
    case help(String)

    /// Print the version and end with 0.
    case version
}
