import FoundationEssentials
import GroupBytes
import TestSupport
import Testing

@testable import GroupContainer

/// Values set as one type and read as another: what swift-corelibs-foundation's tests expect of `UserDefaults`, and the
/// edge cases around that.
@Suite struct `Conversion of values` {
    struct Conversion: Sendable, CustomTestStringConvertible {
        var value: DefaultsValue
        var bool: Bool?
        var integer: Int?
        var double: Double?
        var float: Float?
        var string: String?

        init(
            _ value: DefaultsValue, _ bool: Bool?, _ integer: Int?, _ double: Double?, _ float: Float?,
            _ string: String?
        ) {
            self.value = value
            self.bool = bool
            self.integer = integer
            self.double = double
            self.float = float
            self.string = string
        }
        var testDescription: String { "\(value)" }
    }

    static let conversions: [Conversion] = [
        Conversion(.bool(true), true, 1, 1, 1, "1"), Conversion(.bool(false), false, 0, 0, 0, "0"),
        Conversion(.integer(42), true, 42, 42, 42, "42"), Conversion(.integer(0), false, 0, 0, 0, "0"),
        Conversion(.double(12.34), true, 12, 12.34, 12.34, "12.34"),
        Conversion(.double(-0.9), true, 0, -0.9, -0.9, "-0.9"),
        Conversion(.float(12.34), true, 12, Double(12.34 as Float), 12.34, "12.34"),
        Conversion(.double(12), true, 12, 12, 12, "12"),
        Conversion(.double(1e300), true, .max, 1e300, .infinity, "1e+300"),
        Conversion(.double(-.infinity), true, .min, -.infinity, -.infinity, "-inf"),
        Conversion(.string("YES"), true, 0, 0, 0, "YES"), Conversion(.string("true"), true, 0, 0, 0, "true"),
        Conversion(.string("no"), false, 0, 0, 0, "no"), Conversion(.string(""), false, 0, 0, 0, ""),
        Conversion(.string("1234"), true, 1234, 1234, 1234, "1234"),
        Conversion(.string("12.34"), true, 12, 12.34, 12.34, "12.34"),
        Conversion(.string(" -007.5e1x"), true, -7, -75, -75, " -007.5e1x"),
        Conversion(.string("0"), false, 0, 0, 0, "0"), Conversion(.string("1e"), true, 1, 1, 1, "1e"),
        Conversion(.string("99999999999999999999"), true, .max, 1e20, 1e20, "99999999999999999999"),
        Conversion(.string("-99999999999999999999"), true, .min, -1e20, -1e20, "-99999999999999999999"),
        Conversion(.json(Array("12".utf8)), true, 12, 12, 12, "12"),
        Conversion(.json(Array("\"7\"".utf8)), true, 7, 7, 7, "7"),
        Conversion(.json(Array("[1]".utf8)), nil, nil, nil, nil, nil),
        Conversion(.json(Array("}".utf8)), nil, nil, nil, nil, nil),
        Conversion(.data([49]), nil, nil, nil, nil, nil),
        Conversion(.date(Date(timeIntervalSinceReferenceDate: 1)), nil, nil, nil, nil, nil),
        Conversion(.url("1"), nil, nil, nil, nil, nil), Conversion(.array([.integer(1)]), nil, nil, nil, nil, nil),
        Conversion(.dictionary([:]), nil, nil, nil, nil, nil),
        Conversion(.unknown(kind: 99, [1]), nil, nil, nil, nil, nil),
    ]

    @Test(arguments: conversions) func `a value is converted to other types as by UserDefaults`(conversion: Conversion)
    {
        let value = conversion.value
        #expect(value.boolValue == conversion.bool)
        #expect(value.integerValue == conversion.integer)
        #expect(value.doubleValue == conversion.double)
        #expect(value.floatValue == conversion.float)
        #expect(value.stringValue == conversion.string)
    }

