// Imports nothing: no file, clock or process.

/// A box in front of the panels.
enum Overlay: Hashable, Sendable {
    /// The list of keys, from that line on.
    case help(from: Int)
    /// The widgets that are not on the list, of which one is selected.
    case adding(selected: Int)

    /// Returns all keys and their meanings, for the help.
    static func help(_ look: TerminalLook) -> [(key: String, meaning: String)] {
        let arrows = look.isUnicode ? "↑ ↓" : "up down"
        let shifted = look.isUnicode ? "shift ↑ ↓" : "shift up down"
        return [
            ("\(arrows), j k", "select, or scroll a tall widget"), ("PgUp PgDn", "scroll a screen"),
            ("Home End, g G", "select the first, the last"), ("Enter, o", "open its address"),
            ("1 … 9", "press that line, or open its address"), ("click", "the same, and select; the wheel scrolls"),
            ("e", "expand or collapse it"), ("h", "hide all but one line"),
            ("s", "show again"), ("r, R", "reload it, or all"), ("\(shifted), J K", "move it in the order"),
            ("x", "remove it from the list"), ("a", "add a widget to the list"), ("Ctrl-L", "draw everything again"),
            ("Ctrl-Z", "stop; fg continues"), ("q, Ctrl-C", "quit"), ("Esc", "close this"),
        ]
    }
}
