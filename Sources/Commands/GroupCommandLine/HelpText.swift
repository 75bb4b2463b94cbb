/// The text of `--help`.
package struct HelpText: Sendable {
    /// The word after `help` that asks for what a list of commands leaves out.
    static let optionsTopic = "options"

    private static let width = 80
    /// The widest term of a column. A wider term has a line of its own, so that one long option does not narrow every
    /// text.
    private static let widestTerm = 28

    private let command: CommandSpecification
    private let path: [String]
    private let options: [OptionSpecification]
    /// The options of the commands around this one: their names are listed, and where they are described.
    private let inherited: [OptionSpecification]
    /// The call that describes the inherited options.
    private let sourceOfInherited: String

    /// Creates the help of a command called by `path`. `outer`: the commands around it, from the program on.
    package init(of command: CommandSpecification, path: [String], outer: [CommandSpecification] = []) {
        self.command = command
        self.path = path
        let common: [OptionSpecification] = [.help, .version]
        options = command.options + (outer.isEmpty ? common : [])
        let own = command.options.map(\.name)
        let around = outer.reversed().flatMap(\.options)
        inherited = outer.isEmpty ? [] : around.filter { !own.contains($0.name) } + common
        let topic = outer.first?.hasListOfCommands == true ? "help \(Self.optionsTopic)" : "--help"
        sourceOfInherited = "\(path.first ?? "") \(topic)"
    }

    /// Returns the text, wrapped at 80 columns, with a newline at its end.
    package func rendered() -> String {
        if command.hasListOfCommands { return listOfCommands }
        var sections = [usage, Self.wrapped(command.summary, to: Self.width)]
        let arguments = command.positionals.filter { !$0.help.isEmpty }.map { HelpEntry($0.name, $0.help) }
        sections += [Self.section("Arguments", Self.columns(arguments))] + commandSections + details
        if !inherited.isEmpty {
            sections.append(Self.wrapped("Also: \(names(inherited)); see '\(sourceOfInherited)'.", to: Self.width))
        }
        if !command.subcommands.isEmpty { sections.append(["'\(callOfHelp)' shows the help of a command."]) }
        return Self.joined(sections)
    }

    /// Returns the options, examples and exit statuses, which a list of commands leaves out.
    package func renderedOptions() -> String { Self.joined([usage] + details) }

    private var listOfCommands: String {
        let call = "\(path[0]) help \(Self.optionsTopic)"
        let rest =
            "'\(callOfHelp)' shows the help of a command, '\(call)' describes these options, and has the exit statuses and examples."
        return Self.joined(
            [usage, Self.wrapped(command.summary, to: Self.width)] + commandSections
                + [Self.wrapped("Options: \(names(options)).", to: Self.width) + Self.wrapped(rest, to: Self.width)])
    }

    private func names(_ options: [OptionSpecification]) -> String {
        options.map { "--\($0.name)" }.joined(separator: ", ")
    }

    private var callOfHelp: String {
        "\(path[0]) help \(path.dropFirst().map { $0 + " " }.joined())COMMAND"
    }

    private var commandSections: [[String]] {
        var headings: [String?] = []
        for command in command.subcommands where !headings.contains(command.heading) {
            headings.append(command.heading)
        }
        let widest = Self.columnWidth(command.subcommands.map(\.name))
        return headings.map { heading in
            let commands = command.subcommands.filter { $0.heading == heading }.map { HelpEntry($0.name, $0.brief) }
            return Self.section(heading ?? "Commands", Self.columns(commands, termWidth: widest))
        }
    }

    private var details: [[String]] {
        var sections = optionSections
        sections += command.notes.map { note in
            Self.section(note.term, Self.wrapped(note.text, to: Self.width - 2).map { "  \($0)" })
        }
        sections.append(Self.section("Examples", command.examples.flatMap(Self.example)))
        sections.append(Self.section("Exit status", Self.columns(command.exitStatuses)))
        return sections
    }

    private static func joined(_ sections: [[String]]) -> String {
        sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var usage: [String] {
        command.usage.enumerated().map { ($0.offset == 0 ? "Usage: " : "       ") + $0.element }
    }

    private var optionSections: [[String]] {
        var headings: [String] = []
        for option in options where !headings.contains(option.heading) { headings.append(option.heading) }
        let widest = Self.columnWidth(options.map(Self.term))
        return headings.map { heading in
            let entries = options.filter { $0.heading == heading }.map { option in
                HelpEntry(Self.term(option), option.help + (option.isRepeatable ? " May be repeated." : ""))
            }
            return Self.section(heading, Self.columns(entries, termWidth: widest))
        }
    }

    /// Returns the names of an option. Long names are aligned with or without a letter before them, as in GNU's tools.
    private static func term(_ option: OptionSpecification) -> String {
        let letter = option.letter.map { "-\($0), " } ?? "    "
        return letter + "--\(option.name)" + (option.placeholder.map { " \($0)" } ?? "")
    }

    private static func example(_ entry: HelpEntry) -> [String] {
        ["  \(entry.term)"] + wrapped(entry.text, to: width - 6).map { "      \($0)" }
    }

    private static func section(_ heading: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["\(heading):"] + lines
    }

    private static func columnWidth(_ terms: [String]) -> Int {
        terms.map(\.count).filter { $0 <= widestTerm }.max() ?? 0
    }

    private static func columns(_ entries: [HelpEntry], termWidth: Int? = nil) -> [String] {
        let termWidth = termWidth ?? columnWidth(entries.map(\.term))
        let indent = termWidth + 4
        return entries.flatMap { entry in
            var lines = wrapped(entry.text, to: width - indent).map { spaces(indent) + $0 }
            let term = "  " + entry.term
            if entry.term.count <= termWidth, let first = lines.first {
                lines[0] = term + first.dropFirst(term.count)
            } else {
                lines.insert(term, at: 0)
            }
            return lines
        }
    }

    /// Returns the lines of a text, broken at spaces; a word longer than a line stays whole, so that it can be copied.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}

/// A term and its meaning, such as an exit status, or an example.
package struct HelpEntry: Sendable, Equatable {
    /// The term.
    package let term: String

    /// The explanation.
    package let text: String

    /// Creates an entry.
    package init(_ term: String, _ text: String) {
        self.term = term
        self.text = text
    }

    /// Returns the beginning of a text up to the first '.', ';' or ':', without it.
    package static func firstClause(of text: String) -> String { String(text.prefix { !".;:".contains($0) }) }
}
