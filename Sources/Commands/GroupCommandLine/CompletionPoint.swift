/// The kind of word that is expected at the cursor of an incomplete command line.
package struct CompletionPoint: Sendable {
    /// The kinds of words that can be expected.
    package enum Expected: Sendable, Equatable {
        /// One of these words.
        case words([HelpEntry])
        /// The value of an option.
        case value(OptionSpecification)
        case positional(PositionalSpecification)
        /// A COMMAND and its arguments, or nothing.
        case other
    }

    package private(set) var expected = Expected.other

    /// The part of the word that is already typed.
    package private(set) var partial: [UInt8]

    /// The part of the same word before it, such as `--color=`.
    package private(set) var attached = ""

    /// The words of the positionals before the cursor, each with its name.
    package private(set) var positionals: [ParsedArguments.NamedValue] = []

    /// The values of the options before the cursor.
    package private(set) var options: [ParsedArguments.NamedValue] = []

    private var outer: [CommandSpecification] = []
    private var inner: CommandSpecification

    /// Creates the point of the last of the words, which is being typed and may be empty.
    package init(_ root: CommandSpecification, words: [[UInt8]]) {
        inner = root
        partial = words.last ?? []
        var acceptsOptions = true
        var pending: OptionSpecification?
        for word in words.dropLast() {
            if let option = pending {
                options.append(.init(name: option.name, value: word))
                pending = nil
            } else if acceptsOptions, word == Array("--".utf8) {
                if inner.trailingCommand != .none { return }
                acceptsOptions = false
            } else if acceptsOptions, word.count > 1, word.first == UInt8(ascii: "-") {
                pending = option(awaitingItsValueBehind: word)
            } else if inner.subcommands.isEmpty {
                positionals += nextPositional.map { [.init(name: $0.name, value: word)] } ?? []
            } else if let next = inner.subcommands.first(where: { Array($0.name.utf8) == word }) {
                outer.append(inner)
                inner = next
            } else if word != Array("help".utf8) {
                return
            }
        }
        expected = lastWord(pending, acceptsOptions)
    }

    private mutating func lastWord(_ pending: OptionSpecification?, _ acceptsOptions: Bool) -> Expected {
        if let pending { return .value(pending) }
        if acceptsOptions, partial.first == UInt8(ascii: "-") {
            if let equals = partial.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(decoding: partial[..<equals].dropFirst(2), as: UTF8.self)
                attached = String(decoding: partial[...equals], as: UTF8.self)
                partial = Array(partial[(equals + 1)...])
                return known.first { $0.name == name && $0.placeholder != nil }.map { .value($0) } ?? .other
            }
            return .words(known.map { HelpEntry("--\($0.name)", $0.help) })
        }
        if !inner.subcommands.isEmpty {
            return .words(inner.subcommands.map { HelpEntry($0.name, $0.brief) } + [Self.help])
        }
        if let next = nextPositional { return .positional(next) }
        return inner.trailingCommand == .none ? .other : .words([HelpEntry("--", "COMMAND comes after it.")])
    }

    private static let help = HelpEntry("help", "Show the help of a command.")

    private var known: [OptionSpecification] {
        inner.options + outer.reversed().flatMap(\.options) + [.help, .version]
    }

    private var nextPositional: PositionalSpecification? {
        if positionals.count < inner.positionals.count { return inner.positionals[positionals.count] }
        return inner.positionals.last?.arity.isRepeated == true ? inner.positionals.last : nil
    }

    /// Returns the option whose value is the next word; nil if the word is complete.
    private mutating func option(awaitingItsValueBehind word: [UInt8]) -> OptionSpecification? {
        if word[1] == UInt8(ascii: "-") {
            let parts = word.dropFirst(2).split(separator: UInt8(ascii: "="), maxSplits: 1)
            let name = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
            guard let option = known.first(where: { $0.name == name }), option.placeholder != nil else { return nil }
            if parts.count < 2 { return option }
            options.append(.init(name: name, value: Array(parts[1])))
            return nil
        }
        for (index, byte) in word.enumerated().dropFirst() {
            let letter = Character(Unicode.Scalar(byte))
            guard let option = known.first(where: { $0.letter == letter }) else { return nil }
            if option.placeholder != nil { return index == word.count - 1 ? option : nil }
        }
        return nil
    }
}
