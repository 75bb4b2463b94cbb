import GroupBytes

/// A pass over the words of a command line, from left to right.
struct ParsingPass {
    private static let dash = UInt8(ascii: "-")

    /// The commands around `inner`, from the program on.
    private var outer: [CommandSpecification] = []
    private var inner: CommandSpecification
    private let words: [[UInt8]]
    private var rest: ArraySlice<[UInt8]>
    private var acceptsOptions = true
    /// How many words `inner`'s own positionals have taken.
    private var positionalCount = 0
    private var parsed: ParsedArguments

    init(root: CommandSpecification, words: [[UInt8]]) {
        inner = root
        self.words = words
        rest = words[...]
        parsed = ParsedArguments(commandPath: [root.name])
    }

    mutating func run() throws(UsageError) -> Invocation {
        while parsed.command == nil, let word = rest.popFirst() {
            if word == [Self.dash, Self.dash], inner.trailingCommand != .none {
                guard !rest.isEmpty else { throw parsed.usageError("missing COMMAND after '--'") }
                parsed.command = Array(rest)
            } else if word == [Self.dash, Self.dash], acceptsOptions {
                acceptsOptions = false
            } else if acceptsOptions, word.count > 1, word[0] == Self.dash {
                let met = word[1] == Self.dash ? try takeName(word) : try takeLetters(word)
                if let met { return met }
            } else {
                if let met = try takeOperand(word) { return met }
            }
        }
        try checkNothingIsMissing()
        return .run(parsed)
    }

    /// The options of `inner` first, then those of the commands around it, so that a subcommand may use a letter of the
    /// common options.
    private var knownOptions: [OptionSpecification] {
        inner.options + outer.reversed().flatMap(\.options) + [.help, .version]
    }

    private mutating func takeName(_ word: [UInt8]) throws(UsageError) -> Invocation? {
        let body = word.dropFirst(2)
        let parts = body.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let name = PipeText.escaped(Array(parts[0]))
        guard let option = knownOptions.first(where: { $0.name == name }) else {
            if let instead = inner.removedOptions[name] {
                throw parsed.usageError("the option '--\(name)' is no more; instead: \(instead)")
            }
            throw unknown("option '--\(name)'", name, among: knownOptions.map(\.name), prefix: "--")
        }
        return try take(option, spelled: "--\(name)", attached: parts.count > 1 ? parts[1] : nil)
    }

