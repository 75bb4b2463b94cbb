import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

struct `A log that may only be read` {
    @Test func `is read to its end, and on from there, into the next file`() throws {
        let directory = try LogDirectory()
        let (log, reader) = (try directory.open(capacity: 8_192), try directory.open(slot: nil, capacity: 8_192))
        try log.append("one")
        #expect(try reader.texts() == ["one"])
        let place = try reader.end()
        #expect(try place == log.end())
        let more = (2...200).map { "number \($0)" }
        for text in more { try log.append(text) }
        #expect(try log.fileNumbers().count > 1)
        #expect(try reader.texts(behind: place) == more)
        #expect(try reader.end() == log.end() && reader.contains(place))
        #expect(!reader.hasMore(behind: place), "nobody wakes it: it looks again")
    }

    @Test func `ends before a reservation that was left behind, and goes on when that is settled`() throws {
        let directory = try LogDirectory()
        let (log, reader) = (try directory.open(), try directory.open(slot: nil))
        try log.append("one")
        _ = try log.reserve()
        #expect(try reader.texts() == ["one"])
        let place = try reader.end()
        #expect(place.sequence == 1)
        try log.append("two")
        #expect(try reader.texts(behind: place) == ["two"])
    }

    @Test func `takes nothing`() throws {
        let directory = try LogDirectory()
        let end = try directory.open().append("one")
        let reader = try directory.open(slot: nil)
        let before = try directory.bytes(of: 1).bytes(0, count: 16_384)
        refuses { _ = try reader.append("two") }
        refuses { _ = try reader.append([1], exactlyAt: end) }
        refuses { try reader.synchronize(through: end) }
        refuses { try reader.ensureRoom() }
        refuses { _ = try reader.makeFile(after: end) }
        let file = try reader.last()
        let seal = RecordHeader(state: .seal, isControl: true, units: 1, slot: 1, tries: 0)
        #expect(!file.exchange(at: end.offset, nil, seal))
        file.writeBody([1, 2, 3], at: end.offset, units: 3)
        #expect(try directory.bytes(of: 1).bytes(0, count: 16_384) == before)
        #expect(try reader.fileNumbers() == [1])
    }

    private func refuses(_ change: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: CoordinationError.self, sourceLocation: location) { try change() }
        #expect(error?.code == .notPermitted, sourceLocation: location)
    }

    @Test func `that has no file is damaged`() throws {
        let directory = try LogDirectory()
        let error = #expect(throws: CoordinationError.self) { try directory.open(slot: nil) }
        #expect(error?.code == .damaged)
    }
}
