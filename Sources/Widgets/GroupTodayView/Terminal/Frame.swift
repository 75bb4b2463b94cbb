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

    /// Puts cells at a place, and cuts off what is beyond the borders. A wide character that is half covered becomes a
    /// blank.
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
