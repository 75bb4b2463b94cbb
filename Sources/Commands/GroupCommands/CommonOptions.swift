package import GroupCommandLine
package import GroupContainer
import GroupBytes
import GroupSystemCalls

/// The options that every command of this package takes.
package struct CommonOptions: Sendable {
    package let isJSON: Bool
    package let isQuiet: Bool
    package let isVerbose: Bool
    package let color: ColorChoice
    package let purpose: String
    /// --timeout; each command has its own default.
    package let timeout: Duration?

    /// Returns their declarations. `timeout`: the help text of that option, which differs between commands.
    package static func specifications(timeout: String) -> [OptionSpecification] {
        let heading = OptionSpecification.commonHeading
        return [
            .value("timeout", letter: "t", "T", heading: heading, help: timeout),
            .flag("json", heading: heading, help: "Print JSON, one object per line; errors, too."),
            .value(
                "purpose", "NAME", heading: heading,
                help: "The name of this process in the journal and in other processes' errors."),
            .flag(
                "quiet", letter: "q", heading: heading,
                help: "Print no error messages; the exit status is the only report."),
            .flag("verbose", letter: "v", heading: heading, help: "Print on standard error what is done."),
            .value(
                "color", "WHEN", heading: heading, choices: ["auto", "always", "never"],
                help: "Color the output: auto (the default, which respects NO_COLOR), always or never."),
        ]
    }

    init(_ arguments: ParsedArguments, program: String) throws(UsageError) {
        isJSON = arguments.flag("json")
        isQuiet = arguments.flag("quiet")
        isVerbose = arguments.flag("verbose")
        timeout = try arguments.time("timeout")
        purpose = try arguments.text("purpose") ?? program
        guard let choice = ColorChoice(rawValue: try arguments.text("color") ?? "auto") else {
            throw arguments.usageError("--color must be auto, always or never")
        }
        color = choice
    }
}

/// The option `--since`.
package enum OriginOption {
    /// Returns the origin; nil without the option. `words`: the words that are allowed besides a cursor.
    package static func origin(
        _ arguments: ParsedArguments, words: [(String, ChangeOrigin)]
    ) throws(UsageError) -> ChangeOrigin? {
        guard let text = try arguments.text("since") else { return nil }
        if let known = words.first(where: { $0.0 == text }) { return known.1 }
        guard let cursor = Cursor(text) else {
            let names = words.map(\.0)
            let list =
                (names.dropLast().isEmpty ? "" : names.dropLast().joined(separator: ", ") + " or ")
                + (names.last ?? "")
            throw arguments.usageError(
                "--since: '\(PipeText.escaped(Array(text.utf8)))' is neither a cursor nor \(list)")
        }
        return .cursor(cursor)
    }
}
