import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Log positions` {
    @Test func `a log recognizes each place behind one of its records`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        var places = [try log.start()]
        for number in 0..<300 { places.append(try log.append("\(number) " + String(repeating: "x", count: 80))) }
        #expect(try log.segmentNumbers().count > 1)
        for reader in [log, try directory.open()] {
            for place in places { #expect(try reader.contains(place)) }
        }
    }

    @Test func `a place of another log is foreign, though both logs look the same`() throws {
        let (here, there) = (try LogDirectory(), try LogDirectory())
        let (one, two) = (try here.open(), try there.open())
        for number in 0..<20 { #expect(try !two.contains(try one.append("\(number)"))) }
        for number in 0..<20 { _ = try two.append("\(number)") }
        for entry in try one.entries() { #expect(try !two.contains(entry.position)) }
    }

    @Test func `a place that no log has returned is foreign`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let place = try log.append("a record of some length")
        let end = try log.append("another")
        func changed(_ change: (inout LogPosition) -> Void) -> LogPosition {
            var other = place
            change(&other)
            return other
        }
        let foreign = [
            changed { $0.segment = 2 }, changed { $0.segment = 0 }, changed { $0.segment = .max },
            changed { $0.checksum ^= 1 },
            changed { $0.offset = 0 }, changed { $0.offset = -8 }, changed { $0.offset = .max },
            changed { $0.offset += 1 }, changed { $0.offset = 16_384 }, changed { $0.sequence += 1 },
            changed { ($0.offset, $0.checksum) = (SegmentHeader.size, 0) },
            // Places behind the end, where a checksum would be zeros, and within a record.
            changed { ($0.offset, $0.checksum) = (end.offset + 800, 0) },
        ]
        for other in foreign { #expect(try !log.contains(other)) }
        let inner = LogPosition(
            segment: 1, offset: place.offset - 8, sequence: 0,
            checksum: try log.last().map.load64(place.offset - 16))
        #expect(try !log.contains(inner))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Durability of a log` {
    @Test func `making a log durable moves its mark to the place, and never back`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let (one, two) = (try log.append("one"), try log.append("two"))
        try log.synchronize(through: two)
        try log.synchronize(through: one)
        #expect(try log.last().map.load64(SegmentHeader.durableMark) == UInt64(two.offset))
    }

    @Test func `several writers that wait for one sync leave no syncer behind`() throws {
        let directory = try LogDirectory()
        let logs = try (1...4).map { try directory.open(writer: $0, capacity: 1 << 20) }
        let sides = logs.map { log in
            Side { () throws -> Void in
                for number in 0..<200 {
                    let position = try log.append("\(number)")
                    try log.synchronizeTogether(through: position)
                    guard try log.last().isDurable(through: position.offset) else { throw Errno.inputOutput }
                }
            }
        }
        for side in sides { try side.answer() }
        #expect(try logs[0].last().map.load64(SegmentHeader.syncer) == 0)
    }

    @Test func `a writer that waits for the syncer wakes when it ends`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let position = try log.append("one")
        let map = try #require(try log.last().writableMap)
        // Another writer has just begun to sync.
        let syncer = UInt64(bitPattern: monotonicNanoseconds()) << 16 | 9
        map.store64(SegmentHeader.syncer, syncer)
        let side = Side { try log.synchronizeTogether(through: position) }
        while map.load64(SegmentHeader.syncer) == syncer, try !log.last().isDurable(through: position.offset) {}
        map.store64(SegmentHeader.durableMark, UInt64(position.offset))
        map.store64(SegmentHeader.syncer, 0)
        map.wakeAll(at: SegmentHeader.syncer)
        try side.answer()
    }

    @Test func `a writer does not wait for a syncer that is gone`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let position = try log.append("one")
        let longAgo = UInt64(bitPattern: monotonicNanoseconds() - 3_600_000_000_000)
        try log.last().writableMap?.store64(SegmentHeader.syncer, longAgo << 16 | 9)
        try log.synchronizeTogether(through: position)
        #expect(try log.last().isDurable(through: position.offset))
    }

    @Test func `a log that failed to become durable reports so, and goes on in a new segment`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let one = try log.append("one")
        try log.last().writableMap?.store64(SegmentHeader.syncFailed, 1)
        let error = #expect(throws: LogFailure.self) { try log.synchronize(through: one) }
        #expect(error?.reason == .notDurable(.inputOutput))
        let two = try log.append("two")
        try log.synchronize(through: two)
        #expect(two.segment == one.segment + 1)
        #expect(try directory.open().texts() == ["one", "two"])
    }
}
