// Imports nothing: no file, clock or process.

/// The characters of borders and signs.
package struct Glyphs: Hashable, Sendable {
    package let topLeft, topRight, bottomLeft, bottomRight, horizontal, vertical: String
    package let more, folded, dot, up, down: String

    package static let thin = Glyphs(
        topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", horizontal: "─", vertical: "│", more: "…",
        folded: "▸", dot: "·", up: "↑", down: "↓")

    /// The glyphs of the selected panel, which differ without colors, too.
    private static let thick = Glyphs(
        topLeft: "┏", topRight: "┓", bottomLeft: "┗", bottomRight: "┛", horizontal: "━", vertical: "┃", more: "…",
        folded: "▸", dot: "·", up: "↑", down: "↓")

    private static let plain = Glyphs(
        topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", horizontal: "-", vertical: "|", more: "~",
        folded: ">", dot: "-", up: "^", down: "v")

    private static let plainThick = Glyphs(
        topLeft: "#", topRight: "#", bottomLeft: "#", bottomRight: "#", horizontal: "=", vertical: "#", more: "~",
        folded: ">", dot: "-", up: "^", down: "v")

    package static func of(_ look: TerminalLook, isThick: Bool = false) -> Glyphs {
        look.isUnicode ? isThick ? thick : thin : isThick ? plainThick : plain
    }
}
