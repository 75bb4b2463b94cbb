/// A reader of bytes from outside. Any bytes are either a value, which is the same after encoding and decoding, or a
/// typed error; anything else is `Broken`. The parent process finds a crash.
struct Decoder: Sendable {
    /// The name for `tools/fuzz`, and of the directory of the corpus.
    let name: String
    /// The samples that the real encoders make, by name: each is a value.
    let samples: [String: [UInt8]]
    /// Returns whether the bytes are a value, after a check of all its properties.
    let check: @Sendable ([UInt8]) throws -> Bool

    init(_ name: String, _ samples: [String: [UInt8]], _ check: @escaping @Sendable ([UInt8]) throws -> Bool) {
        self.name = name
        self.samples = samples
        self.check = check
    }

    static let all =
        records + sealed + [.memberTable, .presenters, .log] + widgets + requests + texts + commands + cluster
        + languages
}

/// A property of a decoder that does not hold.
struct Broken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws { if !holds { throw Broken(what()) } }

/// Checks that a value is the same, byte by byte, after encoding and decoding. (By bytes, because NaN is not equal to
/// itself.)
func expectReturn<Value>(
    _ value: Value, _ encode: (Value) throws -> [UInt8], _ decode: ([UInt8]) throws -> Value
) throws {
    let bytes = try encode(value)
    let again: Value
    do { again = try decode(bytes) } catch { throw Broken("an encoded value is not decoded: \(error); \(value)") }
    try expect(try encode(again) == bytes, "it comes back as something else: \(value), then \(again)")
}

extension [UInt8] {
    init(_ text: String) { self = Array(text.utf8) }
}
