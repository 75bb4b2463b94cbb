import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Log recovery after a boot` {
    private static let texts = (0..<6).map { "record number \($0) of the first boot" }

    /// Makes a log of six records, the fourth of which did not reach the disk before a power cut.
    private static func withHole() throws -> (directory: LogDirectory, places: [LogPosition]) {
        let directory = try LogDirectory()
        let log = try directory.open()
        let places = try texts.map { try log.append($0) }
        let size = places[3].offset - places[2].offset
        try directory.bytes(of: 1).write([UInt8](repeating: 0, count: size), at: places[2].offset)
        return (directory, places)
    }

    @Test func `recovery in the same boot changes nothing`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        try log.append("a")
        try log.recover()
        #expect(try log.segmentNumbers() == [1])
        #expect(try log.texts() == ["a"])
    }

    @Test func `recovery of a whole log keeps every record`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        for text in Self.texts { try old.append(text) }
        let log = try directory.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == Self.texts)
        #expect(try log.append("more").sequence == 7)
        #expect(try log.segmentNumbers() == [1])
        #expect(try log.texts() == Self.texts + ["more"])
        #expect(try directory.open(incarnation: 2).texts() == Self.texts + ["more"])
    }

    @Test func `a whole log goes on in the same segment through many boots`() throws {
        let directory = try LogDirectory()
        var log = try directory.open()
        let first = try log.append("0")
        for boot in 1...40 {
            log = try directory.open(incarnation: UInt8(boot * 4))
            try log.recover()
            try log.append("\(boot)")
        }
        #expect(try log.segmentNumbers() == [1])
        #expect(try log.contains(first))
        #expect(try log.texts(behind: first) == (1...40).map { "\($0)" })
    }

    @Test func `recovery by one member is not repeated by members that come later`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        try old.append("old")
        let (one, other) = (
            try directory.open(incarnation: 4, writer: 1), try directory.open(incarnation: 4, writer: 2)
        )
        // Both members have the log open, and only one has begun to append.
        #expect(try other.texts() == ["old"])
        try one.recover()
        try one.append("new")
        _ = try one.reserve()
        try other.recover()
        #expect(try other.segmentNumbers() == [1])
        try other.append("newer")
        #expect(try one.texts() == ["old", "new", "newer"])
    }

    @Test(arguments: [4_096 + 64, 8_192, 16_384 - 8])
    func `recovery ends a segment where any byte stands behind its records, also far behind`(place: Int) throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        try old.append("old")
        try directory.bytes(of: 1).store64(place, 1)
        for _ in 0..<2 {
            let log = try directory.open(incarnation: 4)
            try log.recover()
            #expect(try log.segmentNumbers() == [1, 2])
            #expect(try log.last().header.previousEnd == UInt64(4_096 + Segment.byteCount(bodyCount: 3)))
        }
        #expect(try directory.open(incarnation: 4).append("new").sequence == 2)
    }

    @Test(arguments: [true, false])
    func `recovery finds what stands behind the records of a file with holes, and does not read the holes`(
        isTorn: Bool
    ) throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        try old.append("old")
        var header = try old.last().header
        header.capacity = 1 << 30
        let file = try directory.temporary.open("1.log")
        try file.overwrite(header.encoded())
        try file.setSize(1 << 30)
        if isTorn { try directory.bytes(of: 1).store64(1 << 29, 1) }
        let log = try directory.open(incarnation: 4)
        try log.recover()
        #expect(try log.segmentNumbers() == (isTorn ? [1, 2] : [1]))
        #expect(try file.status().allocated <= 1 << 20)
        try log.append("new")
        #expect(try log.texts() == ["old", "new"])
    }

    @Test func `recovery that was killed after it found a torn segment is finished by the next member`() throws {
        let directory = try LogDirectory()
        try directory.open().append("old")
        let map = try directory.bytes(of: 1)
        #expect(RecoveryDecision.ends.decide(in: map, [UInt8](repeating: 4, count: 16)) == .ends)
        // A later member finds nothing wrong with the segment.
        let log = try directory.open(incarnation: 4)
        try log.recover()
        #expect(try log.segmentNumbers() == [1, 2])
        #expect(RecoveryDecision.goesOn.decide(in: map, [UInt8](repeating: 4, count: 16)) == .ends)
    }

    @Test func `recovery ends a segment that the disk refused to keep, and makes its records durable`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        let end = try old.append("old")
        try directory.bytes(of: 1).store64(SegmentHeader.syncFailed, 1)
        let log = try directory.open(incarnation: 4)
        try log.recover()
        #expect(try log.segmentNumbers() == [1, 2])
        #expect(try #require(try log.segment(1)).isDurable(through: end.offset))
        #expect(try log.texts() == ["old"])
    }

    @Test func `recovery clears the append priority and the syncer of processes that are gone`() throws {
        let directory = try LogDirectory()
        try directory.open().append("old")
        let map = try directory.bytes(of: 1)
        map.store64(SegmentHeader.priority, 7)
        map.store64(SegmentHeader.syncer, 7)
        try directory.open(incarnation: 4).recover()
        #expect(map.load64(SegmentHeader.priority) == 0 && map.load64(SegmentHeader.syncer) == 0)
    }

    // fault: hole-in-log
    @Test func `recovery cuts a log at its first hole, and what lay behind never comes back`() throws {
        let (directory, places) = try Self.withHole()
        let log = try directory.open(incarnation: 2)
        try log.recover()
        #expect(try log.segmentNumbers() == [1, 2])
        #expect(try log.last().header.base == 3)
        #expect(try log.last().header.previousEnd == UInt64(places[2].offset))
        #expect(try log.texts() == Array(Self.texts[..<3]))
        #expect(try log.append("new").sequence == 4)
        for reader in [log, try directory.open(incarnation: 2)] {
            #expect(try reader.texts() == Self.texts[..<3] + ["new"])
            #expect(try reader.contains(places[2]))
            #expect(try !reader.contains(places[4]))
        }
        // A second power cut, right after the first.
        let again = try directory.open(incarnation: 3)
        try again.recover()
        #expect(try again.append("newest").sequence == 5)
        for reader in [again, try directory.open(incarnation: 3)] {
            #expect(try reader.texts() == Self.texts[..<3] + ["new", "newest"])
            #expect(try reader.entries().map(\.position.sequence) == [1, 2, 3, 4, 5])
        }
    }

    @Test func `a reader at a recovered cut has nothing more to read until the next append`() throws {
        let (directory, places) = try Self.withHole()
        let log = try directory.open(incarnation: 2)
        try log.recover()
        for reader in [log, try directory.open(incarnation: 2)] {
            #expect(try reader.entry(behind: places[2]) == nil)
            #expect(!reader.hasMore(behind: places[2]))
        }
        // The end that was read is now the next segment's start.
        let place = try #require(try log.append(Array("exact".utf8), exactlyAt: places[2]))
        #expect(place.segment == 2)
        #expect(try log.append(Array("late".utf8), exactlyAt: places[2]) == nil)
        try log.append("new")
        #expect(log.hasMore(behind: places[2]))
        #expect(try log.texts(behind: places[2]) == ["exact", "new"])
    }

    @Test(arguments: [0, 5, 12, 30])
    func `recovery cuts a log at a record that was written in part`(place: Int) throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        let places = try Self.texts.map { try old.append($0) }
        try directory.flipBit(of: 1, at: places[1].offset + place)
        let log = try directory.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == Array(Self.texts[..<2]))
    }

    @Test func `recovery aborts reserved records and leaves them out`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        try old.append("one")
        _ = try old.reserve()
        let two = try old.append("two")
        _ = try old.reserve()
        #expect(two.sequence == 2)
        let log = try directory.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == ["one", "two"])
        #expect(try log.append("three").sequence == 3)
        #expect(try log.segmentNumbers() == [1])
    }

    @Test func `recovery finishes a sealed segment without a successor`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        let end = try old.append("one")
        let seal = RecordHeader(state: .seal, isControl: true, units: 1, writer: 1, tries: 0)
        #expect(try old.last().exchange(at: end.offset, nil, seal))
        let log = try directory.open(incarnation: 2)
        try log.recover()
        #expect(try log.append("two").sequence == 2)
        #expect(try log.texts() == ["one", "two"])
    }

    @Test func `recovery reports a bad record that was durable as damage, and does not cut there`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        let places = try Self.texts.map { try old.append($0) }
        try old.synchronize(through: places[3])
        try directory.flipBit(of: 1, at: places[1].offset + 12)
        let error = #expect(throws: LogFailure.self) { try directory.open(incarnation: 2).recover() }
        #expect(error?.damage == .brokenAfterSync(offset: places[1].offset))
        #expect(try directory.open(incarnation: 2).segmentNumbers() == [1])
    }

    @Test func `recovery cuts a log at a bad record behind what was durable`() throws {
        let directory = try LogDirectory()
        let old = try directory.open()
        let places = try Self.texts.map { try old.append($0) }
        try old.synchronize(through: places[3])
        try directory.flipBit(of: 1, at: places[4].offset + 12)
        let log = try directory.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == Array(Self.texts[..<5]))
    }

    @Test func `recovery of a compacted log drops torn segments before the last, and keeps whole ones`()
        throws
    {
        let directory = try LogDirectory()
        func open(incarnation: UInt8) throws -> SegmentedLog {
            var configuration = try directory.open(incarnation: incarnation).configuration
            configuration.makePreamble = { file, _, _ in SegmentPreamble(bodies: [[42]], capacity: file.capacity * 4) }
            let log = try SegmentedLog(
                name: "suite", directory: directory.temporary.open(".", [.reading, .directory]), configuration)
            try log.recover()
            return log
        }
        func seal(_ log: SegmentedLog) throws -> LogPosition {
            let place = try log.append("before the seal")
            let file = try log.last()
            #expect(log.seal(file, at: place.offset, by: 1))
            #expect(try log.successor(of: file, sealedAt: place.offset).header.number == place.segment + 1)
            return place
        }
        // The first segment was not synchronized.
        let log = try open(incarnation: 4)
        let first = try seal(log)
        #expect(try log.segmentNumbers() == [1, 2])
        let again = try open(incarnation: 8)
        #expect(try again.segmentNumbers() == [1, 2])
        #expect(try again.contains(first))
        #expect(try #require(try again.segment(1)).isDurable(through: first.offset))
        // The second segment was not synchronized either, and a page of it did not reach the disk.
        let second = try seal(again)
        #expect(try again.segmentNumbers() == [1, 2, 3])
        try directory.bytes(of: 2).store64(second.offset - 16, 0)
        let third = try open(incarnation: 12)
        #expect(try third.segmentNumbers() == [3])
        guard case .lost = try third.step(behind: first) else { return #expect(Bool(false)) }
        #expect(try third.append("new").segment == 3)
    }
}
