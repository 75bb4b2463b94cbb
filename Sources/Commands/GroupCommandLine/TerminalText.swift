import GroupSystemCalls

/// The value of `--color`.
package enum ColorChoice: String, Sendable, CaseIterable {
    /// Color on a terminal that supports it, unless NO_COLOR is set.
    case auto

    /// Color whatever the output is.
    case always

    /// No color.
    case never
}

/// Text with color for a terminal, and without for everything else.
package struct TerminalText: Sendable, Equatable {
    /// The role of a piece of text, which decides its color.
    package enum Role: String, Sendable, CaseIterable {
        case created
        case modified
        case removed
        case moved
        case faint
        case error
        case strong
    }

    /// Whether `styled` adds color.
    package let isColored: Bool

    /// Creates text with or without color.
    package init(isColored: Bool) { self.isColored = isColored }

    /// Chooses by the terminal of a descriptor and by this process's environment.
    ///
    /// System calls: isatty(3), getenv(3).
    package init(_ choice: ColorChoice, descriptor: Int32 = 1) {
        self.init(
            isColored: Self.colors(
                choice, noColor: environmentValue("NO_COLOR"), terminal: environmentValue("TERM"),
                isTerminal: StandardStreams.kind(of: descriptor) == .terminal))
    }

    /// Returns whether to use color. The option outranks NO_COLOR, as https://no-color.org recommends; a terminal
    /// without a name is treated as one without color, as in git.
    package static func colors(_ choice: ColorChoice, noColor: String?, terminal: String?, isTerminal: Bool) -> Bool {
        switch choice {
        case .always: true
        case .never: false
        case .auto: isTerminal && (noColor ?? "").isEmpty && !["", "dumb"].contains(terminal ?? "")
        }
    }

    /// Returns the text in the color of its role. The text must be escaped already (`PipeText.escaped`).
    package func styled(_ text: String, as role: Role) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(Self.parameters(role))m\(text)\u{1B}[0m" : text
    }

    /// Returns the text with everything that a terminal obeys or hides as octal: control characters, characters that
    /// change the writing direction, and characters without width. Names in the text can neither imitate other names
    /// nor undo the text before them.
    package static func visible(_ text: String) -> String { escaped(text, where: isHidden) }

    /// Returns a line that has its colors, with everything else that `visible` escapes.
    package static func visibleBetweenColors(_ line: String) -> String {
        escaped(line) { isHidden($0) && $0.properties.generalCategory != .control }
    }

    /// Returns a message without control characters, which it may have from an argument or from another process; for a
    /// terminal, as `visible` does. What is escaped already stays as it is.
    package static func message(_ text: String, isForTerminal: Bool) -> String {
        escaped(text) { isForTerminal ? isHidden($0) : $0.properties.generalCategory == .control }
    }

    private static func escaped(_ text: String, where isToEscape: (Unicode.Scalar) -> Bool) -> String {
        if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isToEscape(scalar) {
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 8)
                    shown += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                }
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        // Fillers are letters by category, but blank.
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Only the eight colors that every terminal lets its user choose (ECMA-48 SGR).
    private static func parameters(_ role: Role) -> String {
        switch role {
        case .created: "32"
        case .modified: "33"
        case .removed: "31"
        case .moved: "36"
        case .faint: "2"
        case .error: "1;31"
        case .strong: "1"
        }
    }

}
