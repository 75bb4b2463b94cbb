import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `A repairer's note` {
    private static let samples = `A record's bytes`.changes.map {
        OperationRecord(way: .intoPlace, inode: .max, journalFile: 3, journalOffset: 4_096, change: $0)
    }

    @Test(arguments: samples)
    func `comes back as it was written`(note: OperationRecord) {
        #expect(OperationRecord(decoding: note.encoded()) == note)
    }

    @Test(arguments: samples)
    func `that was cut short is none`(note: OperationRecord) {
        let bytes = note.encoded()
        for count in 0..<bytes.count { #expect(OperationRecord(decoding: Array(bytes[..<count])) == nil) }
    }

    @Test func `with a bit flipped is none`() {
        let bytes = Self.samples[0].encoded()
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(OperationRecord(decoding: flipped) == nil)
        }
    }

    @Test func `that is anything never does harm`() {
        var generator = SeededGenerator(seed: 4)
        for turn in 0..<10_000 {
            let note = Self.samples[turn % Self.samples.count]
            let bytes = mutated(note.encoded(), using: &generator)
            if let found = OperationRecord(decoding: bytes) { #expect(found == note) }
        }
    }
}
