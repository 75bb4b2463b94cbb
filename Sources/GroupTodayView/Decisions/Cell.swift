/// How a cell looks. Only the eight colours that every terminal lets its user choose.
package struct CellStyle: Hashable, Sendable {
    package enum Color: Int, Hashable, Sendable, CaseIterable {
        case red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36
    }

    /// Nil: the terminal's own.
    package var color: Color?
    package var isBold = false
    package var isFaint = false
    /// Foreground and background in each other's place.
    package var isReversed = false

    package init(_ color: Color? = nil, isBold: Bool = false, isFaint: Bool = false, isReversed: Bool = false) {
        (self.color, self.isBold, self.isFaint, self.isReversed) = (color, isBold, isFaint, isReversed)
    }

    package static var plain: CellStyle { CellStyle() }
    package static var bold: CellStyle { CellStyle(isBold: true) }
    package static var faint: CellStyle { CellStyle(isFaint: true) }
    package static var reversed: CellStyle { CellStyle(isReversed: true) }

    /// Of a widget's line.
    package init(_ style: WidgetView.Style) {
        switch style {
        case .normal: self = .plain
        case .prominent: self = .bold
        case .secondary: self = .faint
        case .good: self = CellStyle(.green)
        case .warning: self = CellStyle(.yellow, isBold: true)
        }
    }
}

/// One place of the screen. What a wide character takes is two cells, of which the second has no text.
package struct Cell: Hashable, Sendable {
    /// A character and what stands on it; nothing in it is obeyed by a terminal.
    package fileprivate(set) var text: String
    /// 1 or 2; 0: the second half of the cell before it.
    package fileprivate(set) var width: Int
    package var style: CellStyle

    package static var blank: Cell { Cell(text: " ", width: 1, style: .plain) }
    fileprivate static func secondHalf(_ style: CellStyle) -> Cell { Cell(text: "", width: 0, style: style) }

    /// The cells of a text. Characters that a terminal obeys or hides are shown as octal numbers, as in all our output;
    /// what only chooses between pictures of one character is left out, since terminals disagree about its width.
    package static func of(_ text: String, _ style: CellStyle = .plain, isUnicode: Bool = true) -> [Cell] {
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: text.unicodeScalars.lazy.filter { !isChooser($0) })
        var cells: [Cell] = []
        for scalar in TerminalText.visible(String(shown)).unicodeScalars {
            let width = CharacterWidth.of(scalar)
            if !isUnicode && !scalar.isASCII {
                cells += Array(repeating: Cell(text: "?", width: 1, style: style), count: width)
            } else if width > 0 {
                cells.append(Cell(text: String(scalar), width: width, style: style))
                if width == 2 { cells.append(.secondHalf(style)) }
            } else {
                put(scalar, onto: &cells, style)
            }
        }
        return cells
    }

    /// The joiner between pictures, and what asks for the one or the other picture.
    private static func isChooser(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x200D || 0xFE00...0xFE0F ~= scalar.value
    }

    private static func put(_ mark: Unicode.Scalar, onto cells: inout [Cell], _ style: CellStyle) {
        guard let place = cells.lastIndex(where: { $0.width > 0 }) else {
            // Nothing to stand on: rather on a space than on the border before it.
            return cells.append(Cell(text: " " + String(mark), width: 1, style: style))
        }
        // Some languages have two or three; towers of them reach into other lines.
        if cells[place].text.unicodeScalars.count < 5 { cells[place].text.unicodeScalars.append(mark) }
    }
}

extension [Cell] {
    /// The first cells, up to that width; half a wide character is a blank.
    package func clipped(to width: Int) -> [Cell] {
        if count <= width { return self }
        var clipped = Array(prefix(Swift.max(0, width)))
        if let last = clipped.last, last.width == 2 { clipped[clipped.count - 1].makeBlank() }
        return clipped
    }

    /// The same with a sign that there is more.
    func shortened(to width: Int, _ sign: Cell) -> [Cell] {
        if count <= width { return self }
        return width < 1 ? [] : clipped(to: width - 1) + [sign]
    }

    /// Exactly that width.
    func padded(to width: Int, _ style: CellStyle = .plain) -> [Cell] {
        let clipped = clipped(to: width)
        var blank = Cell.blank
        blank.style = style
        return clipped + Array(repeating: blank, count: Swift.max(0, width - clipped.count))
    }

    func styled(_ style: CellStyle) -> [Cell] {
        map { cell in
            var cell = cell
            cell.style = style
            return cell
        }
    }
}

extension Cell {
    mutating func makeBlank() { (text, width) = (" ", 1) }
}
