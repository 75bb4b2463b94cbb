// Imports nothing: no file, clock or process.

/// Writes little-endian numbers and counted byte strings. (Public, and inlinable: records are written and read a number
/// at a time, and a generic call across modules costs more than the bytes.)
public struct ByteWriter {
    @usableFromInline var written: [UInt8] = []
    /// The bytes written so far.
    @inlinable public var bytes: [UInt8] { written }

    /// Makes a writer with room for `capacity` bytes.
    @inlinable public init(capacity: Int = 0) { written.reserveCapacity(capacity) }

    /// Writes a number, in as many bytes as its type has.
    @inlinable public mutating func write<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe written.append(contentsOf: $0) }
    }

    /// Writes the length in two bytes, then the bytes. Longer content is cut; callers check first if that matters.
    @inlinable public mutating func write(counted content: [UInt8]) {
        let kept = content.prefix(Int(UInt16.max))
        write(UInt16(kept.count))
        written.append(contentsOf: kept)
    }

    /// Writes bytes without a length.
    @inlinable public mutating func write(raw content: some Sequence<UInt8>) { written.append(contentsOf: content) }

    /// Writes the length in two bytes, then the UTF-8. Callers must not pass longer text.
    @inlinable public mutating func write(text: String) {
        write(UInt16(truncatingIfNeeded: text.utf8.count))
        write(raw: text.utf8)
    }

    /// Reserves four bytes for a length that is known only after the bytes that it counts.
    @inlinable public mutating func reserveCount() -> Int {
        write(UInt32(0))
        return written.count
    }

    /// Fills in the length of what was written since `reserveCount`.
    @inlinable public mutating func fillCount(at offset: Int) {
        overwrite(UInt32(truncatingIfNeeded: written.count - offset), at: offset - 4)
    }

    /// Writes a number over bytes that were written before.
    @inlinable public mutating func overwrite<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        var rest = number
        for index in offset..<offset + MemoryLayout<Number>.size {
            written[index] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
    }
}

/// Reads numbers and byte strings, from bytes that may be anything.
public struct ByteReader {
    /// The error where fewer bytes are left than are to be read.
    public struct TooShort: Error, Equatable {
        /// Makes the error.
        @inlinable public init() {}
    }

    @usableFromInline let bytes: [UInt8]
    @usableFromInline var position = 0

    /// Makes a reader of the bytes, from the first one on.
    @inlinable public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes that are not read yet.
    @inlinable public var remaining: Int { bytes.count - position }

    /// Reads a number, of as many bytes as its type has.
    @inlinable public mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type = Number.self)
        throws(TooShort)
        -> Number
    {
        let width = MemoryLayout<Number>.size
        if remaining < width { throw TooShort() }
        defer { position += width }
        // Every bit pattern is a number; the load checks the bounds again.
        return unsafe Number(
            littleEndian: bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Number.self))
    }

    /// Leaves bytes out.
    @inlinable public mutating func skip(_ count: Int) throws(TooShort) {
        if remaining < count { throw TooShort() }
        position += count
    }

    /// Reads a length of two bytes, then so many bytes.
    @inlinable public mutating func counted() throws(TooShort) -> [UInt8] {
        let count = try number(UInt16.self)
        return try raw(Int(count))
    }

    /// Reads bytes.
    @inlinable public mutating func raw(_ count: Int) throws(TooShort) -> [UInt8] {
        if remaining < count { throw TooShort() }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// Reads `count` bytes of UTF-8; invalid bytes are replaced.
    @inlinable public mutating func text(_ count: Int) throws(TooShort) -> String {
        if count < 0 || remaining < count { throw TooShort() }
        defer { position += count }
        return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
    }

    /// Reads a counted text. Throws for a text that, after the replacement of invalid bytes, is too long to be written
    /// again: a compaction would write a record that cannot be read.
    @inlinable public mutating func countedText() throws(TooShort) -> String {
        let text = try text(Int(number(UInt16.self)))
        if text.utf8.count > Int(UInt16.max) { throw TooShort() }
        return text
    }
}
