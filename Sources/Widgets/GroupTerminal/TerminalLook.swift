import GroupSystemCalls

/// What the terminal and its user support.
package struct TerminalLook: Hashable, Sendable {
    package var isColored: Bool
    /// Whether the terminal's characters are UTF-8.
    package var isUnicode: Bool

    package init(isColored: Bool = true, isUnicode: Bool = true) {
        self.isColored = isColored
        self.isUnicode = isUnicode
    }
}

extension TerminalLook {
    /// Chooses by the terminal of a descriptor and by this process's environment: colors as in all commands, characters
    /// by the locale's name. Library calls: getenv(3)
    package init(_ choice: ColorChoice, descriptor: Int32 = 1) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environmentValue).first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        self.init(
            isColored: TerminalText(choice, descriptor: descriptor).isColored,
            isUnicode: name.hasSuffix("utf-8") || name.hasSuffix("utf8"))
    }
}
