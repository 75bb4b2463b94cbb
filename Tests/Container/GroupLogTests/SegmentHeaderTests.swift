import Testing

@testable import GroupLog

@Suite
struct `Segment headers` {
    private static let sample = SegmentHeader(
        salt: .max - 3, number: 7, base: 1_234, previousEnd: 8_192, capacity: 4 << 20,
        identity: (0..<16).map { UInt8($0) }, incarnation: (16..<32).map { UInt8($0) }, created: -5)

    @Test func `a segment header comes back from its bytes`() throws {
        #expect(try SegmentHeader(decoding: Self.sample.encoded()) == Self.sample)
        let page = Self.sample.encoded() + [UInt8](repeating: 0, count: 3_992)
        #expect(try SegmentHeader(decoding: page) == Self.sample)
    }

    @Test func `a segment header ends before its mutable words`() {
        #expect(Self.sample.encoded().count <= SegmentHeader.durableMark)
        #expect(SegmentHeader.syncFailed + 8 <= SegmentHeader.size)
    }

    @Test func `a segment header that is cut short is damaged`() {
        let bytes = Self.sample.encoded()
        for count in 0..<bytes.count {
            #expect(throws: SegmentHeader.Fault.damaged) { try SegmentHeader(decoding: Array(bytes[..<count])) }
        }
    }

    @Test func `a segment header with a bit flipped is refused`() {
        let bytes = Self.sample.encoded()
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SegmentHeader.Fault.self) { try SegmentHeader(decoding: flipped) }
        }
    }

    @Test(arguments: [.max, .max - 1, 1 << 62] as [UInt64])
    func `a segment header with an impossible first number is damaged, though its checksum fits`(base: UInt64) {
        var header = Self.sample
        header.base = base
        #expect(throws: SegmentHeader.Fault.damaged) { try SegmentHeader(decoding: header.encoded()) }
        #expect(SegmentHeader(guessedFrom: header.encoded())?.base == 0)
    }

    @Test func `a segment header of zeros is damaged`() {
        #expect(throws: SegmentHeader.Fault.damaged) {
            try SegmentHeader(decoding: [UInt8](repeating: 0, count: SegmentHeader.size))
        }
    }

    @Test func `a segment header of a newer format is refused with that format's number`() {
        var bytes = Self.sample.encoded()
        bytes[8] = 9
        #expect(throws: SegmentHeader.Fault.newer(9)) { try SegmentHeader(decoding: bytes) }
    }
}
