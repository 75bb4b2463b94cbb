/// What a screen shows: rows of cells, all of one width.
package struct Frame: Hashable, Sendable {
    package let size: WidgetSize
    package private(set) var rows: [[Cell]]

    /// Blank.
    package init(_ size: WidgetSize) {
        self.size = size.clipped(to: WidgetSize(columns: 1_000, rows: 1_000))
        rows = Array(repeating: Array(repeating: .blank, count: self.size.columns), count: self.size.rows)
    }

    /// Puts cells somewhere; what is beyond the borders is cut off. A wide character of which half is covered is gone.
    package mutating func put(_ cells: [Cell], row: Int, column: Int = 0) {
        guard rows.indices.contains(row), column >= 0, column < size.columns, !cells.isEmpty else { return }
        let cells = cells.clipped(to: size.columns - column)
        let end = column + cells.count
        if rows[row][column].width == 0 { rows[row][column - 1].makeBlank() }
        if end < size.columns, rows[row][end].width == 0 { rows[row][end].makeBlank() }
        rows[row].replaceSubrange(column..<end, with: cells)
    }

    /// As text, for people who read tests; blanks at the ends of lines are left out.
    package var picture: String {
        rows.map { row in
            var line = row.map(\.text).joined()
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}
