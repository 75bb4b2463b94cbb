import GroupBytes
package import GroupCommandLine
import GroupContainer

/// The line of a change of a key: for a pipe, as JSON, or for a terminal.
package struct KeyChangeText: Sendable {
    private enum Form: Sendable {
        /// `KIND<TAB>KEY[<TAB>VALUE]`
        case pipe
        case json
        case terminal(TerminalText, TimeStyle)
    }

    private let form: Form
    /// Whether the lines are for a person, for whom a summary at the end is of use.
    package var isForTerminal: Bool {
        if case .terminal = form { return true }
        return false
    }

    /// Chooses the form from the options and from where the output goes.
    package init(_ run: borrowing CommandRun, times: TimeStyle) throws(UsageError) {
        let terminal = TerminalText(run.options.color)
        let times = try TimeStyle.chosen(run.arguments, default: times)
        let isTerminal = terminal.isColored || StandardOutput.isTerminal
        form = run.options.isJSON ? .json : isTerminal ? .terminal(terminal, times) : .pipe
    }

    init(for terminal: TerminalText) { form = .terminal(terminal, .clock) }

    /// Returns the bytes of the line, with its newline.
    package func line(_ line: KeyLine) -> [UInt8] {
        switch form {
        case .pipe: Array((Self.pipe(line) + "\n").utf8)
        case .json: Array((line.json.encoded() + "\n").utf8)
        case .terminal(let text, let times): Array((Self.shown(line, text, times) + "\n").utf8)
        }
    }

    private static func pipe(_ line: KeyLine) -> String {
        var fields = [line.kind.rawValue, PipeText.escaped(Array(line.change.key.utf8))]
        if let last = line.change.newValue?.shownText ?? line.reason {
            fields.append(PipeText.escaped(Array(last.utf8)))
        }
        return fields.joined(separator: "\t")
    }

    private static func shown(_ line: KeyLine, _ text: TerminalText, _ times: TimeStyle) -> String {
        let (change, kind) = (line.change, line.kind)
        let nanoseconds = change.timeNanoseconds
        let time = times.column(nanoseconds == 0 ? nil : nanoseconds)
        let padding = String(repeating: " ", count: 9 - kind.rawValue.count)
        var shown =
            text.styled(time, as: .faint) + "  " + bar(change) + text.styled(kind.rawValue, as: role(line)) + padding
        switch kind {
        case .rescan: return shown + "the place was lost: compare everything"
        case .degraded: return shown + "a value that was set is lost: " + TerminalName.shown(line.reason ?? "")
        case .bookmark: return shown + "complete up to here"
        case .cleared: shown += "everything"
        case .set, .present, .removed:
            shown += TerminalName.shown(Array(change.key.utf8))
            if let old = change.oldValue { shown += "  " + text.styled(short(old), as: .faint) }
            if let new = change.newValue { shown += (change.oldValue == nil ? "  " : " → ") + short(new) }
        }
        guard let by = change.author else { return shown }
        return shown + "  " + text.styled(TerminalName.writer(by.purpose, by.processIdentifier), as: .faint)
    }

    private static let widest = 200

    private static func short(_ value: DefaultsValue) -> String {
        let text = value.shownText
        let start = text.prefix(widest)
        return TerminalName.shown(Array(start.utf8)) + (start.endIndex == text.endIndex ? "" : "…")
    }

    private static func role(_ line: KeyLine) -> TerminalText.Role {
        switch line.kind {
        case .set: line.change.oldValue == nil ? .created : .modified
        case .removed, .cleared: .removed
        case .present, .bookmark: .faint
        case .rescan, .degraded: .error
        }
    }

    /// Returns a bar that connects the changes of a transaction; empty for other changes.
    private static func bar(_ change: DefaultsChange) -> String {
        if change.parts < 2 { return "" }
        if change.part == 0 { return "┌ " }
        return change.part + 1 < change.parts ? "│ " : "└ "
    }
}
