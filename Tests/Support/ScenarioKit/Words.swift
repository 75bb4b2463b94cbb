/// The words of a line. They are bytes, as names are: `"…"` may hold spaces and the escapes `\n \t \\ \" \xHH`.
package enum Words {
    /// Why a line cannot be split.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    private static let named: [UInt8: UInt8] = [0x6E: 10, 0x74: 9, 0x5C: 0x5C, quote: quote]
    private static let quote = UInt8(ascii: "\"")
    private static let space = UInt8(ascii: " ")
    private static let backslash = UInt8(ascii: "\\")

    package static func split(_ line: some StringProtocol) throws(Fault) -> [[UInt8]] {
        let line = Array(line.utf8)
        var (words, place): ([[UInt8]], Int) = ([], 0)
        while place < line.count {
            if line[place] == space {
                place += 1
                continue
            }
            var word: [UInt8] = []
            while place < line.count, line[place] != space {
                if line[place] == quote {
                    word += try quoted(line, &place)
                } else {
                    word.append(line[place])
                    place += 1
                }
            }
            words.append(word)
        }
        return words
    }

    /// Returns the bytes between two quotation marks.
    private static func quoted(_ line: [UInt8], _ place: inout Int) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        place += 1
        while place < line.count {
            let byte = line[place]
            place += 1
            if byte == quote { return bytes }
            guard byte == backslash else {
                bytes.append(byte)
                continue
            }
            let escape = place < line.count ? line[place] : 0
            let digits = String(decoding: line.dropFirst(place + 1).prefix(2), as: UTF8.self)
            if escape == UInt8(ascii: "x"), let byte = UInt8(digits, radix: 16) {
                bytes.append(byte)
                place += 3
            } else if let byte = named[escape] {
                bytes.append(byte)
                place += 1
            } else {
                let name = escape == 0 ? "" : String(decoding: [escape], as: UTF8.self)
                throw Fault(description: "'\\\(name)' is none of \\n \\t \\\\ \\\" \\xHH")
            }
        }
        throw Fault(description: "a quotation mark has no other one")
    }

    /// Returns a line that `split` splits into the same words.
    package static func joined(_ words: [[UInt8]]) -> String { words.map(quotedIfNeeded).joined(separator: " ") }

    private static func quotedIfNeeded(_ word: [UInt8]) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { (33...126).contains($0) && $0 != 34 && $0 != 92 }
        let isMark = word == Array(";".utf8) || word == Array("<".utf8)
        if isPlain && !isMark { return String(decoding: word, as: UTF8.self) }
        let escaped = word.map { byte in
            if let name = named.first(where: { $0.value == byte })?.key {
                return "\\" + String(decoding: [name], as: UTF8.self)
            }
            if (32...126).contains(byte) { return String(decoding: [byte], as: UTF8.self) }
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count == 1 ? "0" : "") + digits
        }
        return "\"" + escaped.joined() + "\""
    }
}
