public import FoundationEssentials
import GroupBytes

/// A value of a key in a suite: what a property list can hold, and what `Codable` values become.
///
/// An enumeration rather than `Any`: it is `Sendable`, compares exactly, and cannot hold a value that cannot be read.
public enum DefaultsValue: Hashable, Sendable {
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction.
    case double(Double)
    /// A number with a fraction, of single precision: its text has no more digits than that.
    case float(Float)
    /// A text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A moment; stored in seconds since the beginning of 2001, as `Date` counts, so that no fraction of it is lost.
    case date(Date)
    /// A URL, as a text.
    case url(String)
    /// Several values, in order.
    case array([DefaultsValue])
    /// Several values by their names.
    case dictionary([String: DefaultsValue])
    /// JSON: the encoded form of a `Codable` value.
    case json([UInt8])
    /// A value of a kind that only a newer version understands; its bytes are kept.
    case unknown(kind: UInt8, [UInt8])
}

extension DefaultsValue {
    /// The most levels to which arrays and dictionaries may be nested. Error when a deeper value is set: `limitReached`
    public static let maximumDepth = 64

    /// The number of nested levels; a scalar has one.
    var depth: Int {
        switch self {
        case .array(let values): 1 + (values.lazy.map(\.depth).max() ?? 0)
        case .dictionary(let values): 1 + (values.values.lazy.map(\.depth).max() ?? 0)
        case .bool, .integer, .double, .float, .string, .data, .date, .url, .json, .unknown: 1
        }
    }

    private enum Kind {
        static let bool: UInt8 = 1
        static let integer: UInt8 = 2
        static let double: UInt8 = 3
        static let string: UInt8 = 4
        static let data: UInt8 = 5
        static let date: UInt8 = 6
        static let url: UInt8 = 7
        static let array: UInt8 = 8
        static let dictionary: UInt8 = 9
        static let json: UInt8 = 10
        static let float: UInt8 = 11
    }

    /// Writes a byte for the kind, then the content. Linear in its size.
    func encode(into writer: inout ByteWriter) {
        switch self {
        case .bool(let value):
            writer.write(Kind.bool)
            writer.write(UInt8(value ? 1 : 0))
        case .integer(let value):
            writer.write(Kind.integer)
            writer.write(Int64(value))
        case .double(let value):
            writer.write(Kind.double)
            writer.write(value.bitPattern)
        case .float(let value):
            writer.write(Kind.float)
            writer.write(value.bitPattern)
        case .string(let value):
            writer.write(Kind.string)
            writer.write(raw: value.utf8)
        case .data(let value):
            writer.write(Kind.data)
            writer.write(raw: value)
        case .date(let value):
            writer.write(Kind.date)
            writer.write(value.timeIntervalSinceReferenceDate.bitPattern)
        case .url(let value):
            writer.write(Kind.url)
            writer.write(raw: value.utf8)
        case .array(let values):
            writer.write(Kind.array)
            writer.write(UInt32(values.count))
            for value in values { value.encodeCounted(into: &writer) }
        case .dictionary(let values):
            writer.write(Kind.dictionary)
            writer.write(UInt32(values.count))
            // The names are sorted, so that equal values have equal bytes.
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.write(UInt32(name.utf8.count))
                writer.write(raw: name.utf8)
                value.encodeCounted(into: &writer)
            }
        case .json(let value):
            writer.write(Kind.json)
            writer.write(raw: value)
        case .unknown(let kind, let value):
            writer.write(kind)
            writer.write(raw: value)
        }
    }

    /// Writes the length of the value in four bytes, then the value.
    func encodeCounted(into writer: inout ByteWriter) {
        let start = writer.reserveCount()
        encode(into: &writer)
        writer.fillCount(at: start)
    }

    /// Reads a value of `count` bytes. Throws where bytes are left over or missing. Linear in its size.
    init(from reader: inout ByteReader, count: Int, depth: Int = 1) throws(ByteReader.TooShort) {
        guard count > 0, count <= reader.remaining, depth <= Self.maximumDepth else { throw ByteReader.TooShort() }
        let kind: UInt8 = try reader.number()
        let rest = count - 1
        let end = reader.remaining - rest
        switch kind {
        case Kind.bool where rest == 1: self = .bool(try reader.number(UInt8.self) != 0)
        case Kind.integer where rest == 8: self = .integer(Int(try reader.number(Int64.self)))
        case Kind.double where rest == 8: self = .double(Double(bitPattern: try reader.number()))
        case Kind.string: self = .string(try reader.text(rest))
        case Kind.data: self = .data(try reader.raw(rest))
        case Kind.date where rest == 8:
            self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.number())))
        case Kind.url: self = .url(try reader.text(rest))
        case Kind.array: self = .array(try Self.elements(from: &reader, end: end, depth: depth))
        case Kind.dictionary: self = .dictionary(try Self.members(from: &reader, end: end, depth: depth))
        case Kind.json: self = .json(try reader.raw(rest))
        case Kind.float where rest == 4: self = .float(Float(bitPattern: try reader.number()))
        case Kind.bool, Kind.integer, Kind.double, Kind.date, Kind.float: throw ByteReader.TooShort()
        default: self = .unknown(kind: kind, try reader.raw(rest))
        }
        if reader.remaining != end { throw ByteReader.TooShort() }
    }

    private static func counted(
        from reader: inout ByteReader, end: Int, depth: Int
    ) throws(ByteReader.TooShort) -> DefaultsValue {
        let count = Int(try reader.number(UInt32.self))
        if reader.remaining - count < end { throw ByteReader.TooShort() }
        return try DefaultsValue(from: &reader, count: count, depth: depth + 1)
    }

    private static func elements(
        from reader: inout ByteReader, end: Int, depth: Int
    ) throws(ByteReader.TooShort) -> [DefaultsValue] {
        let count = Int(try reader.number(UInt32.self))
        var values: [DefaultsValue] = []
        while values.count < count { values.append(try counted(from: &reader, end: end, depth: depth)) }
        return values
    }

    private static func members(
        from reader: inout ByteReader, end: Int, depth: Int
    ) throws(ByteReader.TooShort) -> [String: DefaultsValue] {
        let count = Int(try reader.number(UInt32.self))
        var values: [String: DefaultsValue] = [:]
        for _ in 0..<count {
            let length = Int(try reader.number(UInt32.self))
            if reader.remaining - length < end { throw ByteReader.TooShort() }
            let name = try reader.text(length)
            values[name] = try counted(from: &reader, end: end, depth: depth)
        }
        return values
    }
}

/// Values as literals: `["title": "Milk", "count": 2, "done": false]`.
extension DefaultsValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a text.
    public init(stringLiteral text: String) { self = .string(text) }

    /// Creates a whole number.
    public init(integerLiteral number: Int) { self = .integer(number) }

    /// Creates a number with a fraction.
    public init(floatLiteral number: Double) { self = .double(number) }

    /// Creates a truth value.
    public init(booleanLiteral isTrue: Bool) { self = .bool(isTrue) }

    /// Creates an array of values.
    public init(arrayLiteral values: DefaultsValue...) { self = .array(values) }

    /// Creates a dictionary of values; of two values with the same name, the later one counts.
    public init(dictionaryLiteral members: (String, DefaultsValue)...) {
        self = .dictionary(Dictionary(members) { _, later in later })
    }
}
