import TestSupport
import Testing

@testable import GroupLog

@Suite
struct `Record headers` {
    private static let sample = RecordHeader(state: .committed, isControl: false, units: 5, writer: 17, tries: 1)

    @Test(arguments: [RecordHeader.State.reserved, .committed, .aborted, .seal], [false, true])
    func `a record header comes back from its word with all its fields`(state: RecordHeader.State, isControl: Bool) {
        for units in [1, 2, 1_000, RecordHeader.largestUnits] {
            for writer in [0, 1, RecordHeader.writerCount - 1] {
                for tries in 0...15 {
                    let header = RecordHeader(
                        state: state, isControl: isControl, units: units, writer: writer, tries: tries)
                    let word = header.encoded(offset: 4_096, salt: 99)
                    #expect(RecordHeader.decode(word, offset: 4_096, salt: 99) == .record(header))
                }
            }
        }
    }

    @Test func `a record header where nothing was written is empty`() {
        #expect(RecordHeader.decode(0, offset: 4_096, salt: 1) == .empty)
    }

    @Test func `a record header counts 15 tries at most`() {
        var header = Self.sample
        header.tries = 40
        #expect(
            RecordHeader.decode(header.encoded(offset: 8, salt: 1), offset: 8, salt: 1)
                == .record(with(header, tries: 15)))
    }

    private func with(_ header: RecordHeader, tries: Int) -> RecordHeader {
        var header = header
        header.tries = tries
        return header
    }

    @Test(arguments: 0..<64)
    func `a record header with one bit flipped is damaged`(bit: Int) {
        let word = Self.sample.encoded(offset: 4_096, salt: 0x1234_5678_9abc_def0)
        #expect(RecordHeader.decode(word ^ 1 << UInt64(bit), offset: 4_096, salt: 0x1234_5678_9abc_def0) == .damaged)
    }

    @Test func `a record header with bits flipped at random is hardly ever accepted`() {
        var generator = SeededGenerator(seed: 2)
        var believed = 0
        let count = 100_000
        for _ in 0..<count {
            let header = RecordHeader(
                state: .committed, isControl: generator.next() & 1 == 0,
                units: Int.random(in: 1...4_000, using: &generator),
                writer: Int.random(in: 0..<1_024, using: &generator), tries: 0)
            let offset = Int.random(in: 512..<500_000, using: &generator) * 8
            let salt = generator.next()
            var flips: UInt64 = 0
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                flips |= 1 << UInt64.random(in: 0..<64, using: &generator)
            }
            let reading = RecordHeader.decode(
                header.encoded(offset: offset, salt: salt) ^ flips, offset: offset, salt: salt)
            if reading != .damaged { believed += 1 }
        }
        #expect(believed < count / 1_000)
    }

    @Test func `a record header at another offset or in another segment is damaged`() {
        let word = Self.sample.encoded(offset: 4_096, salt: 7)
        let elsewhere = stride(from: 4_104, to: 84_096, by: 8).filter {
            RecordHeader.decode(word, offset: $0, salt: 7) != .damaged
        }
        #expect(elsewhere.count < 10)
        let otherFiles = (8..<10_008).filter { RecordHeader.decode(word, offset: 4_096, salt: $0) != .damaged }
        #expect(otherFiles.count < 10)
    }

    @Test func `a large record, and one that was aborted before, gets more time`() {
        func patience(byteCount: Int, tries: Int) -> Int64 {
            RecordHeader(state: .reserved, isControl: false, units: byteCount / 8, writer: 0, tries: tries).patience
        }
        #expect(patience(byteCount: 64, tries: 0) == 2_000_000)
        #expect(patience(byteCount: 1 << 20, tries: 0) == 6_000_000)
        #expect(patience(byteCount: 64, tries: 1) == 4_000_000)
        #expect(patience(byteCount: 64, tries: 15) == 80_000_000)
        #expect(patience(byteCount: 16 << 20, tries: 15) == 80_000_000)
    }
}
