// Imports nothing: no file, clock or process.

/// Writes little-endian numbers and counted byte strings.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// With room for so many bytes.
    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    mutating func write<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Its length in two bytes, then the bytes. What is longer is cut; callers check first where that matters.
    mutating func write(counted content: [UInt8]) {
        let kept = content.prefix(Int(UInt16.max))
        write(UInt16(kept.count))
        bytes.append(contentsOf: kept)
    }

    mutating func write(raw content: some Sequence<UInt8>) { bytes.append(contentsOf: content) }

    /// Its length in two bytes, then its UTF-8. What is longer is not to be written.
    mutating func write(text: String) {
        write(UInt16(truncatingIfNeeded: text.utf8.count))
        write(raw: text.utf8)
    }

    /// Four bytes for a length that is known only after what it counts.
    mutating func reserveCount() -> Int {
        write(UInt32(0))
        return bytes.count
    }

    /// The length of what was written since.
    mutating func fillCount(at place: Int) {
        var rest = UInt32(truncatingIfNeeded: bytes.count - place)
        for index in place - 4..<place {
            bytes[index] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
    }
}

/// Reads them again, from bytes that may be anything.
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

    /// So many bytes of UTF-8; what is none is replaced.
    mutating func text(_ count: Int) throws(TooShort) -> String {
        if count < 0 || remaining < count { throw TooShort() }
        defer { position += count }
        return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
    }

    /// One that is too long to be written again, once what is no UTF-8 in it is replaced, is none: a compaction would
    /// write what nobody can read.
    mutating func countedText() throws(TooShort) -> String {
        let text = try text(Int(number(UInt16.self)))
        if text.utf8.count > Int(UInt16.max) { throw TooShort() }
        return text
    }
}

/// Lower-case hexadecimal digits.
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
