import GroupBytes

/// The error for a line that cannot be split into words.
package enum ShellWordsFault: Error, Equatable, CustomStringConvertible {
    /// A quote is not closed.
    case openQuote(Character)
    /// The last byte is a backslash.
    case openBackslash

    /// A sentence for the user.
    package var description: String {
        switch self {
        case .openQuote(let quote): "a \(quote) is not closed"
        case .openBackslash: "nothing follows the last backslash"
        }
    }
}

/// Splits a line into words with the quoting of sh(1): `'…'` is literal; in `"…"`, `\` escapes `"`, `\`, `$` and a
/// backquote; elsewhere `\` escapes any byte. Nothing is expanded, and there are no comments.
package enum ShellWords {
    /// Returns the words; empty for a blank line.
    package static func of(_ line: [UInt8]) throws(ShellWordsFault) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var rest = line[...]
        while let byte = rest.popFirst() {
            switch byte {
            case 0x20, 0x09:
                if let done = word { words.append(done) }
                word = nil
            case UInt8(ascii: "'"): word = (word ?? []) + (try quoted(&rest))
            case UInt8(ascii: "\""): word = (word ?? []) + (try doublyQuoted(&rest))
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { throw .openBackslash }
                word = (word ?? []) + [next]
            default:
                if word?.append(byte) == nil { word = [byte] }
            }
        }
        if let word { words.append(word) }
        return words
    }

    /// Returns a word as it is typed, in quotes if a shell needs them. For people: bytes that are not text are escaped.
    package static func quoted(_ word: [UInt8]) -> String {
        let plain = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".utf8)
        let text = PipeText.escaped(word)
        if !word.isEmpty, word.allSatisfy({ plain.contains($0) || $0 >= 0x80 }) { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>) throws(ShellWordsFault) -> [UInt8] {
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else { throw .openQuote("'") }
        defer { rest = rest[(end + 1)...] }
        return Array(rest[..<end])
    }

    private static func doublyQuoted(_ rest: inout ArraySlice<UInt8>) throws(ShellWordsFault) -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return bytes }
            if byte == UInt8(ascii: "\\"), let next = rest.first, "\"\\$`".utf8.contains(next) {
                bytes.append(next)
                rest = rest.dropFirst()
            } else {
                bytes.append(byte)
            }
        }
        throw .openQuote("\"")
    }
}
