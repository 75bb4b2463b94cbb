// Imports nothing: no file, clock or process.

/// A box in front of the panels.
enum Overlay: Hashable, Sendable {
    /// The list of keys, from that line on.
    case help(from: Int)
    /// The widgets that are not on the list, of which one is selected.
    case adding(selected: Int)

    /// Returns all keys and their meanings, for the help.
    static func help(_ look: TodayLook) -> [(key: String, meaning: String)] {
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

/// A box with lines, in the middle of the screen.
struct OverlayPicture {
    let rows: [[Cell]]

    init(_ title: String, _ lines: [[Cell]], end: String, size: WidgetSize, _ look: TodayLook) {
        func cells(_ text: String, _ style: CellStyle) -> [Cell] { Cell.of(text, style, isUnicode: look.isUnicode) }
        let glyphs = Glyphs.of(look)
        let border = CellStyle(.cyan)
        let widest = lines.map(\.count).max() ?? 0
        let inner = max(0, min(max(widest, title.count + 4, end.count + 2), size.columns - 4))
        func edge(_ left: String, _ text: String, _ right: String) -> [Cell] {
            let middle = text.isEmpty ? [] : cells(" \(text) ", CellStyle(.cyan, isBold: true)).clipped(to: inner)
            let rest = String(repeating: glyphs.horizontal, count: max(0, inner + 1 - middle.count))
            return cells(left + glyphs.horizontal, border) + middle + cells(rest + right, border)
        }
        let side = cells(glyphs.vertical, border)
        rows =
            [edge(glyphs.topLeft, title, glyphs.topRight)]
            + lines.map { side + Cell.of(" ") + $0.padded(to: inner) + Cell.of(" ") + side }
            + [edge(glyphs.bottomLeft, end, glyphs.bottomRight)]
    }

    func put(onto frame: inout Frame) {
        let top = max(0, (frame.size.rows - rows.count) / 2)
        let left = max(0, (frame.size.columns - (rows.first?.count ?? 0)) / 2)
        for (index, row) in rows.enumerated() { frame.put(row, row: top + index, column: left) }
    }
}
