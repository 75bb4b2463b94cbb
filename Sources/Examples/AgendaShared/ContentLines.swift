/// A line of an iCalendar file (RFC 5545, section 3.1): a name, parameters, a value.
struct ContentLine {
    /// The number of the line in the file, from 1, for a person who looks for it.
    let number: Int
    /// In capital letters.
    let name: String
    /// By their names in capital letters.
    let parameters: [String: String]
    let value: String

    /// The longest line that is read, without its folds: an attached picture is a line of megabytes.
    static let longest = 65_536

    /// Returns the lines of a file. A line that has no name and value, or is too long, is not among them.
    static func all(in bytes: [UInt8]) -> [ContentLine] {
        var lines: [ContentLine] = []
        var (text, first): ([UInt8], Int) = ([], 1)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        for (index, raw) in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        {
            let line = raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw
            if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
                // A fold may be within a character, so lines are joined as bytes.
                if text.count <= longest { text += line.dropFirst() }
            } else {
                if let line = ContentLine(text, number: first) { lines.append(line) }
                (text, first) = (Array(line), index + 1)
            }
        }
        if let line = ContentLine(text, number: first) { lines.append(line) }
        return lines
    }

    private init?(_ bytes: [UInt8], number: Int) {
        if bytes.count > Self.longest { return nil }
        // Parts end at ';' and ':' outside of quotes; the value begins behind the first such ':'.
        var (parts, isQuoted): ([[UInt8]], Bool) = ([[]], false)
        var rest = bytes[...]
        var hasValue = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ":"), !isQuoted {
                hasValue = true
                break
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
        }
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        guard hasValue, !texts[0].isEmpty else { return nil }
        var parameters: [String: String] = [:]
        for text in texts.dropFirst() {
            let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { parameters[pair[0].uppercased()] = String(pair[1]) }
        }
        self.number = number
        self.name = texts[0].uppercased()
        self.parameters = parameters
        self.value = String(decoding: rest, as: UTF8.self)
    }

    /// The value of a text property, in one line: without escapes, and without line breaks.
    var text: String {
        var (text, isEscaped) = ("", false)
        for character in value {
            if isEscaped {
                text.append(character == "n" || character == "N" ? " " : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.append(character)
            }
        }
        return text
    }
}
