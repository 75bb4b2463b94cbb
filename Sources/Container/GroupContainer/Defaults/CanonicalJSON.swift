// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The canonical form of a JSON text (RFC 8259): two texts of the same value have the same bytes.
///
/// Without blanks; members sorted by the bytes of their names, of several with the same name the last one; characters
/// escaped only if they have to be; numbers by their decimal value. Unlike RFC 8785, no number passes through a double, so
/// that no digit is lost.
struct CanonicalJSON {
    /// What is kept of the way in which a number is written.
    enum Numbers {
        /// Nothing: `1.0` and `10e-1` become `1`.
        case byValue
        /// Whether it is written as a whole number, which makes a difference to Python and others: `10e-1` becomes `1.0`.
        case byKind
    }

    /// The levels that a value may have.
    private static let deepest = 512
    /// The digits up to which a whole number is written without a power of ten.
    private static let longest = 4_096

    private let text: [UInt8]
    private let numbers: Numbers
    private var offset = 0

    /// Returns the canonical form of a text; nil if it is not JSON, or nested deeper than 512 levels. Linear, but for
    /// the sorting of names.
    static func canonical(_ text: [UInt8], _ numbers: Numbers) -> [UInt8]? {
        guard String(validating: text, as: UTF8.self) != nil else { return nil }
        var reader = CanonicalJSON(text, numbers)
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        guard reader.value(to: &result, depth: 1) else { return nil }
        reader.skipBlanks()
        return reader.offset == text.count ? result : nil
    }

    private init(_ text: [UInt8], _ numbers: Numbers) { (self.text, self.numbers) = (text, numbers) }

