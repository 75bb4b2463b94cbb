import FoundationEssentials

extension Encodable {
    /// The value as JSON on one line.
    fileprivate var onOneLine: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// A line for waybar, with the keys of waybar-custom(5).
struct WaybarLine: Encodable {
    let text: String
    let tooltip: String
    let alt: String
    let `class`: [String]

    init(_ content: BarText, kind: String, _ room: BarFormat.Room) {
        text = content.fitting(room).map(Self.markup).joined()
        let lines = content.pieces.map { Self.escaped($0.text) }
        let title = content.title.map { "<b>\(Self.escaped($0))</b>" }
        tooltip = ((title.map { [$0] } ?? []) + lines).joined(separator: "\n")
        alt = content.strongest.rawValue
        // A style sheet cannot name a class that contains a dot.
        `class` = [kind.split(separator: ".").joined(separator: "-"), content.strongest.rawValue]
    }

    var encoded: String { onOneLine }

    private static func markup(_ piece: BarText.Piece) -> String {
        let text = escaped(piece.text)
        if piece.style == .prominent { return "<b>\(text)</b>" }
        return BarText.color(piece.style).map { "<span foreground='\($0)'>\(text)</span>" } ?? text
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "'": escaped += "&#39;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

/// A line for i3blocks, with the keys of the i3bar protocol.
struct I3BlocksLine: Encodable {
    let full_text: String
    let short_text: String
    let color: String?
    /// Always `none`, whatever the block's settings are: the text is not markup.
    let markup = "none"

    private enum CodingKeys: String, CodingKey {
        case full_text, short_text, color, markup
    }

    init(_ content: BarText, _ room: BarFormat.Room) {
        full_text = content.fitting(room).map(\.text).joined()
        let first = content.pieces.first { $0.style == .prominent } ?? content.pieces.first
        short_text = first.map { String($0.text.prefix(max(1, room.characters / 2))) } ?? ""
        color = BarText.color(content.strongest)
    }

    var encoded: String { onOneLine }
}

/// A line for polybar, with the tags of its wiki's page "Formatting".
enum PolybarLine {
    static func encoded(_ content: BarText, _ room: BarFormat.Room, _ clicks: BarFormat.Clicks) -> String {
        content.fitting(room).map { piece in
            var text = escaped(piece.text)
            if let color = BarText.color(piece.style) { text = "%{F\(color)}\(text)%{F-}" }
            let shell: String
            if let action = piece.action, let presser = clicks.presser {
                shell = "\(presser) \(action.word)"
            } else if let url = piece.url, isOpenable(url, clicks.schemes) {
                shell = "\(clicks.opener) '\(url)'"
            } else {
                return text
            }
            let command = shell.split(separator: ":", omittingEmptySubsequences: false)
            return "%{A1:\(command.joined(separator: "\\:")):}\(text)%{A}"
        }.joined()
    }

    /// Escapes text. Polybar has no escape for `%{`, so a tag without effect separates its two characters.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "%{", omittingEmptySubsequences: false).joined(separator: "%%{O0}{")
    }

    /// Returns whether an address has one of the schemes, and only characters of RFC 3986 without the single quote: the
    /// address becomes part of a shell command.
    private static func isOpenable(_ url: String, _ schemes: Set<String>) -> Bool {
        guard let end = url.firstIndex(of: ":") else { return false }
        let scheme = url[..<end].lowercased()
        let others = "-._~:/?#[]@!$&()*+,;=%".utf8
        return schemes.contains(scheme)
            && url.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || others.contains(byte)
            }
    }
}
