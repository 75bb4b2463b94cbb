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
}
