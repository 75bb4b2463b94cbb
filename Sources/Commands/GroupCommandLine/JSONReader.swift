import GroupBytes

/// Reads JSON (RFC 8259), strictly: the names of an object must differ, and a number must not exceed a double. A number
/// without fraction and exponent loses no digit.
package struct JSONReader {
    private let text: [UInt8]
    private var offset = 0
    private let deepest: Int
    /// The names that lead to the present position, and the line of each name; nil where no lines are wanted.
    private var tracked: (path: [String], lines: [[String]: Int])?
    /// A position whose line is known, from which later lines are counted.
    private var counted = (offset: 0, line: 1)

    /// Returns the value of a text. `deepest`: how many levels the value may have; a scalar has one.
    package static func value(of text: [UInt8], deepest: Int) throws(TextFault) -> JSONValue {
        var reader = JSONReader(text: text, deepest: deepest)
        return try reader.whole()
    }

    /// Returns the value of a text, and the line of each member of an object, counted from 1, by the names that lead to
    /// it. Members of objects in arrays have the names that lead to the array.
    package static func valueWithLines(
        of text: [UInt8], deepest: Int
    ) throws(TextFault) -> (value: JSONValue, lines: [[String]: Int]) {
        var reader = JSONReader(text: text, deepest: deepest)
        reader.tracked = ([], [:])
        let value = try reader.whole()
        return (value, reader.tracked?.lines ?? [:])
    }

    private mutating func whole() throws(TextFault) -> JSONValue {
        let value = try value(depth: 1)
        skipBlanks()
        if offset < text.count { throw fault("unexpected text after the value") }
        return value
    }

    /// Records the line of a name that begins at `start`.
    private mutating func enter(_ name: String, at start: Int) {
        guard tracked != nil else { return }
        counted = (start, counted.line + text[counted.offset..<start].count { $0 == 0x0A })
        tracked?.path.append(name)
        if let path = tracked?.path { tracked?.lines[path] = counted.line }
    }

    private init(text: [UInt8], deepest: Int) { (self.text, self.deepest) = (text, deepest) }

    private func fault(_ what: String) -> TextFault { TextFault(what, at: offset, of: text) }

    private var next: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(TextFault) -> JSONValue {
        skipBlanks()
        if depth > deepest { throw fault("nested more than \(deepest) levels deep") }
        switch next {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            offset += 1
            return text[offset - 1] == UInt8(ascii: "{") ? try object(depth) : try array(depth)
        case UInt8(ascii: "\""):
            offset += 1
            return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw fault("the text ends where a value is expected")
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(TextFault) -> JSONValue {
        guard text[offset...].starts(with: word.utf8) else { throw fault("expected a value") }
        offset += word.utf8.count
        return value
    }

    private mutating func array(_ depth: Int) throws(TextFault) -> JSONValue {
        var elements: [JSONValue] = []
        skipBlanks()
        if take("]") { return .array([]) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            if take("]") { return .array(elements) }
            if !take(",") { throw fault("a ',' or a ']' is missing") }
        }
    }

    private mutating func object(_ depth: Int) throws(TextFault) -> JSONValue {
        var members: [(String, JSONValue)] = []
        var names = Set<String>()
        skipBlanks()
        if take("}") { return .object([]) }
        while true {
            skipBlanks()
            let start = offset
            if !take("\"") { throw fault("a name in quotes is missing") }
            let name = try string()
            if !names.insert(name).inserted {
                throw fault("the name '\(PipeText.escaped(Array(name.utf8)))' appears twice")
            }
            skipBlanks()
            if !take(":") { throw fault("a ':' is missing") }
            enter(name, at: start)
            members.append((name, try value(depth: depth + 1)))
            _ = tracked?.path.popLast()
            skipBlanks()
            if take("}") { return .object(members) }
            if !take(",") { throw fault("a ',' or a '}' is missing") }
        }
    }

    private mutating func digits() -> Int {
        let start = offset
        while let byte = next, (0x30...0x39).contains(byte) { offset += 1 }
        return offset - start
    }

    private mutating func number() throws(TextFault) -> JSONValue {
        let start = offset
        _ = take("-")
        let first = next
        let count = digits()
        if count == 0 || (count > 1 && first == 0x30) { throw fault("expected a value") }
        var isWhole = true
        if take(".") {
            isWhole = false
            if digits() == 0 { throw fault("digits are missing after the point") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            offset += 1
            if !take("+") { _ = take("-") }
            if digits() == 0 { throw fault("the exponent is missing") }
        }
        let word = String(decoding: text[start..<offset], as: UTF8.self)
        if isWhole, let number = Int64(word) { return .integer(number) }
        if isWhole, let number = UInt64(word) { return .unsigned(number) }
        guard let number = Double(word), number.isFinite else { throw fault("the number is too large") }
        return isWhole ? .digits(word) : .double(number)
    }

    /// Returns the string after its opening quote.
    private mutating func string() throws(TextFault) -> String {
        var bytes: [UInt8] = []
        while true {
            guard let byte = next else { throw fault("a string does not end") }
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = bytes.validText else { throw fault("a string is not UTF-8") }
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                offset += 1
                bytes += Array(String(try escaped()).utf8)
            case ..<0x20:
                throw fault(
                    "a control character in a string must be written as \\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
                )
            default:
                bytes.append(byte)
                offset += 1
            }
        }
    }

    /// Returns the character of an escape, after its backslash.
    private mutating func escaped() throws(TextFault) -> Unicode.Scalar {
        guard let letter = next else { throw fault("a string does not end") }
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw fault("an escape sequence is unknown")
        }
        var code = try unit()
        if (0xD800..<0xDC00).contains(code), take("\\"), take("u") {
            let low = try unit()
            if (0xDC00..<0xE000).contains(low) { code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) }
        }
        guard let scalar = Unicode.Scalar(code) else { throw fault("half of a surrogate pair is not a character") }
        return scalar
    }

    private mutating func unit() throws(TextFault) -> UInt32 {
        let digits = text[offset..<min(offset + 4, text.count)]
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault("an escape sequence needs four hexadecimal digits") }
        offset += 4
        return code
    }
}