    private var next: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        offset += 1
        return true
    }

    /// Appends the next value; returns false if there is none.
    private mutating func value(to result: inout [UInt8], depth: Int) -> Bool {
        skipBlanks()
        if depth > Self.deepest { return false }
        switch next {
        case UInt8(ascii: "{"): return object(to: &result, depth)
        case UInt8(ascii: "["): return array(to: &result, depth)
        case UInt8(ascii: "\""):
            guard let string = string() else { return false }
            result += string
            return true
        case UInt8(ascii: "t"): return word("true", to: &result)
        case UInt8(ascii: "f"): return word("false", to: &result)
        case UInt8(ascii: "n"): return word("null", to: &result)
        default:
            guard let number = number() else { return false }
            result += number
            return true
        }
    }

    private mutating func word(_ word: StaticString, to result: inout [UInt8]) -> Bool {
        let bytes = Array(word.description.utf8)
        guard text[offset...].starts(with: bytes) else { return false }
        offset += bytes.count
        result += bytes
        return true
    }

    private mutating func array(to result: inout [UInt8], _ depth: Int) -> Bool {
        offset += 1
        result.append(UInt8(ascii: "["))
        skipBlanks()
        if !take("]") {
            while true {
                guard value(to: &result, depth: depth + 1) else { return false }
                skipBlanks()
                if take("]") { break }
                guard take(",") else { return false }
                result.append(UInt8(ascii: ","))
            }
        }
        result.append(UInt8(ascii: "]"))
        return true
    }

    private mutating func object(to result: inout [UInt8], _ depth: Int) -> Bool {
        offset += 1
        var members: [[UInt8]: [UInt8]] = [:]
        skipBlanks()
        if !take("}") {
            while true {
                skipBlanks()
                guard next == UInt8(ascii: "\""), let name = string() else { return false }
                skipBlanks()
                guard take(":") else { return false }
                var member: [UInt8] = []
                guard value(to: &member, depth: depth + 1) else { return false }
                members[name] = member
                skipBlanks()
                if take("}") { break }
                guard take(",") else { return false }
            }
        }
        result.append(UInt8(ascii: "{"))
        for (index, member) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }).enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            result += member.key
            result.append(UInt8(ascii: ":"))
            result += member.value
        }
        result.append(UInt8(ascii: "}"))
        return true
    }

    // MARK: Strings

    /// Returns the next string, with its quotes.
    private mutating func string() -> [UInt8]? {
        offset += 1
        var result = [UInt8(ascii: "\"")]
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                result.append(byte)
                return result
            case UInt8(ascii: "\\"):
                guard escape(to: &result) else { return nil }
            case ..<0x20: return nil
            default: result.append(byte)
            }
        }
        return nil
    }

    /// Appends the character of an escape, after its backslash.
    private mutating func escape(to result: inout [UInt8]) -> Bool {
        guard let letter = next else { return false }
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), letter]
        case UInt8(ascii: "/"): result.append(letter)
        case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            result += [UInt8(ascii: "\\"), letter]
        case UInt8(ascii: "u"):
            guard let unit = unit() else { return false }
            append(unit, to: &result)
        default: return false
        }
        return true
    }

    /// Appends the character of a UTF-16 unit, or of the pair that it begins.
    private mutating func append(_ unit: UInt32, to result: inout [UInt8]) {
        var code = unit
        if (0xD800..<0xDC00).contains(unit) {
            let start = offset
            if take("\\"), take("u"), let low = self.unit(), (0xDC00..<0xE000).contains(low) {
                code = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            } else {
                offset = start
            }
        }
        switch code {
        case 0x22, 0x5C: result += [UInt8(ascii: "\\"), UInt8(code)]
        case 0x08: result += #"\b"#.utf8
        case 0x09: result += #"\t"#.utf8
        case 0x0A: result += #"\n"#.utf8
        case 0x0C: result += #"\f"#.utf8
        case 0x0D: result += #"\r"#.utf8
        default:
            if code >= 0x20, let scalar = Unicode.Scalar(code) {
                result += String(Character(scalar)).utf8
            } else {
                // A control character, or half of a pair, which UTF-8 does not have.
                let digits = String(code, radix: 16)
                result += (#"\u"# + String(repeating: "0", count: 4 - digits.count) + digits).utf8
            }
        }
    }

    private mutating func unit() -> UInt32? {
        let digits = text[offset..<min(offset + 4, text.count)]
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        offset += 4
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: Numbers

    private mutating func digits() -> ArraySlice<UInt8> {
        let start = offset
        while let byte = next, (0x30...0x39).contains(byte) { offset += 1 }
        return text[start..<offset]
    }

    /// Returns the next number: its digits without zeros around them, and the power of ten.
    private mutating func number() -> [UInt8]? {
        let isNegative = take("-")
        let whole = digits()
        if whole.isEmpty || (whole.count > 1 && whole.first == 0x30) { return nil }
        var fraction: ArraySlice<UInt8> = []
        if take(".") {
            fraction = digits()
            if fraction.isEmpty { return nil }
        }
        var isWhole = fraction.isEmpty
        var exponent = 0
        if take("e") || take("E") {
            let isBelow = !take("+") && take("-")
            let power = digits()
            if power.isEmpty { return nil }
            isWhole = false
            // No number that a program means has a longer exponent.
            guard let value = Int(String(decoding: power, as: UTF8.self)), value < 1_000_000_000 else { return nil }
            exponent = isBelow ? -value : value
        }
        var digits = Array((whole + fraction).drop { $0 == 0x30 })
        exponent -= fraction.count
        while digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        let showsKind = numbers == .byKind && !isWhole
        if digits.isEmpty { return Array(showsKind ? "0.0".utf8 : "0".utf8) }
        return (isNegative ? [UInt8(ascii: "-")] : []) + Self.printed(digits, exponent, showsKind: showsKind)
    }

    /// Returns `digits`, which neither begin nor end with a zero, times ten to the power `exponent`. With `showsKind`, a
    /// whole number has a `.0`.
    private static func printed(_ digits: [UInt8], _ exponent: Int, showsKind: Bool) -> [UInt8] {
        /// Where the point is: behind so many of the digits.
        let point = digits.count + exponent
        let zero: UInt8 = 0x30
        switch point {
        case digits.count...max(longest, digits.count) where exponent >= 0:
            return digits + [UInt8](repeating: zero, count: exponent) + (showsKind ? Array(".0".utf8) : [])
        case 1..<max(1, digits.count): return digits[..<point] + [UInt8(ascii: ".")] + digits[point...]
        case -5...0: return [zero, UInt8(ascii: ".")] + [UInt8](repeating: zero, count: -point) + digits
        default:
            let rest = digits.count > 1 ? [UInt8(ascii: ".")] + digits[1...] : []
            return digits[..<1] + rest + Array("e\(point > 0 ? "+" : "")\(point - 1)".utf8)
        }
    }
}

extension DefaultsValue {
    /// The value as it is stored: JSON in its canonical form, whoever writes it. A text that is not JSON is kept.
    var canonical: DefaultsValue {
        switch self {
        case .json(let text): CanonicalJSON.canonical(text, .byKind).map(DefaultsValue.json) ?? self
        case .array(let values): .array(values.map(\.canonical))
        case .dictionary(let values): .dictionary(values.mapValues(\.canonical))
        case .bool, .integer, .double, .float, .string, .data, .date, .url, .unknown: self
        }
    }

    /// Returns whether two values are the same for their readers. A value that is JSON is compared with the JSON of the
    /// other one, and numbers by what they are, in whatever kind they are stored.
    package func isSame(as other: DefaultsValue) -> Bool {
        switch (self, other) {
        case (.json, _), (_, .json):
            guard let left = jsonBytes, let right = other.jsonBytes else { return self == other }
            return (CanonicalJSON.canonical(left, .byValue) ?? left)
                == (CanonicalJSON.canonical(right, .byValue) ?? right)
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.dictionary(let left), .dictionary(let right)):
            return left.count == right.count
                && left.allSatisfy { name, value in right[name].map { value.isSame(as: $0) } ?? false }
        case (.integer(let whole), .double(let number)), (.double(let number), .integer(let whole)):
            return Int(exactly: number) == whole
        case (.integer(let whole), .float(let number)), (.float(let number), .integer(let whole)):
            return Int(exactly: number) == whole
        case (.double(let wide), .float(let narrow)), (.float(let narrow), .double(let wide)):
            return Double(narrow) == wide
        default: return self == other
        }
    }
}
