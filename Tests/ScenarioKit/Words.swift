/// A line's words. They are bytes, as names are: `"…"` may hold spaces and the escapes `\n \t \\ \" \xHH`.
package enum Words {
    /// Why a line cannot be taken apart.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    private static let named: [Character: UInt8] = ["n": 10, "t": 9, "\\": 92, "\"": 34]

    package static func split(_ line: some StringProtocol) throws(Fault) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var rest = Substring(line)
        while let character = rest.popFirst() {
            switch character {
            case " ":
                if let whole = word { words.append(whole) }
                word = nil
            case "\"": word = (word ?? []) + (try quoted(&rest))
            default: word = (word ?? []) + Array(String(character).utf8)
            }
        }
        if let word { words.append(word) }
        return words
    }

    private static func quoted(_ rest: inout Substring) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        while let character = rest.popFirst() {
            switch character {
            case "\"": return bytes
            case "\\":
                let escape = rest.popFirst()
                if escape == "x", let byte = UInt8(String(rest.prefix(2)), radix: 16) {
                    rest = rest.dropFirst(2)
                    bytes.append(byte)
                } else if let byte = escape.flatMap({ named[$0] }) {
                    bytes.append(byte)
                } else {
                    throw Fault(description: "'\\\(escape.map(String.init) ?? "")' is none of \\n \\t \\\\ \\\" \\xHH")
                }
            default: bytes += Array(String(character).utf8)
            }
        }
        throw Fault(description: "a quotation mark has no other one")
    }

    /// A line of which `split` makes the same words.
    package static func joined(_ words: [[UInt8]]) -> String { words.map(quotedIfNeeded).joined(separator: " ") }

    private static func quotedIfNeeded(_ word: [UInt8]) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { (33...126).contains($0) && $0 != 34 && $0 != 92 }
        let isMark = word == Array(";".utf8) || word == Array("<".utf8)
        if isPlain && !isMark { return String(decoding: word, as: UTF8.self) }
        let escaped = word.map { byte in
            if let name = named.first(where: { $0.value == byte })?.key { return "\\\(name)" }
            if (32...126).contains(byte) { return String(decoding: [byte], as: UTF8.self) }
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count == 1 ? "0" : "") + digits
        }
        return "\"" + escaped.joined() + "\""
    }
}
