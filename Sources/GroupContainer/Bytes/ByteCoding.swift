// Imports nothing: no file, clock or process.

/// Writes little-endian numbers and counted byte strings.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Makes a writer with room for `capacity` bytes.
    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    mutating func write<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Writes the length in two bytes, then the bytes. Longer content is cut; callers check first if that matters.
    mutating func write(counted content: [UInt8]) {
        let kept = content.prefix(Int(UInt16.max))
        write(UInt16(kept.count))
        bytes.append(contentsOf: kept)
    }

    mutating func write(raw content: some Sequence<UInt8>) { bytes.append(contentsOf: content) }

    /// Writes the length in two bytes, then the UTF-8. Callers must not pass longer text.
    mutating func write(text: String) {
        write(UInt16(truncatingIfNeeded: text.utf8.count))
        write(raw: text.utf8)
    }

    /// Reserves four bytes for a length that is known only after the bytes that it counts.
    mutating func reserveCount() -> Int {
        write(UInt32(0))
        return bytes.count
    }

    /// Fills in the length of what was written since `reserveCount`.
    mutating func fillCount(at place: Int) {
        var rest = UInt32(truncatingIfNeeded: bytes.count - place)
        for index in place - 4..<place {
            bytes[index] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
    }
}

/// Reads numbers and byte strings, from bytes that may be anything.
struct ByteReader {
    struct TooShort: Error, Equatable {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type = Number.self) throws(TooShort)
        -> Number
    {
        let width = MemoryLayout<Number>.size
        if remaining < width { throw TooShort() }
        defer { position += width }
        // Every bit pattern is a number; the load checks the bounds again.
        return unsafe Number(
            littleEndian: bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Number.self))
    }

    mutating func skip(_ count: Int) throws(TooShort) {
        if remaining < count { throw TooShort() }
        position += count
    }

    mutating func counted() throws(TooShort) -> [UInt8] {
        let count = try number(UInt16.self)
        return try raw(Int(count))
    }

    mutating func raw(_ count: Int) throws(TooShort) -> [UInt8] {
        if remaining < count { throw TooShort() }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// Reads `count` bytes of UTF-8; invalid bytes are replaced.
    mutating func text(_ count: Int) throws(TooShort) -> String {
        if count < 0 || remaining < count { throw TooShort() }
        defer { position += count }
        return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
    }

    /// Reads a counted text. Throws for a text that, after the replacement of invalid bytes, is too long to be written
    /// again: a compaction would write a record that cannot be read.
    mutating func countedText() throws(TooShort) -> String {
        let text = try text(Int(number(UInt16.self)))
        if text.utf8.count > Int(UInt16.max) { throw TooShort() }
        return text
    }
}

/// The coding of bytes as lower-case hexadecimal digits.
enum Hexadecimal {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        if !digits.count.isMultiple(of: 2) { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
