// Imports nothing: no file, clock or process.

/// A box with lines, in the middle of the screen.
package struct OverlayPicture {
    private let rows: [[Cell]]

    package init(_ title: String, _ lines: [[Cell]], end: String, size: WidgetSize, _ look: TerminalLook) {
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

    package func put(onto frame: inout Frame) {
        let top = max(0, (frame.size.rows - rows.count) / 2)
        let left = max(0, (frame.size.columns - (rows.first?.count ?? 0)) / 2)
        for (index, row) in rows.enumerated() { frame.put(row, row: top + index, column: left) }
    }
}
