package import GroupCommandLine
package import GroupContainer
import GroupSystemCalls

/// A change as a line: for a pipe, for a program, for a person.
package struct ChangeText: Sendable {
    /// The forms that a line can have.
    package enum Form: Sendable {
        /// `KIND<TAB>PATH[<TAB>FROM]`; numbered: with `SEQUENCE<TAB>PART<TAB>` before it.
        case pipe(isNumbered: Bool)
        case json
        case format(LineFormat, isForTerminal: Bool)
        case terminal(TerminalText)
    }

    package let form: Form

    package init(_ form: Form) { self.form = form }

    /// Those that say how a line looks.
    package static let options: [OptionSpecification] = [
        .flag(
            "sequence",
            help:
                "Begin each line with its sequence and, behind a TAB, which part of a transaction it is, from 0: a line that was handled before, as they repeat after a kill, has a sequence and part that are not higher than the last ones."
        ),
        .value(
            "format", "STRING",
            help:
                "Print each change like this, with inotifywait's sequences: %w its folder with a '/' behind (none at the top), %f its name, %e what happened (CREATE, MODIFY, DELETE, MOVED_TO, ATTRIB, with ISDIR for a folder), %Xe the same with X in between, %T when, %c a number that a move has, %% a '%', %0 a NUL, %n a newline; and %o where it stood before, %q its sequence, %C its cursor, %p the process, %u its purpose. A newline ends the line unless %0 or %n does."
        ),
        .value(
            "timefmt", "STRING",
            help:
                "How %T looks, as in strftime(3), in local time and the locale of LC_TIME; unless told, as with --json."
        ),
    ]

    /// What suits the options and where the output goes.
    package init(_ run: borrowing CommandRun) throws {
        let (arguments, options) = (run.arguments, run.options)
        if arguments.flag("sequence") {
            if options.isJSON || arguments.value("format") != nil {
                throw arguments.usageError("--sequence is for plain lines: --json has it, and --format has %q")
            }
            form = .pipe(isNumbered: true)
            return
        }
        if let format = arguments.value("format") {
            if options.isJSON { throw arguments.usageError("--format and --json exclude each other") }
            if arguments.flag("timefmt") { takeLocaleOfTimes() }
            do throws(LineFormat.Fault) {
                form = .format(
                    try LineFormat(format, timeFormat: arguments.value("timefmt")),
                    isForTerminal: StandardOutput.isTerminal)
            } catch {
                throw arguments.usageError("--format: \(error)")
            }
            return
        }
        let terminal = TerminalText(options.color)
        let isTerminal = terminal.isColored || StandardOutput.isTerminal
        form = options.isJSON ? .json : isTerminal ? .terminal(terminal) : .pipe(isNumbered: false)
    }

    /// Its bytes, with what ends the line.
    package func line(_ change: Change) -> [UInt8] {
        switch form {
        case .pipe(let isNumbered): Array((pipe(change, isNumbered: isNumbered) + "\n").utf8)
        case .json: Array((change.json.encoded() + "\n").utf8)
        case .format(let format, let isForTerminal): format.line(change, isForTerminal: isForTerminal)
        case .terminal(let text): Array((TerminalLine(text).line(change) + "\n").utf8)
        }
    }

    private func pipe(_ change: Change, isNumbered: Bool) -> String {
        var fields = isNumbered ? ["\(change.sequence)", "\(change.transaction?.index ?? 0)"] : []
        fields += [change.kind.name, PipeText.escaped(change.path.bytes)]
        if let from = change.kind.otherPath { fields.append(PipeText.escaped(from.bytes)) }
        if case .degraded(let reason) = change.kind { fields.append(PipeText.escaped(Array(reason.utf8))) }
        return fields.joined(separator: "\t")
    }

    /// The word for an item's type.
    package static func name(_ type: ItemType) -> String {
        switch type {
        case .file: "file"
        case .folder: "folder"
        case .link: "link"
        case .other: "other"
        }
    }
}
