import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

struct `Read-only logs` {
    @Test func `a read-only log is read to its end, and on into the next segment`() throws {
        let directory = try LogDirectory()
        let (log, reader) = (try directory.open(capacity: 8_192), try directory.open(writer: nil, capacity: 8_192))
        try log.append("one")
        #expect(try reader.texts() == ["one"])
        let place = try reader.end()
        #expect(try place == log.end())
        let more = (2...200).map { "number \($0)" }
        for text in more { try log.append(text) }
        #expect(try log.segmentNumbers().count > 1)
        #expect(try reader.texts(behind: place) == more)
        #expect(try reader.end() == log.end() && reader.contains(place))
        #expect(!reader.hasMore(behind: place), "no writer wakes a reader: it reads again")
    }

    @Test func `a read-only log ends before an unfinished reservation, and goes on when it is settled`() throws {
        let directory = try LogDirectory()
        let (log, reader) = (try directory.open(), try directory.open(writer: nil))
        try log.append("one")
        _ = try log.reserve()
        #expect(try reader.texts() == ["one"])
        let place = try reader.end()
        #expect(place.sequence == 1)
        try log.append("two")
        #expect(try reader.texts(behind: place) == ["two"])
    }

    @Test func `a read-only log refuses every change`() throws {
        let directory = try LogDirectory()
        let end = try directory.open().append("one")
        let reader = try directory.open(writer: nil)
        let before = try directory.bytes(of: 1).bytes(0, count: 16_384)
        refuses { _ = try reader.append("two") }
        refuses { _ = try reader.append([1], exactlyAt: end) }
        refuses { try reader.synchronize(through: end) }
        refuses { try reader.ensureRoom() }
        refuses { _ = try reader.makeSegment(after: end) }
        let file = try reader.last()
        let seal = RecordHeader(state: .seal, isControl: true, units: 1, writer: 1, tries: 0)
        #expect(!file.exchange(at: end.offset, nil, seal))
        file.writeBody([1, 2, 3], at: end.offset, units: 3)
        #expect(try directory.bytes(of: 1).bytes(0, count: 16_384) == before)
        #expect(try reader.segmentNumbers() == [1])
    }

    private func refuses(_ change: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: LogFailure.self, sourceLocation: location) { try change() }
        #expect(error?.reason == .onlyForReading, sourceLocation: location)
    }

    @Test func `a read-only log without a segment is damaged`() throws {
        let directory = try LogDirectory()
        let error = #expect(throws: LogFailure.self) { try directory.open(writer: nil) }
        #expect(error?.damage == .noSegment)
    }
}
