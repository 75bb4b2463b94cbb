// Imports nothing: no file, clock or process.

/// The characters of borders and signs.
struct Glyphs: Hashable, Sendable {
    let topLeft, topRight, bottomLeft, bottomRight, horizontal, vertical: String
    let more, folded, dot, up, down: String

    static let thin = Glyphs(
        topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", horizontal: "─", vertical: "│", more: "…",
        folded: "▸", dot: "·", up: "↑", down: "↓")

    /// The glyphs of the selected panel, which differ without colors, too.
    static let thick = Glyphs(
        topLeft: "┏", topRight: "┓", bottomLeft: "┗", bottomRight: "┛", horizontal: "━", vertical: "┃", more: "…",
        folded: "▸", dot: "·", up: "↑", down: "↓")

    static let plain = Glyphs(
        topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", horizontal: "-", vertical: "|", more: "~",
        folded: ">", dot: "-", up: "^", down: "v")

    static let plainThick = Glyphs(
        topLeft: "#", topRight: "#", bottomLeft: "#", bottomRight: "#", horizontal: "=", vertical: "#", more: "~",
        folded: ">", dot: "-", up: "^", down: "v")

    static func of(_ look: TodayLook, isThick: Bool = false) -> Glyphs {
        look.isUnicode ? isThick ? thick : thin : isThick ? plainThick : plain
    }
}
