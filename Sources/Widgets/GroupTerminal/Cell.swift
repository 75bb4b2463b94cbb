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
        guard let index = cells.lastIndex(where: { $0.width > 0 }) else {
            // A mark without a character before it gets a space, so that it does not join the border.
            return cells.append(Cell(text: " " + String(mark), width: 1, style: style))
        }
        // Some languages use two or three marks; a higher stack would reach into other lines.
        if cells[index].text.unicodeScalars.count < 5 { cells[index].text.unicodeScalars.append(mark) }
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
    package func shortened(to width: Int, _ sign: Cell) -> [Cell] {
        if count <= width { return self }
        return width < 1 ? [] : clipped(to: width - 1) + [sign]
    }

    /// Returns exactly `width` cells.
    package func padded(to width: Int, _ style: CellStyle = .plain) -> [Cell] {
        let clipped = clipped(to: width)
        var blank = Cell.blank
        blank.style = style
        return clipped + Array(repeating: blank, count: Swift.max(0, width - clipped.count))
    }

    package func styled(_ style: CellStyle) -> [Cell] {
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

/// The number of terminal cells of a character. wcwidth(3) is not used: it needs a locale that is not always installed.
package enum CharacterWidth {
    /// Returns 2 for characters that are wide in East Asian typography, 0 for marks that combine with the character
    /// before, else 1. Control characters, which have no width, must not be passed.
    package static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        if isWide(scalar.value) { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        // The vowels and finals of a Korean syllable share the cells of its first consonant.
        default: return 0x1160...0x11FF ~= scalar.value ? 0 : 1
        }
    }

    private static func isWide(_ value: UInt32) -> Bool {
        var (low, high) = (0, wide.count)
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(value)
    }

    /// East_Asian_Width W and F of Unicode 14.0.0 (UAX #11), with the unassigned ideographs.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x2E99,
        0x2E9B...0x2EF3, 0x2F00...0x2FD5, 0x2FF0...0x2FFB, 0x3000...0x303E, 0x3041...0x3096, 0x3099...0x30FF,
        0x3105...0x312F, 0x3131...0x318E, 0x3190...0x31E3, 0x31F0...0x321E, 0x3220...0x3247, 0x3250...0x4DBF,
        0x4E00...0xA48C, 0xA490...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
        0xFE30...0xFE52, 0xFE54...0xFE66, 0xFE68...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FE4,
        0x16FF0...0x16FF1, 0x17000...0x187F7, 0x18800...0x18CD5, 0x18D00...0x18D08, 0x1AFF0...0x1AFF3,
        0x1AFF5...0x1AFFB, 0x1AFFD...0x1AFFE, 0x1B000...0x1B122, 0x1B150...0x1B152, 0x1B164...0x1B167,
        0x1B170...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A,
        0x1F200...0x1F202, 0x1F210...0x1F23B, 0x1F240...0x1F248, 0x1F250...0x1F251, 0x1F260...0x1F265,
        0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA,
        0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440,
        0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A,
        0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
        0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D7, 0x1F6DD...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC,
        0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF,
        0x1FA70...0x1FA74, 0x1FA78...0x1FA7C, 0x1FA80...0x1FA86, 0x1FA90...0x1FAAC, 0x1FAB0...0x1FABA,
        0x1FAC0...0x1FAC5, 0x1FAD0...0x1FAD9, 0x1FAE0...0x1FAE7, 0x1FAF0...0x1FAF6, 0x20000...0x2FFFD,
        0x30000...0x3FFFD,
    ]
}
