/// Something that reads bytes from outside. Whatever they are, they are something that comes back when it is written
/// and read again, or a typed error; anything else is `Broken`, and the end of the process is found by its parent.
struct Decoder: Sendable {
    /// `tools/fuzz` calls it so, and so is the directory of its corpus.
    let name: String
    /// Made by the real encoders, by their names: each is something.
    let samples: [String: [UInt8]]
    /// Whether the bytes are something, after all that is promised of them was looked at.
    let check: @Sendable ([UInt8]) throws -> Bool

    init(_ name: String, _ samples: [String: [UInt8]], _ check: @escaping @Sendable ([UInt8]) throws -> Bool) {
        (self.name, self.samples, self.check) = (name, samples, check)
    }

    static let all = records + sealed + [.memberTable, .log] + widgets + texts + commands
}

/// What is promised does not hold.
struct Broken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws { if !holds { throw Broken(what()) } }

/// What was read comes back, byte by byte, when it is written and read again. (By bytes: a number that is none is not
/// equal to itself.)
func expectReturn<Value>(
    _ value: Value, _ encode: (Value) throws -> [UInt8], _ decode: ([UInt8]) throws -> Value
) throws {
    let bytes = try encode(value)
    let again: Value
    do { again = try decode(bytes) } catch { throw Broken("what was written is not read: \(error); \(value)") }
    try expect(try encode(again) == bytes, "it comes back as something else: \(value), then \(again)")
}

extension [UInt8] {
    init(_ text: String) { self = Array(text.utf8) }
}
