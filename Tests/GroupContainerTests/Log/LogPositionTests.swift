import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `A place that was kept` {
    @Test func `is one of its log, as long as the log has it`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        var places = [try log.start()]
        for number in 0..<300 { places.append(try log.append("\(number) " + String(repeating: "x", count: 80))) }
        #expect(try log.fileNumbers().count > 1)
        for reader in [log, try directory.open()] {
            for place in places { #expect(try reader.contains(place)) }
        }
    }

    @Test func `in another log is foreign, though it looks the same`() throws {
        let (here, there) = (try LogDirectory(), try LogDirectory())
        let (one, two) = (try here.open(), try there.open())
        for number in 0..<20 { #expect(try !two.contains(try one.append("\(number)"))) }
        for number in 0..<20 { _ = try two.append("\(number)") }
        for entry in try one.entries() { #expect(try !two.contains(entry.position)) }
    }

    @Test func `that no log has printed is foreign`() throws {
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
            changed { $0.file = 2 }, changed { $0.file = 0 }, changed { $0.file = .max }, changed { $0.checksum ^= 1 },
            changed { $0.offset = 0 }, changed { $0.offset = -8 }, changed { $0.offset = .max },
            changed { $0.offset += 1 }, changed { $0.offset = 16_384 }, changed { $0.sequence += 1 },
            changed { ($0.offset, $0.checksum) = (SegmentHeader.size, 0) },
            // Behind the end, where a checksum would be zeros; and within a record.
            changed { ($0.offset, $0.checksum) = (end.offset + 800, 0) },
        ]
        for other in foreign { #expect(try !log.contains(other)) }
        let inner = LogPosition(
            file: 1, offset: place.offset - 8, sequence: 0,
            checksum: try log.last().map.load64(place.offset - 16))
        #expect(try !log.contains(inner))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Making a log durable` {
    @Test func `moves the mark to the place, and never back`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let (one, two) = (try log.append("one"), try log.append("two"))
        try log.synchronize(through: two)
        try log.synchronize(through: one)
        #expect(try log.last().map.load64(SegmentHeader.durableMark) == UInt64(two.offset))
    }

    @Test func `is told to nobody once it has failed, and the log is made anew`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let one = try log.append("one")
        try log.last().writableMap?.store64(SegmentHeader.poisoned, 1)
        let error = #expect(throws: CoordinationError.self) { try log.synchronize(through: one) }
        #expect(error?.code == .notDurable)
        let two = try log.append("two")
        try log.synchronize(through: two)
        #expect(two.file == one.file + 1)
        #expect(try directory.open().texts() == ["one", "two"])
    }
}
