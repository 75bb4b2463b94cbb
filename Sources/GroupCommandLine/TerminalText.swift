import Glibc

/// What `--color` says.
package enum ColorChoice: String, Sendable, CaseIterable {
    /// On a terminal that can, unless NO_COLOR is set.
    case auto

    /// Whatever stands behind the output.
    case always

    /// Not at all.
    case never
}

/// Text with colour for a terminal, and without for everything else.
package struct TerminalText: Sendable, Equatable {
    /// What a piece of text is, which decides its colour.
    package enum Role: String, Sendable, CaseIterable {
        case created
        case modified
        case removed
        case moved
        case faint
        case error
        case strong
    }

    /// Whether `styled` colours at all.
    package let isColored: Bool

    /// Text that is coloured or not.
    package init(isColored: Bool) { self.isColored = isColored }

    /// Text for what stands behind this descriptor, by this process's environment.
    ///
    /// System calls: isatty(3), getenv(3).
    package init(_ choice: ColorChoice, descriptor: Int32 = 1) {
        self.init(
            isColored: Self.colors(
                choice, noColor: Self.environment("NO_COLOR"), terminal: Self.environment("TERM"),
                isTerminal: isatty(descriptor) == 1))
    }

    /// Whether to colour. What the user writes now outranks NO_COLOR, as https://no-color.org asks; a
    /// terminal without a name is taken for one that cannot, as git does.
    package static func colors(_ choice: ColorChoice, noColor: String?, terminal: String?, isTerminal: Bool) -> Bool {
        switch choice {
        case .always: true
        case .never: false
        case .auto: isTerminal && (noColor ?? "").isEmpty && !["", "dumb"].contains(terminal ?? "")
        }
    }

    /// The text in the colour of its role. It must be escaped already (`PipeText.escaped`).
    package func styled(_ text: String, as role: Role) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(Self.parameters(role))m\(text)\u{1B}[0m" : text
    }

    /// The text with everything that a terminal obeys or hides as octal: control characters, what changes the direction
    /// of writing, and what has no width. Names in it cannot pass for others, nor undo what stands before them.
    package static func visible(_ text: String) -> String {
        if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
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
        // Fillers, which are letters by their category, and blank.
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Only the eight colours that every terminal lets its user choose (ECMA-48 SGR).
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

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
