import FoundationEssentials

/// A view's lines as a bar can show them, before they are written in its own way.
struct BarText {
    struct Piece {
        var text: String
        var style: WidgetView.Style
        var url: String?
    }

    let title: String?
    /// In order; without those that say nothing.
    let pieces: [Piece]

    init(_ view: WidgetView, at now: Date) {
        title = view.title.map(Self.flat)
        pieces = view.lines.compactMap { line in
            var text = Self.flat(line.text)
            if let date = line.countdown {
                let rest = TimeText.countdown(to: Self.nanoseconds(date), at: Self.nanoseconds(now)).text
                text = text.isEmpty ? rest : "\(text) \(rest)"
            }
            return text.isEmpty ? nil : Piece(text: text, style: line.style, url: line.url ?? view.url)
        }
    }

    /// The style that is noticed first.
    var strongest: WidgetView.Style {
        let order: [WidgetView.Style] = [.warning, .good, .prominent, .normal]
        return order.first { style in pieces.contains { $0.style == style } } ?? pieces.first?.style ?? .normal
    }

    /// As much as there is room for, with the separators between; the last one says that something was cut.
    func fitting(_ room: BarFormat.Room) -> [Piece] {
        var left = max(1, room.characters)
        var fitting: [Piece] = []
        let separator = Self.flat(room.separator, isTrimmed: false)
        for (place, piece) in pieces.enumerated() {
            if place > 0 { fitting.append(Piece(text: separator, style: .secondary)) }
            let isLast = place == pieces.count - 1
            // Room for the next separator and for the sign that something was cut, unless nothing follows.
            if piece.text.count <= left - (isLast ? 0 : separator.count + 1) {
                fitting.append(piece)
                left -= piece.text.count + separator.count
                continue
            }
            // There is always room for that sign: every piece before this one has left it.
            let text = String(piece.text.prefix(left - 1)) + "…"
            fitting.append(Piece(text: text, style: piece.style, url: piece.url))
            break
        }
        return fitting
    }

    /// One line: control characters, and what ends lines, are blanks; what a reader does not see is left out, but for the
    /// joiners that some scripts and pictures need.
    static func flat(_ text: String) -> String { flat(text, isTrimmed: true) }

    private static func flat(_ text: String, isTrimmed: Bool) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator:
                if !isTrimmed || (scalars.last != " " && !scalars.isEmpty) { scalars.append(" ") }
            case .format: if scalar.value == 0x200C || scalar.value == 0x200D { scalars.append(scalar) }
            case .unassigned where scalar.value & 0xFFFE == 0xFFFE || 0xFDD0...0xFDEF ~= scalar.value:
                scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        while isTrimmed, scalars.last == " " { scalars.removeLast() }
        return String(scalars)
    }

    private static func nanoseconds(_ date: Date) -> Int64 {
        let time = (date.timeIntervalSince1970 * 1e9).rounded()
        return Int64(exactly: time) ?? (time < 0 ? .min : .max)
    }

    /// In sRGB; nil: the bar's own.
    static func color(_ style: WidgetView.Style) -> String? {
        switch style {
        case .normal, .prominent: nil
        case .secondary: "#8a8a8a"
        case .good: "#87af5f"
        case .warning: "#ffaf5f"
        }
    }
}
