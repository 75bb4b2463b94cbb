import Testing

@testable import GroupContainer

@Suite
struct `A log file's first page` {
    private static let sample = LogFileHeader(
        salt: .max - 3, number: 7, base: 1_234, previousEnd: 8_192, capacity: 4 << 20,
        container: (0..<16).map { UInt8($0) }, incarnation: (16..<32).map { UInt8($0) }, created: -5)

    @Test func `comes back with all its fields`() throws {
        #expect(try LogFileHeader(decoding: Self.sample.encoded()) == Self.sample)
        let page = Self.sample.encoded() + [UInt8](repeating: 0, count: 3_992)
        #expect(try LogFileHeader(decoding: page) == Self.sample)
    }

    @Test func `leaves room before its mutable words`() {
        #expect(Self.sample.encoded().count <= LogFileHeader.durableMark)
        #expect(LogFileHeader.poisoned + 8 <= LogFileHeader.size)
    }

    @Test func `is damaged when it is cut short anywhere`() {
        let bytes = Self.sample.encoded()
        for count in 0..<bytes.count {
            #expect(throws: LogFileHeader.Fault.damaged) { try LogFileHeader(decoding: Array(bytes[..<count])) }
        }
    }

    @Test func `is never believed with a bit flipped`() {
        let bytes = Self.sample.encoded()
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: LogFileHeader.Fault.self) { try LogFileHeader(decoding: flipped) }
        }
    }

    @Test(arguments: [.max, .max - 1, 1 << 62] as [UInt64])
    func `that begins at a number which no log reaches is damaged, though it fits its checksum`(base: UInt64) {
        var header = Self.sample
        header.base = base
        #expect(throws: LogFileHeader.Fault.damaged) { try LogFileHeader(decoding: header.encoded()) }
        #expect(LogFileHeader(guessedFrom: header.encoded())?.base == 0)
    }

    @Test func `of zeros is damaged`() {
        #expect(throws: LogFileHeader.Fault.damaged) {
            try LogFileHeader(decoding: [UInt8](repeating: 0, count: LogFileHeader.size))
        }
    }

    @Test func `of a newer format says which`() {
        var bytes = Self.sample.encoded()
        bytes[8] = 9
        #expect(throws: LogFileHeader.Fault.newer(9)) { try LogFileHeader(decoding: bytes) }
    }
}