    private mutating func takeLetters(_ word: [UInt8]) throws(UsageError) -> Invocation? {
        for position in 1..<word.count {
            let letter = Character(Unicode.Scalar(word[position]))
            guard let option = knownOptions.first(where: { $0.letter == letter }) else {
                let isNumber = word[1...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                let shown = PipeText.escaped(isNumber || word[position] >= 0x80 ? word : [Self.dash, word[position]])
                throw parsed.usageError(
                    "unknown option '\(shown)'"
                        + (isNumber
                            ? "; put '--' before a negative number"
                            : positionalCount > 0 && positionalCount < inner.positionals.count
                                ? "; put '--' before a name that begins with '-'" : ""))
            }
            let remainder = word[(position + 1)...]
            let takesRemainder = option.placeholder != nil && !remainder.isEmpty
            let met = try take(option, spelled: "-\(letter)", attached: takesRemainder ? remainder : nil)
            if met != nil || option.placeholder != nil { return met }
        }
        return nil
    }

    /// The placeholders of values that are never empty.
    private static let places: Set<String> = ["FILE", "DIR", "URL", "COMMAND"]

    private mutating func take(
        _ option: OptionSpecification, spelled: String, attached: ArraySlice<UInt8>?
    ) throws(UsageError) -> Invocation? {
        var value: [UInt8] = []
        if let placeholder = option.placeholder {
            guard let given = attached.map(Array.init) ?? rest.popFirst() else {
                throw parsed.usageError("option '\(spelled)' needs a value: \(placeholder)")
            }
            // From a variable that is not set: an empty address of a socket, for one, is open to every user.
            if given.isEmpty && Self.places.contains(placeholder) {
                throw parsed.usageError("option '\(spelled)' needs a value, and it is empty: \(placeholder)")
            }
            value = given
        } else if attached != nil {
            throw parsed.usageError("option '\(spelled)' takes no value")
        }
        if option == .help {
            // `groupctl -h read`, as `groupctl help read`.
            while let word = rest.first, inner.subcommands.contains(where: { word == Array($0.name.utf8) }) {
                rest.removeFirst()
                try enterSubcommand(named: word)
            }
            return .help(help.rendered())
        }
        if option == .version { return .version }
        parsed.options.append(ParsedArguments.NamedValue(name: option.name, value: value))
        return nil
    }

    private var help: HelpText { HelpText(of: inner, path: parsed.commandPath, outer: outer) }

    private mutating func takeOperand(_ word: [UInt8]) throws(UsageError) -> Invocation? {
        // A command without subcommands may have a GROUP named `help`.
        let mayBeHelp = inner.subcommands.isEmpty ? outer.isEmpty && words.count == 1 : true
        if mayBeHelp, word == Array("help".utf8) { return try helpOnRest() }
        if !inner.subcommands.isEmpty {
            try enterSubcommand(named: word)
            return nil
        }
        let isVariadic = inner.positionals.last?.arity.isRepeated == true
        if positionalCount < inner.positionals.count || isVariadic {
            let positional = inner.positionals[min(positionalCount, inner.positionals.count - 1)]
            parsed.namedPositionals.append(ParsedArguments.NamedValue(name: positional.name, value: word))
            positionalCount += 1
            return nil
        }
        let shown = PipeText.escaped(word)
        if inner.trailingCommand == .none {
            throw parsed.usageError("unexpected argument '\(shown)'" + (inner.surplusAdvice.map { "; \($0)" } ?? ""))
        }
        let meant = Misplaced.command(
            in: words, at: words.count - rest.count - 1, of: parsed.commandPath[0],
            group: outer.isEmpty ? parsed.positional("GROUP") : nil)
        throw parsed.usageError(
            "unexpected argument '\(shown)'; COMMAND comes after '--': \(meant)"
                + (inner.surplusAdvice.map { "; \($0)" } ?? ""))
    }

    /// Returns the help of the command that the words after `help` name.
    private mutating func helpOnRest() throws(UsageError) -> Invocation {
        while let word = rest.popFirst() {
            if word.first == Self.dash { continue }
            if inner.subcommands.isEmpty { throw parsed.usageError("unexpected argument '\(PipeText.escaped(word))'") }
            if inner.hasListOfCommands, word == Array(HelpText.optionsTopic.utf8) {
                return .help(help.renderedOptions())
            }
            try enterSubcommand(named: word)
        }
        return .help(help.rendered())
    }

    private mutating func enterSubcommand(named word: [UInt8]) throws(UsageError) {
        let name = PipeText.escaped(word)
        guard let next = inner.subcommands.first(where: { $0.name == name }) else {
            throw Misplaced.unknownCommand(
                name, at: words.count - rest.count - 1, of: words, under: inner, called: parsed.commandPath)
        }
        outer.append(inner)
        inner = next
        parsed.commandPath.append(name)
    }

    private func checkNothingIsMissing() throws(UsageError) {
        if positionalCount < inner.positionals.count, inner.positionals[positionalCount].arity.isRequired {
            var error = parsed.usageError("missing \(inner.positionals[positionalCount].name)")
            if inner.positionals[positionalCount].name == "PATH" {
                error.groupOfMissingPath = parsed.positional("GROUP")
            }
            throw error
        }
        if !inner.subcommands.isEmpty {
            let names = inner.subcommands.map(\.name)
            let all = names.joined(separator: ", ")
            throw parsed.usageError(
                all.utf8.count > 100
                    ? "missing a command, such as \(names.prefix(3).joined(separator: ", ")); the help lists all"
                    : "missing a command, one of: \(all)")
        }
        if inner.trailingCommand == .required, parsed.command == nil {
            throw parsed.usageError("missing COMMAND, which comes after '--'")
        }
    }

    private func unknown(_ what: String, _ name: String, among known: [String], prefix: String) -> UsageError {
        let nearest = NearestName.among(known, to: name).map { "; did you mean '\(prefix)\($0)'?" }
        return parsed.usageError("unknown \(what)\(nearest ?? "")")
    }
}
