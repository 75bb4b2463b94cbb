/// Sorts the words of a command line by what its specification says they mean.
///
/// GNU habits: `--name=value` and `--name value`, `-n5` and `-n 5`, letters of flags in one word, options
/// between positionals, `--` ends the options. Names are not abbreviated, so that a new option breaks no script.
package struct ArgumentParser: Sendable {
    private let root: CommandSpecification

    /// Parses for this command.
    package init(_ root: CommandSpecification) { self.root = root }

    /// What the words, without the program's name, ask for. `--help` and `--version` count as soon as they are met.
    package func parse(_ words: [[UInt8]]) throws(UsageError) -> Invocation {
        var pass = ParsingPass(root: root, words: words)
        return try pass.run()
    }

    /// Whether `--name` stands among the words before a `--`: a usage error may come before the parser
    /// has met `--json`, and is still to be told in JSON.
    package static func mentions(_ name: String, in words: [[UInt8]]) -> Bool {
        words.prefix { $0 != Array("--".utf8) }.contains(Array("--\(name)".utf8))
    }
}
