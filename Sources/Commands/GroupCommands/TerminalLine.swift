import GroupBytes
import GroupCommandLine
package import GroupContainer

/// The line of a change for a terminal: time, kind, path, author. Names are escaped, so that they cannot harm the
/// terminal.
package struct TerminalLine {
    private let text: TerminalText
    private let times: TimeStyle
    /// Whether the other changes of a transaction are shown, too.
    private let showsAll: Bool

    init(_ text: TerminalText, times: TimeStyle = .clock, showsAll: Bool = true) {
        self.text = text
        self.times = times
        self.showsAll = showsAll
    }

    func line(_ change: Change) -> String {
        let kind = change.kind.name
        let time = text.styled(times.column(change.shownNanoseconds), as: .faint)
        let padding = String(repeating: " ", count: max(1, 10 - kind.count))
        let start = time + "  " + bar(change) + text.styled(kind, as: Self.role(change.kind)) + padding
        let path = shown(change.path)
        switch change.kind {
        case .rescan: return start + "the place was lost: compare everything"
        case .bookmark: return start + "complete up to here"
        case .degraded(let reason): return start + path + "  " + TerminalName.shown(reason)
        case .present: return start + path
        case .moved(let from): return start + shown(from) + " → " + path + writer(change)
        case .exchanged(let other): return start + shown(other) + " ↔ " + path + writer(change)
        case .created, .modified, .removed, .touched: return start + path + writer(change)
        }
    }

    private func shown(_ path: ItemPath) -> String { TerminalName.shown(path.bytes) }

    private func writer(_ change: Change) -> String {
        "  " + text.styled(TerminalName.writer(of: change), as: .faint)
    }

    private static func role(_ kind: Change.Kind) -> TerminalText.Role {
        switch kind {
        case .created: .created
        case .modified: .modified
        case .removed: .removed
        case .moved, .exchanged: .moved
        case .touched, .present, .bookmark: .faint
        case .rescan, .degraded: .error
        }
    }

    /// Returns a bar that connects the changes of a transaction; empty for other changes.
    private func bar(_ change: Change) -> String {
        guard showsAll, let transaction = change.transaction, transaction.count > 1 else { return "" }
        if transaction.index == 0 { return "┌ " }
        return transaction.index + 1 < transaction.count ? "│ " : "└ "
    }
}

/// Names of items and of members, escaped for a terminal.
package enum TerminalName {
    /// Returns the bytes as text in which nothing moves the cursor, colors, hides or reorders the text around it.
    package static func shown(_ bytes: [UInt8]) -> String { TerminalText.visible(PipeText.escaped(bytes)) }

    /// Returns the bytes as standard output has them: as `shown` where it is a terminal, and escaped as in all lines.
    package static func forOutput(_ bytes: [UInt8], isTerminal: Bool) -> String {
        isTerminal ? shown(bytes) : PipeText.escaped(bytes)
    }

    /// Returns a line of fields between tabs as standard output has it: see `forOutput`.
    package static func line(of fields: [String]) -> String {
        let isTerminal = StandardOutput.isTerminal
        return fields.map { forOutput(Array($0.utf8), isTerminal: isTerminal) }.joined(separator: "\t")
    }

    /// Returns who has made a change or posted a message: `todo-app (812)`, or `todo-app@alpha` on another machine,
    /// where the process identifier is that of the process which has brought it here.
    package static func writer(_ purpose: String, _ processIdentifier: Int32) -> String {
        shown(purpose) + (purpose.contains("@") ? "" : " (\(processIdentifier))")
    }

    /// Returns who has made a change; `uncoordinated` where that is not known.
    package static func writer(of change: Change) -> String {
        change.author.map { writer($0.purpose, $0.processIdentifier) } ?? "uncoordinated"
    }

    /// Escapes the invisible characters of a text whose bytes are escaped already.
    package static func shown(_ text: String) -> String { TerminalText.visible(text) }
}