    @Test func `data, dates, URLs, arrays and dictionaries are read back by their typed readers, or are nil`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        let url = try #require(URL(string: "https://example.org/a?b#c"))
        try defaults.set(Data([1, 2]), forKey: "data")
        try defaults.set(Date(timeIntervalSinceReferenceDate: 1.25), forKey: "date")
        try defaults.set(url, forKey: "url")
        try defaults.set(["a", "b"], forKey: "array")
        try defaults.set(["a": 1], forKey: "dictionary")
        try defaults.set("/hello/world", forKey: "path")
        try defaults.set([1, 2], forKey: "numbers")
        #expect(defaults.data(forKey: "data") == Data([1, 2]) && defaults.data(forKey: "date") == nil)
        #expect(defaults.date(forKey: "date") == Date(timeIntervalSinceReferenceDate: 1.25))
        #expect(defaults.url(forKey: "url") == url && defaults.url(forKey: "path") == URL(filePath: "/hello/world"))
        #expect(defaults.stringArray(forKey: "array") == ["a", "b"])
        #expect(defaults.stringArray(forKey: "numbers") == ["1", "2"])
        #expect(defaults.dictionary(forKey: "dictionary") == ["a": .integer(1)])
        #expect(defaults.array(forKey: "dictionary") == nil && defaults.dictionary(forKey: "array") == nil)
        #expect(defaults.string(forKey: "missing") == nil && defaults.data(forKey: "missing") == nil)
        #expect(!defaults.bool(forKey: "missing") && defaults.float(forKey: "missing") == 0)
    }

    @Test func `values are written to and read from plain JSON`() {
        let value = DefaultsValue.dictionary([
            "b": .array([.integer(1), .double(0.5), .string("x/\"")]), "a": .data([1, 2, 3]),
            "c": .json(Array("[2]".utf8)),
        ])
        #expect(
            value.jsonBytes.map { String(decoding: $0, as: UTF8.self) } == #"{"a":"AQID","b":[1,0.5,"x/\""],"c":[2]}"#)
        #expect(
            DefaultsValue(parsingJSON: Array(#"{"a": [1, null, 2.5, true, "t"], "b": null}"#.utf8))
                == .dictionary(["a": .array([.integer(1), .double(2.5), .bool(true), .string("t")])]))
        #expect(DefaultsValue(parsingJSON: Array("{".utf8)) == nil)
        #expect(DefaultsValue.unknown(kind: 99, []).jsonBytes == nil)
    }

    @Test(arguments: [
        0, -0.0, 1.25, -1e-300, 0.1 + 0.2, 781_266_843.123_456_7, 1e308, .infinity, .leastNonzeroMagnitude, .nan,
    ]) func `a date keeps each bit of its seconds since 2001 on the disk`(seconds: Double) throws {
        let value = DefaultsValue.date(Date(timeIntervalSinceReferenceDate: seconds))
        var writer = ByteWriter()
        value.encode(into: &writer)
        // 6 is the kind; then comes the number, its lowest byte first.
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: seconds.bitPattern >> (8 * $0)) }
        #expect(writer.bytes == [6] + bytes)
        let decoded = try decode(writer.bytes)
        var again = ByteWriter()
        decoded.encode(into: &again)
        #expect(again.bytes == writer.bytes)
        #expect(Date(defaultsValue: decoded)?.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
    }

    private func decode(_ bytes: [UInt8]) throws -> DefaultsValue {
        var reader = ByteReader(bytes)
        return try DefaultsValue(from: &reader, count: bytes.count)
    }

    @Test func `a literal is the value that it looks like`() throws {
        let value: DefaultsValue = ["text": "x", "list": [1, 2.5, true, [:]], "none": []]
        #expect(
            value
                == .dictionary([
                    "text": .string("x"), "none": .array([]),
                    "list": .array([.integer(1), .double(2.5), .bool(true), .dictionary([:])]),
                ]))
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        // A literal without a type is still what Swift takes it for.
        try defaults.set(1, forKey: "integer")
        try defaults.set(["a": 1.5], forKey: "dictionary")
        try defaults.set(["a": 1, "b": "x"], forKey: "mixed")
        defaults.register(defaults: ["theme": "dark"])
        #expect(defaults.value(forKey: "integer") == 1 && defaults.value(forKey: "theme") == "dark")
        #expect(defaults.value(forKey: "dictionary") == ["a": 1.5])
        #expect(defaults.dictionary(forKey: "mixed") == ["a": 1, "b": "x"])
    }

    /// Any bytes give a record or an error, and never a crash.
    @Test func `suite records are decoded from any bytes without a crash`() throws {
        var random = SeededGenerator(seed: 11)
        let value = DefaultsValue.dictionary([
            "a": .array([.bool(true), .integer(1), .double(2), .float(3), .string("x")]),
            "d": .dictionary(["": .date(Date(timeIntervalSinceReferenceDate: 1))]),
            "u": .url("u"), "j": .json([1]), "b": .data([1, 2, 3]),
        ])
        let record = SuiteRecord(
            processIdentifier: 1, time: 2, purpose: "p",
            steps: [.set("k", value), .remove("r"), .removeAll, .carried("c", .bool(false), generation: 5)])
        let bytes = record.encoded()
        #expect(try SuiteRecord(decoding: bytes) == record)
        for _ in 0..<20_000 {
            let broken = mutated(bytes, using: &random)
            _ = try? SuiteRecord(decoding: broken)
        }
        // Lengths of gigabytes.
        for place in bytes.indices {
            var broken = bytes
            for index in place..<min(place + 4, bytes.count) { broken[index] = 0xff }
            _ = try? SuiteRecord(decoding: broken)
        }
    }
}
