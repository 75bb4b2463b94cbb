import GroupBytes
import GroupCommandLine

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

    /// Returns who has made a change or posted a message: `todo-app (812)`, or `todo-app@alpha` on another machine, where
    /// the process identifier is that of the process which has brought it here.
    package static func writer(_ purpose: String, _ processIdentifier: Int32) -> String {
        shown(purpose) + (purpose.contains("@") ? "" : " (\(processIdentifier))")
    }

    /// Escapes the invisible characters of a text whose bytes are escaped already.
    package static func shown(_ text: String) -> String { TerminalText.visible(text) }
}
