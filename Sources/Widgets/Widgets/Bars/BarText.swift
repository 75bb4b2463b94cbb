import GroupContainer
import FoundationEssentials

/// The lines of a view as a bar can show them, before formatting.
struct BarText {
    struct Piece {
        var text: String
        var style: WidgetView.Style
        var url: String?
        var action: WidgetAction?
    }

    let title: String?
    /// The lines in order, without the empty ones.
    let pieces: [Piece]

    init(_ view: WidgetView, at now: Date) {
        title = view.title.map(Self.flat)
        pieces = view.lines.compactMap { line in
            var text = Self.flat(line.plainText)
            if let date = line.countdown {
                let rest = TimeText.countdown(to: date.nanoseconds, at: now.nanoseconds).text
                text = text.isEmpty ? rest : "\(text) \(rest)"
            }
            return text.isEmpty
                ? nil
                : Piece(
                    text: text, style: line.style, url: line.url ?? view.url, action: line.control?.action)
        }
    }

    /// The most noticeable style of all pieces.
    var strongest: WidgetView.Style {
        let order: [WidgetView.Style] = [.warning, .good, .prominent, .normal]
        return order.first { style in pieces.contains { $0.style == style } } ?? pieces.first?.style ?? .normal
    }

    /// Returns the pieces that fit, with separators between them; a last piece that was cut ends with `…`.
    func fitting(_ room: BarFormat.Room) -> [Piece] {
        var left = max(1, room.characters)
        var fitting: [Piece] = []
        let separator = Self.flat(room.separator, isTrimmed: false)
        for (index, piece) in pieces.enumerated() {
            if index > 0 { fitting.append(Piece(text: separator, style: .secondary)) }
            let isLast = index == pieces.count - 1
            // A piece that others follow leaves room for the separator and for the `…`.
            if piece.text.count <= left - (isLast ? 0 : separator.count + 1) {
                fitting.append(piece)
                left -= piece.text.count + separator.count
                continue
            }
            // There is always room for the `…`: every piece before this one has left it.
            let text = String(piece.text.prefix(left - 1)) + "…"
            fitting.append(Piece(text: text, style: piece.style, url: piece.url, action: piece.action))
            break
        }
        return fitting
    }

    /// Makes one line of a text: control characters and line ends become blanks; invisible format characters are left
    /// out, except the joiners that some scripts and emoji need.
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

    /// The color of a style in sRGB; nil for the bar's own color.
    static func color(_ style: WidgetView.Style) -> String? {
        switch style {
        case .normal, .prominent: nil
        case .secondary: "#8a8a8a"
        case .good: "#87af5f"
        case .warning: "#ffaf5f"
        }
    }
}
