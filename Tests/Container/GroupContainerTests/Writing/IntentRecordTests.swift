import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `Intent records` {
    private static let samples = `Change records`.changes.map {
        IntentRecord(way: .fromPlaceToPlace, inode: .max, journalSegment: 3, journalOffset: 4_096, change: $0)
    }

    @Test(arguments: samples)
    func `an intent record comes back from its bytes`(record: IntentRecord) {
        #expect(IntentRecord(decoding: record.encoded()) == record)
    }

    @Test(arguments: samples)
    func `an intent record that is cut short is refused`(record: IntentRecord) {
        let bytes = record.encoded()
        for count in 0..<bytes.count { #expect(IntentRecord(decoding: Array(bytes[..<count])) == nil) }
    }

    @Test func `an intent record with a bit flipped is refused`() {
        let bytes = Self.samples[0].encoded()
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(IntentRecord(decoding: flipped) == nil)
        }
    }

    @Test func `an intent record of any bytes is refused or is the one that was written`() {
        var generator = SeededGenerator(seed: 4)
        for turn in 0..<10_000 {
            let record = Self.samples[turn % Self.samples.count]
            let bytes = mutated(record.encoded(), using: &generator)
            if let found = IntentRecord(decoding: bytes) { #expect(found == record) }
        }
    }

    private static func record(_ way: IntentRecord.Way) -> IntentRecord {
        var change = `Change records`.change(.touched)
        change.state?.mode = 0o640
        return IntentRecord(way: way, inode: 7, journalSegment: 1, journalOffset: 4_096, change: change)
    }

    private static func state(_ inode: UInt64?, mode: UInt32 = 0o600) -> ItemState? {
        guard let inode else { return nil }
        var state = `Change records`.state
        (state.inode, state.mode) = (inode, mode)
        return state
    }

    /// The inodes in staging, at the path and at the old path; nil where there is no item.
    @Test(
        arguments: [
            (IntentRecord.Way.intoPlace, 7, nil, nil, false), (.intoPlace, nil, 7, nil, true),
            (.intoPlace, nil, 8, nil, false), (.intoPlace, nil, nil, nil, false), (.intoPlace, 7, 7, nil, false),
            (.intoStaging, nil, 7, nil, false), (.intoStaging, 7, nil, nil, true), (.intoStaging, 7, 8, nil, true),
            (.intoStaging, 8, nil, nil, false), (.intoStaging, nil, nil, nil, false),
            (.intoPrivateDirectory, nil, 7, nil, false), (.intoPrivateDirectory, nil, nil, nil, true),
            (.intoPrivateDirectory, nil, 8, nil, true),
            (.fromPlaceToPlace, nil, nil, 7, false), (.fromPlaceToPlace, nil, 8, 7, false),
            (.fromPlaceToPlace, nil, 7, nil, true), (.fromPlaceToPlace, nil, 7, 8, true),
            (.fromPlaceToPlace, nil, 7, 7, false), (.fromPlaceToPlace, nil, nil, nil, false),
        ] as [(IntentRecord.Way, UInt64?, UInt64?, UInt64?, Bool)])
    func `an intent record counts as done if its inode is at the end of its way`(
        way: IntentRecord.Way, staged: UInt64?, destination: UInt64?, origin: UInt64?, expected: Bool
    ) {
        let found = Self.record(way).hasHappened(staged: staged, destination: Self.state(destination), origin: origin)
        #expect(found == expected)
    }

    @Test func `an intent record of a mode counts as done if the item has the mode`() {
        let record = Self.record(.inPlace)
        #expect(record.hasHappened(staged: nil, destination: Self.state(7, mode: 0o640), origin: nil))
        #expect(!record.hasHappened(staged: nil, destination: Self.state(7, mode: 0o600), origin: nil))
        #expect(!record.hasHappened(staged: nil, destination: Self.state(8, mode: 0o640), origin: nil))
        #expect(!record.hasHappened(staged: nil, destination: nil, origin: nil))
    }
}
