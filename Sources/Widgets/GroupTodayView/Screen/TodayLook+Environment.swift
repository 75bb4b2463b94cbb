import GroupSystemCalls

extension TodayLook {
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
