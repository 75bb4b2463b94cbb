/// A JSON value. Members keep their order: the documentation shows `sequence` first.
package indirect enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    /// A whole number that 64 bits cannot hold, by its digits.
    case digits(String)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([(String, JSONValue)])

    /// Returns the value on one line without spaces (RFC 8259). A double that is not finite becomes null.
    package func encoded() -> String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += value ? "true".utf8 : "false".utf8
        case .integer(let value): bytes += String(value).utf8
        case .unsigned(let value): bytes += String(value).utf8
        case .digits(let text): bytes += text.utf8
        case .double(let value): bytes += value.isFinite ? value.description.utf8 : "null".utf8
        case .string(let value): Self.append(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.0, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.1.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            // RFC 8259 permits DEL and the C1 control characters as they are; some terminals obey them.
            case ..<0x20, 0x7F: bytes += escape(byte)
            case 0xC2:
                guard let second = rest.next() else { break }
                bytes += second < 0xA0 ? escape(second) : [byte, second]
            case 0xE2:
                // U+2028 and U+2029 end a line for some readers of lines, such as Node's.
                guard let second = rest.next(), let third = rest.next() else { break }
                let isLineEnd = second == 0x80 && (third == 0xA8 || third == 0xA9)
                bytes += isLineEnd ? Array(#"\u20\#(String(third - 0x80, radix: 16))"#.utf8) : [byte, second, third]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Returns `\u00` and two hexadecimal digits: of a character below U+0100 by its number.
    private static func escape(_ number: UInt8) -> [UInt8] {
        Array(((number < 0x10 ? #"\u000"# : #"\u00"#) + String(number, radix: 16)).utf8)
    }
}

extension JSONValue: Equatable {
    /// Returns whether two values are equal in case, value and order of members. Strings are compared by their bytes:
    /// canonically equivalent names are equal as `String`, but are two files to the kernel.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.digits(let left), .digits(let right)): isSame(left, right)
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): isSame(left, right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left.elementsEqual(right) { isSame($0.0, $1.0) && $0.1 == $1.1 }
        default: false
        }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    /// Creates null.
    package init(nilLiteral: ()) { self = .null }

    /// Creates `true` or `false`.
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Creates a whole number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates a string.
    package init(stringLiteral value: String) { self = .string(value) }

    /// Creates an array.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object with its members in the order written.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}
