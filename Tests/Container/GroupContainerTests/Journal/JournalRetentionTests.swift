import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite struct `Journal retention` {
    private static func files(_ count: Int, size: UInt64 = 10, endedEvery: Int64 = 1) -> [KeptSegment] {
        (0..<count).map { number in
            KeptSegment(
                number: UInt64(number + 1), size: size,
                ended: number == count - 1 ? nil : Int64(number + 1) * endedEvery * 1_000_000_000)
        }
    }

    @Test(arguments: [(100, 0), (50, 0), (49, 1), (30, 2), (20, 3), (10, 4), (9, 4), (0, 4)] as [(UInt64, Int)])
    func `a journal over its size limit drops its oldest segments, but never the newest`(size: UInt64, dropped: Int) {
        let retention = JournalRetention(size: size, age: .seconds(1_000))
        #expect(retention.dropped(of: Self.files(5), now: 6_000_000_000).count == dropped)
        #expect(retention.dropped(of: Self.files(5), now: 6_000_000_000) == Array(1..<UInt64(dropped + 1)))
    }

    @Test(arguments: [(0, 0), (100, 0), (101, 0), (102, 1), (104, 3), (105, 4), (9_000, 4)] as [(Int64, Int)])
    func `segments over the age limit are dropped, but never the newest`(now: Int64, dropped: Int) {
        let retention = JournalRetention(size: 1_000, age: .seconds(100))
        #expect(retention.dropped(of: Self.files(5), now: now * 1_000_000_000).count == dropped)
    }

    @Test func `a segment with the earliest possible end time is dropped without overflow`() {
        var files = Self.files(3)
        files[0].ended = .min
        #expect(JournalRetention(size: 1_000, age: .seconds(100)).dropped(of: files, now: 101_000_000_000) == [1])
    }

    @Test func `retention copes with a clock that goes back and with an empty log`() {
        #expect(JournalRetention.standard.dropped(of: [], now: 0) == [])
        #expect(JournalRetention.standard.dropped(of: Self.files(3), now: .min) == [])
        let always = JournalRetention(size: 1, age: .zero)
        #expect(always.dropped(of: Self.files(3, size: .max / 4), now: .max) == [1, 2])
    }

    @Test(
        arguments: [
            (67_108_864, 4_194_304), (1_099_511_627_776, 4_194_304), (2_097_152, 131_072), (1, 65_536), (0, 65_536),
        ] as [(UInt64, Int)])
    func `a journal segment has a sixteenth of the journal's size limit`(size: UInt64, file: Int) {
        #expect(JournalRetention(size: size).segmentSize == file)
        #expect(JournalRetention(size: size + 100_001).segmentSize.isMultiple(of: 4_096))
    }
}
