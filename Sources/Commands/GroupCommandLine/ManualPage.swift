/// The manual page of a command for man(1), made from the same specification as `--help`.
package struct ManualPage: Sendable {
    private let command: CommandSpecification
    private let version: String

    /// Creates the page of a program of this version.
    package init(of command: CommandSpecification, version: String) {
        self.command = command
        self.version = version
    }

    /// Returns the page in the format of man(7).
    package func rendered() -> String {
        var lines = [
            #".\" Made by '\#(command.name) --manual-page'; change Specification.swift instead."#,
            ".TH \(Self.quoted(command.name.uppercased())) 1 \"\" \(Self.quoted("group-container \(version)"))",
            ".SH NAME", Self.text("\(command.name) - \(command.summary)"), ".SH SYNOPSIS",
        ]
        lines += Self.usage(command) + [".SH DESCRIPTION"]
        let description = command.description.isEmpty ? [command.summary] : command.description
        lines += description.map(Self.text).flatMap { [".PP", $0] }.dropFirst()
        lines += Self.arguments(command, ".SH ARGUMENTS")
        if !command.subcommands.isEmpty {
            lines.append(".SH COMMANDS")
            for subcommand in command.subcommands { lines += Self.subcommand(subcommand) }
        }
        lines += [".SH OPTIONS"] + (command.options + [.help, .version]).flatMap(Self.option)
        for note in command.notes { lines += [".SH \(Self.text(note.term.uppercased()))", Self.text(note.text)] }
        lines += Self.entries(command.environment, ".SH ENVIRONMENT")
        lines += Self.entries(command.files, ".SH FILES")
        lines += Self.entries(command.exitStatuses, ".SH EXIT STATUS")
        lines += Self.examples(command.examples, ".SH EXAMPLES")
        if !command.seeAlso.isEmpty {
            lines += [".SH SEE ALSO", command.seeAlso.map { ".BR " + Self.page($0) }.joined(separator: " ,\n")]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func subcommand(_ command: CommandSpecification, of outer: String = "") -> [String] {
        [".SS \(text(outer + command.name))"] + usage(command) + [".PP", text(command.summary)]
            + arguments(command, nil)
            + command.options.flatMap(option)
            + command.notes.flatMap { [".PP", text($0.text)] } + examples(command.examples, nil)
            + statuses(command.exitStatuses)
            + command.subcommands.flatMap { subcommand($0, of: "\(outer)\(command.name) ") }
    }

    private static func statuses(_ entries: [HelpEntry]) -> [String] {
        if entries.isEmpty { return [] }
        let list = entries.map { "\(text($0.term)) (\(text($0.text)))" }.joined(separator: ", ")
        return [".PP", "Exit status: \(list)."]
    }

    /// Returns `groupctl (1)` for `groupctl(1)`; man(7) then prints the name in bold.
    private static func page(_ name: String) -> String {
        let parts = name.split(separator: "(", maxSplits: 1)
        return text(String(parts[0])) + (parts.count > 1 ? " (" + parts[1] : "")
    }

    private static func usage(_ command: CommandSpecification) -> [String] {
        [".nf"] + command.usage.map { ".B \(quoted(text($0)))" } + [".fi"]
    }

    private static func arguments(_ command: CommandSpecification, _ heading: String?) -> [String] {
        entries(command.positionals.filter { !$0.help.isEmpty }.map { HelpEntry($0.name, $0.help) }, heading)
    }

    private static func option(_ option: OptionSpecification) -> [String] {
        let letter = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let value = option.placeholder.map { " \\fI\(text($0))\\fR" } ?? ""
        let repeats = option.isRepeatable ? " May be repeated." : ""
        return [".TP", "\(letter)\\fB\\-\\-\(text(option.name))\\fR\(value)", text(option.help + repeats)]
    }

    private static func entries(_ entries: [HelpEntry], _ heading: String?) -> [String] {
        if entries.isEmpty { return [] }
        return [heading].compactMap { $0 } + entries.flatMap { [".TP", "\\fB\(text($0.term))\\fR", text($0.text)] }
    }

    private static func examples(_ entries: [HelpEntry], _ heading: String?) -> [String] {
        if entries.isEmpty { return [] }
        return [heading].compactMap { $0 }
            + entries.flatMap { entry in
                [".PP", ".nf", text(entry.term), ".fi"] + (entry.text.isEmpty ? [] : [".RS", text(entry.text), ".RE"])
            }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq") + "\""
    }

    /// Returns the text escaped: without requests and escapes, and with hyphens that work in a copied command.
    private static func text(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "~": escaped += "\\(ti"
            case "^": escaped += "\\(ha"
            case "`": escaped += "\\(ga"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }
}
