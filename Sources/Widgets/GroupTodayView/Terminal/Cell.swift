// Imports nothing: no file, clock or process.

/// The look of a cell. Only the eight colors that every terminal lets its user choose.
package struct CellStyle: Hashable, Sendable {
    package enum Color: Int, Hashable, Sendable, CaseIterable {
        case red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36
    }

    /// Nil means the terminal's own color.
    package var color: Color?
    package var isBold = false
    package var isFaint = false
    /// Whether foreground and background are swapped.
    package var isReversed = false

    package init(_ color: Color? = nil, isBold: Bool = false, isFaint: Bool = false, isReversed: Bool = false) {
        self.color = color
        self.isBold = isBold
        self.isFaint = isFaint
        self.isReversed = isReversed
    }

    package static var plain: CellStyle { CellStyle() }
    package static var bold: CellStyle { CellStyle(isBold: true) }
    package static var faint: CellStyle { CellStyle(isFaint: true) }
    package static var reversed: CellStyle { CellStyle(isReversed: true) }

    /// Creates the style of a widget's line.
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

/// A cell of the screen. A wide character takes two cells, the second of which has no text.
package struct Cell: Hashable, Sendable {
    /// A character and its combining marks; a terminal obeys none of them.
    package fileprivate(set) var text: String
    /// 1 or 2; 0 for the second half of the cell before it.
    package fileprivate(set) var width: Int
    package var style: CellStyle

    package static var blank: Cell { Cell(text: " ", width: 1, style: .plain) }
    fileprivate static func secondHalf(_ style: CellStyle) -> Cell { Cell(text: "", width: 0, style: style) }

    /// Returns the cells of a text. Characters that a terminal obeys or hides become octal numbers, as in all output of
    /// this package; characters that only select a variant of a picture are left out, because terminals disagree about
    /// their width.
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

    /// Returns whether a character is the joiner of pictures, or a variation selector.
    private static func isChooser(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x200D || 0xFE00...0xFE0F ~= scalar.value
    }

    private static func put(_ mark: Unicode.Scalar, onto cells: inout [Cell], _ style: CellStyle) {
        guard let place = cells.lastIndex(where: { $0.width > 0 }) else {
            // A mark without a character before it gets a space, so that it does not join the border.
            return cells.append(Cell(text: " " + String(mark), width: 1, style: style))
        }
        // Some languages use two or three marks; a higher stack would reach into other lines.
        if cells[place].text.unicodeScalars.count < 5 { cells[place].text.unicodeScalars.append(mark) }
    }
}

extension [Cell] {
    /// Returns the first cells, up to a width; a wide character that is cut in half becomes a blank.
    package func clipped(to width: Int) -> [Cell] {
        if count <= width { return self }
        var clipped = Array(prefix(Swift.max(0, width)))
        if let last = clipped.last, last.width == 2 { clipped[clipped.count - 1].makeBlank() }
        return clipped
    }

    /// Returns the first cells, up to a width; `sign` marks that something was cut off.
    func shortened(to width: Int, _ sign: Cell) -> [Cell] {
        if count <= width { return self }
        return width < 1 ? [] : clipped(to: width - 1) + [sign]
    }

    /// Returns exactly `width` cells.
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
