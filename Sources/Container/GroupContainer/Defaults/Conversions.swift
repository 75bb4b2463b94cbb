/// The value as another type, by the conversions of `UserDefaults`. A text is read as far as it is a number, and a text
/// that begins with any form of yes is true. Numbers are truncated, not rounded; everything else is no number.
extension DefaultsValue {
    /// The value as a truth value; nil where it is neither a truth value, a number nor a text.
    public var boolValue: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(let value): value != 0
        case .double(let value): value != 0
        case .float(let value): value != 0
        case .string(let text): Self.isYes(text)
        case .data, .date, .url, .array, .dictionary, .json, .unknown: jsonScalar?.boolValue
        }
    }

    /// The value as a whole number; nil where it is neither a number, a truth value nor a text. A number that is too
    /// large or too small becomes the largest or smallest `Int`.
    public var integerValue: Int? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): value
        case .double(let value): Self.cut(value)
        case .float(let value): Self.cut(Double(value))
        case .string(let text): Self.leadingInteger(of: text)
        case .data, .date, .url, .array, .dictionary, .json, .unknown: jsonScalar?.integerValue
        }
    }

    /// The value as a number; nil where it is neither a number, a truth value nor a text.
    public var doubleValue: Double? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): Double(value)
        case .double(let value): value
        case .float(let value): Double(value)
        case .string(let text): Self.leadingNumber(of: text)
        case .data, .date, .url, .array, .dictionary, .json, .unknown: jsonScalar?.doubleValue
        }
    }

    /// The value as a number of single precision; nil where it is neither a number, a truth value nor a text.
    public var floatValue: Float? {
        if case .float(let value) = self { return value }
        if case .string(let text) = self { return Float(Self.leadingNumber(of: text)) }
        return doubleValue.map { Float($0) }
    }

    /// The value as a text: a text itself, or a number's digits, where true is "1" and 12.0 is "12". Nil for everything
    /// else.
    public var stringValue: String? {
        switch self {
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        case .double(let value): Self.text(of: value) ?? "\(value)"
        case .float(let value): Self.text(of: Double(value)) ?? "\(value)"
        case .string(let text): text
        case .data, .date, .url, .array, .dictionary, .json, .unknown: jsonScalar?.stringValue
        }
    }

    /// The content of JSON that holds one text, number or truth value.
    private var jsonScalar: DefaultsValue? {
        guard case .json = self, let value = structured else { return nil }
        switch value {
        case .bool, .integer, .double, .string: return value
        case .float, .data, .date, .url, .array, .dictionary, .json, .unknown: return nil
        }
    }

    private static func text(of whole: Double) -> String? {
        whole == whole.rounded() ? Int(exactly: whole).map(String.init) : nil
    }

    private static func cut(_ value: Double) -> Int {
        if value.isNaN { return 0 }
        if value >= 0x1p63 { return .max }
        return value <= -0x1p63 ? .min : Int(value)
    }

    private static let blanks: Set<UInt8> = [9, 10, 11, 12, 13, 32]

    /// Returns whether a text means yes: blanks, one sign and zeros are skipped; then comes a Y, a T or another digit.
    private static func isYes(_ text: String) -> Bool {
        var rest = text.utf8.drop { blanks.contains($0) }
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard let first = rest.drop(while: { $0 == UInt8(ascii: "0") }).first else { return false }
        return "YyTt123456789".utf8.contains(first)
    }

    private static func leadingInteger(of text: String) -> Int {
        var rest = text.utf8.drop { blanks.contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        var value = 0
        for digit in rest.prefix(while: { (48...57).contains($0) }) {
            let (tens, isOver) = value.multipliedReportingOverflow(by: 10)
            let (sum, isOverToo) =
                isNegative
                ? tens.subtractingReportingOverflow(Int(digit) - 48) : tens.addingReportingOverflow(Int(digit) - 48)
            if isOver || isOverToo { return isNegative ? .min : .max }
            value = sum
        }
        return value
    }

    private static func leadingNumber(of text: String) -> Double {
        let rest = Array(text.utf8.drop { blanks.contains($0) })
        var end = 0
        var (digits, hasPoint, hasExponent) = (0, false, false)
        scan: while end < rest.count {
            switch rest[end] {
            case 48...57: digits += 1
            case UInt8(ascii: "+"), UInt8(ascii: "-"):
                if end > 0 && rest[end - 1] | 32 != UInt8(ascii: "e") { break scan }
            case UInt8(ascii: "."):
                if hasPoint || hasExponent { break scan }
                hasPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                if hasExponent || digits == 0 { break scan }
                hasExponent = true
            default: break scan
            }
            end += 1
        }
        // Cuts the end off until the rest is a number: an exponent without digits does not count.
        for length in stride(from: end, to: 0, by: -1) {
            if let value = Double(String(decoding: rest[..<length], as: UTF8.self)) { return value }
        }
        return 0
    }

    /// The name of the kind in messages, such as "a number".
    var kindName: String {
        switch self {
        case .bool: "a truth value"
        case .integer: "a whole number"
        case .double, .float: "a number"
        case .string: "a text"
        case .data: "data"
        case .date: "a date"
        case .url: "a URL"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .json: "JSON"
        case .unknown(let kind, _): "a value of kind \(kind), which a newer version has written"
        }
    }
}
