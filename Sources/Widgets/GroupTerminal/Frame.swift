// Imports nothing: no file, clock or process.

/// The content of a screen: rows of cells, all of one width.
package struct Frame: Hashable, Sendable {
    package let size: WidgetSize
    package private(set) var rows: [[Cell]]

    /// Creates a blank frame.
    package init(_ size: WidgetSize) {
        self.size = size.clipped(to: WidgetSize(columns: 1_000, rows: 1_000))
        rows = Array(repeating: Array(repeating: .blank, count: self.size.columns), count: self.size.rows)
    }

    /// Puts cells at a position, and cuts off what is beyond the borders. A wide character that is half covered becomes
    /// a blank.
    package mutating func put(_ cells: [Cell], row: Int, column: Int = 0) {
        guard rows.indices.contains(row), column >= 0, column < size.columns, !cells.isEmpty else { return }
        let cells = cells.clipped(to: size.columns - column)
        let end = column + cells.count
        if rows[row][column].width == 0 { rows[row][column - 1].makeBlank() }
        if end < size.columns, rows[row][end].width == 0 { rows[row][end].makeBlank() }
        rows[row].replaceSubrange(column..<end, with: cells)
    }

    /// The frame as text, for tests; blanks at the ends of lines are left out.
    package var picture: String {
        rows.map { row in
            var line = row.map(\.text).joined()
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}

/// The bytes with which a terminal shows another frame: only the cells that differ, so that the screen does not
/// flicker.
package enum FrameDifference {
    /// Returns ECMA-48 sequences; no bytes if the frames are equal. `old` is what the terminal shows; if it is nil or
    /// has another size, everything is drawn.
    package static func bytes(from old: Frame?, to new: Frame, isColored: Bool) -> [UInt8] {
        var writer = Writer(isColored: isColored)
        let known = old.flatMap { $0.size == new.size ? $0 : nil }
        if known == nil { writer.clear() }
        let before = known ?? Frame(new.size)
        for (row, cells) in new.rows.enumerated() where cells != before.rows[row] {
            for (column, cell) in cells.enumerated() where cell.width > 0 {
                let end = min(column + cell.width, cells.count)
                if cells[column..<end] != before.rows[row][column..<end] { writer.put(cell, row, column) }
            }
        }
        return writer.finish()
    }

    private struct Writer {
        let isColored: Bool
        private var bytes: [UInt8] = []
        private var style = CellStyle.plain
        /// The position of the terminal's cursor; nil if it is not certain.
        private var cursor: (row: Int, column: Int)?

        init(isColored: Bool) { self.isColored = isColored }

        mutating func clear() { bytes += "\u{1B}[0m\u{1B}[2J".utf8 }

        mutating func put(_ cell: Cell, _ row: Int, _ column: Int) {
            if cursor?.row != row || cursor?.column != column { bytes += "\u{1B}[\(row + 1);\(column + 1)H".utf8 }
            if style != cell.style { bytes += "\u{1B}[\(parameters(of: cell.style))m".utf8 }
            style = cell.style
            bytes += cell.text.utf8
            // Terminals have other tables of character widths: after a character that is not ASCII, the position is set
            // again.
            cursor = cell.text.utf8.count == 1 ? (row, column + 1) : nil
        }

        mutating func finish() -> [UInt8] {
            if style != .plain { bytes += "\u{1B}[0m".utf8 }
            return bytes
        }

        private func parameters(of style: CellStyle) -> String {
            var numbers = ["0"]
            if style.isBold { numbers.append("1") }
            if style.isFaint { numbers.append("2") }
            if style.isReversed { numbers.append("7") }
            if isColored, let color = style.color { numbers.append(String(color.rawValue)) }
            return numbers.joined(separator: ";")
        }
    }
}
