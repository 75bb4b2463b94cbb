import Foundation
package import GroupTerminal

/// A model of a terminal, as far as frames use it: prints, moves, clears, changes colors, and refuses everything else.
package struct ModelTerminal {
    package private(set) var cells: [[Cell]]
    package private(set) var refused: [String] = []
    private var row = 0
    private var column = 0
    private var style = CellStyle.plain

    package init(_ size: WidgetSize) {
        cells = Array(repeating: Array(repeating: .blank, count: size.columns), count: size.rows)
    }

    package mutating func take(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return refused.append("not UTF-8") }
        var rest = Substring(text).unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "\u{1B}" {
                guard rest.popFirst() == "[" else { return refused.append("an escape that begins nothing") }
                let parameters = rest.prefix { $0.value < 0x40 }
                rest = rest.dropFirst(parameters.count)
                obey(rest.popFirst(), parameters.split(separator: ";").map { Int(String($0)) ?? -1 })
            } else if scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value {
                refused.append("the control character \(scalar.value)")
            } else {
                print(scalar)
            }
        }
    }

    private mutating func obey(_ final: Unicode.Scalar?, _ numbers: [Int]) {
        switch (final, numbers.count) {
        case ("H", 2): (row, column) = (numbers[0] - 1, numbers[1] - 1)
        case ("J", 1) where numbers[0] == 2:
            cells = cells.map { $0.map { _ in .blank } }
        case ("m", 1...): numbers.forEach { dress($0) }
        default: refused.append("\(numbers)\(final.map(String.init) ?? "")")
        }
    }

    private mutating func dress(_ number: Int) {
        switch number {
        case 0: style = .plain
        case 1: style.isBold = true
        case 2: style.isFaint = true
        case 7: style.isReversed = true
        default:
            style.color = CellStyle.Color(rawValue: number)
            if style.color == nil { refused.append("the style \(number)") }
        }
    }

    private mutating func print(_ scalar: Unicode.Scalar) {
        let width = CharacterWidth.of(scalar)
        if width == 0 {
            guard let text = cells[row][..<column].last(where: { $0.width > 0 })?.text else {
                return refused.append("a mark on nothing")
            }
            let place = column - (cells[row][column - 1].width == 0 ? 2 : 1)
            let all = Cell.of(text + String(scalar), cells[row][place].style)
            return cells[row].replaceSubrange(place..<column, with: all)
        }
        guard cells.indices.contains(row), column + width <= cells[row].count else {
            return refused.append("'\(scalar)' at \(row), \(column)")
        }
        // A wide character of which half is covered is removed.
        if cells[row][column].width == 0 { cells[row][column - 1] = .blank }
        let end = column + width
        if end < cells[row].count, cells[row][end].width == 0 { cells[row][end] = .blank }
        cells[row].replaceSubrange(column..<end, with: Cell.of(String(scalar), style))
        column = end
    }
}

extension ModelTerminal {
    /// Returns the picture after these bytes, without the settings of the terminal and the output of a shell.
    package static func picture(of text: String, _ size: WidgetSize) -> String {
        guard let start = text.range(of: "\u{1B}[?2004h", options: .backwards) ?? text.range(of: "") else { return "" }
        // The rest of a sequence or character that came in part is still missing.
        let drawn = text[start.upperBound...].replacing(#/\x1B\[\?[0-9]+[hl]/#, with: "")
        var last: [Range<String.Index>] = []
        var from = drawn.startIndex
        while let found = drawn.range(of: "\u{1B}[2J", range: from..<drawn.endIndex) {
            last = [found]
            from = found.upperBound
        }
        guard let begin = last.first?.lowerBound else { return "" }
        var terminal = ModelTerminal(size)
        terminal.take(Array(drawn[begin...].utf8))
        return terminal.cells.map { $0.map(\.text).joined() }.joined(separator: "\n")
    }
}
