import Testing

@testable import GroupBytes

@Suite
struct `Byte coding` {
    @Test func `a reader returns the numbers and strings that a writer wrote`() throws {
        var writer = ByteWriter()
        writer.write(UInt8.max)
        writer.write(UInt16(0x1234))
        writer.write(Int32(-2))
        writer.write(Int64.min)
        writer.write(UInt64.max)
        writer.write(counted: [1, 2, 3])
        writer.write(counted: [])
        writer.write(raw: [9, 8])
        var reader = ByteReader(writer.bytes)
        #expect(try reader.number(UInt8.self) == .max)
        #expect(try reader.number(UInt16.self) == 0x1234)
        #expect(try reader.number(Int32.self) == -2)
        #expect(try reader.number(Int64.self) == .min)
        #expect(try reader.number(UInt64.self) == .max)
        #expect(try reader.counted() == [1, 2, 3])
        #expect(try reader.counted() == [])
        #expect(reader.remaining == 2)
        #expect(try reader.raw(2) == [9, 8])
        #expect(reader.remaining == 0)
    }

    @Test func `written integers are little-endian`() {
        var writer = ByteWriter()
        writer.write(UInt32(0x0102_0304))
        writer.write(counted: [7])
        #expect(writer.bytes == [4, 3, 2, 1, 1, 0, 7])
    }

    @Test func `a byte string that is longer than its count can express is cut`() throws {
        var writer = ByteWriter()
        writer.write(counted: [UInt8](repeating: 1, count: 70_000))
        var reader = ByteReader(writer.bytes)
        #expect(try reader.counted().count == 65_535)
        #expect(reader.remaining == 0)
    }

    @Test(arguments: 0..<8)
    func `reading a number from too few bytes throws and consumes nothing`(count: Int) {
        var reader = ByteReader([UInt8](repeating: 1, count: count))
        #expect(throws: ByteReader.TooShort.self) { try reader.number(UInt64.self) }
        #expect(reader.remaining == count)
    }

    @Test(arguments: [[], [3], [3, 0], [3, 0, 1, 2], [255, 255, 1]])
    func `reading a counted string from too few bytes throws`(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        #expect(throws: ByteReader.TooShort.self) { try reader.counted() }
    }

    /// Each byte that is not UTF-8 is replaced by three.
    @Test(arguments: [(21_845, true), (21_846, false)])
    func `bytes are read as a text only if its UTF-8 fits into a count`(count: Int, isOne: Bool) throws {
        var writer = ByteWriter()
        writer.write(counted: [UInt8](repeating: 0xFF, count: count))
        var reader = ByteReader(writer.bytes)
        let text = try? reader.countedText()
        #expect((text?.utf8.count == 65_535) == isOne && (text == nil) != isOne)
    }

    @Test func `bytes come back from their hexadecimal digits`() {
        let all = (0...255).map { UInt8($0) }
        #expect(Hexadecimal.decode(Hexadecimal.encode(all)) == all)
        #expect(Hexadecimal.encode([0x00, 0x0f, 0xa0, 0xff]) == "000fa0ff")
        #expect(Hexadecimal.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "0x", "AB", " 0", "é", "0\u{301}"])
    func `text other than pairs of lowercase hexadecimal digits is not decoded`(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }
}
