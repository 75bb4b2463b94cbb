/// The text of `--help`.
package struct HelpText: Sendable {
    private static let width = 80
    /// The widest term of a column. A wider term has a line of its own, so that one long option does not narrow every
    /// text.
    private static let widestTerm = 28

    private let command: CommandSpecification
    private let path: [String]
    private let options: [OptionSpecification]
    /// The options of the commands around this one: their names are listed, and where they are described.
    private let inherited: [OptionSpecification]

    /// Creates the help of a command called by `path`. `inherited`: the options of the commands around it.
    package init(of command: CommandSpecification, path: [String], inherited: [OptionSpecification] = []) {
        self.command = command
        self.path = path
        let common: [OptionSpecification] = [.help, .version]
        let isOuter = inherited.isEmpty
        options = command.options + (isOuter ? common : [])
        let own = command.options.map(\.name)
        self.inherited = isOuter ? [] : inherited.filter { !own.contains($0.name) } + common
    }

    /// Returns the text, wrapped at 80 columns, with a newline at its end.
    package func rendered() -> String {
        var sections = [usage, Self.wrapped(command.summary, to: Self.width)]
        let arguments = command.positionals.filter { !$0.help.isEmpty }.map { HelpEntry($0.name, $0.help) }
        sections.append(Self.section("Arguments", Self.columns(arguments)))
        let commands = command.subcommands.map { HelpEntry($0.name, $0.summary) }
        sections.append(Self.section("Commands", Self.columns(commands)))
        sections += optionSections
        sections += command.notes.map { note in
            Self.section(note.term, Self.wrapped(note.text, to: Self.width - 2).map { "  \($0)" })
        }
        sections.append(Self.section("Examples", command.examples.flatMap(Self.example)))
        sections.append(Self.section("Exit status", Self.columns(command.exitStatuses)))
        if !inherited.isEmpty {
            let names = inherited.map { option in "--\(option.name)" }
            let list = "Also: \(names.joined(separator: ", ")); see '\(path[0]) --help'."
            sections.append(Self.wrapped(list, to: Self.width))
        }
        if !commands.isEmpty {
            let (program, rest) = (path[0], path.dropFirst().map { $0 + " " }.joined())
            sections.append(["'\(program) help \(rest)COMMAND' shows the help of a command."])
        }
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
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
}
