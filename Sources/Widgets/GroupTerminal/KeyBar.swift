// Imports nothing: no file, clock or process.

/// The last row of the screen: the keys, or a notice.
package struct KeyBar {
    private let look: TerminalLook

    package init(_ look: TerminalLook) { self.look = look }

    /// Returns a row with as many of `keys` as fit, then help and quit, then `end`. Where the row is too narrow for
    /// these, it is clipped.
    package func row(_ keys: [(key: String, meaning: String)], end: String, width: Int) -> [Cell] {
        let last = entry("?", "help") + space + entry("q", "quit")
        let endCells = cells(end, .faint)
        let tail = endCells.isEmpty ? last : last + space + endCells
        var row = cells(" ")
        for (key, meaning) in keys {
            let next = entry(key, meaning) + space
            if row.count + next.count + tail.count > width { break }
            row += next
        }
        return row + tail.clipped(to: max(0, width - row.count))
    }

    /// Returns a row with a notice instead of the keys.
    package func row(notice text: String, width: Int) -> [Cell] {
        cells(" \(text)", CellStyle(.yellow)).clipped(to: width)
    }

    private var space: [Cell] { cells("  ") }

    private func entry(_ key: String, _ meaning: String) -> [Cell] {
        cells(key, .bold) + cells(" \(meaning)", .faint)
    }

    private func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] {
        Cell.of(text, style, isUnicode: look.isUnicode)
    }
}
