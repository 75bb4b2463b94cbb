import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `A reservation that its member left behind` {
    @Test func `is aborted by a reader, and its member's commit fails`() throws {
        let directory = try LogDirectory()
        let (stopped, reader) = (try directory.open(slot: 9), try directory.open())
        let before = try stopped.append("before")
        let (header, offset) = try stopped.reserve()
        #expect(try reader.entry(behind: before) == nil)
        #expect(try !stopped.last().exchange(at: offset, header, header.becoming(.committed)))
        try stopped.append("again")
        #expect(try reader.texts() == ["before", "again"])
        #expect(try reader.entries().map(\.position.sequence) == [1, 2])
    }

    @Test func `does not keep another member from appending`() throws {
        let directory = try LogDirectory()
        let (stopped, other) = (try directory.open(slot: 9), try directory.open())
        let (header, offset) = try stopped.reserve()
        #expect(try other.append("behind").sequence == 1)
        #expect(try !stopped.last().exchange(at: offset, header, header.becoming(.committed)))
        #expect(try stopped.texts() == ["behind"])
    }

    @Test func `is given its time first`() throws {
        let directory = try LogDirectory()
        let (slow, reader) = (try directory.open(slot: 9), try directory.open())
        let (header, _) = try slow.reserve(tries: 4)
        let start = monotonicNanoseconds()
        _ = try reader.end()
        #expect(monotonicNanoseconds() - start >= header.patience)
    }

    @Test func `counts when it is committed in time`() throws {
        let directory = try LogDirectory()
        let (slow, reader) = (try directory.open(slot: 9), try directory.open())
        let (header, offset) = try slow.reserve(bodyCount: 4, tries: 15)
        let side = Side { try reader.texts() }
        let file = try slow.last()
        file.writeBody(Array("slow".utf8), at: offset, units: header.units)
        #expect(file.exchange(at: offset, header, header.becoming(.committed)))
        #expect(try side.answer() == ["slow"])
    }

    @Test func `leaves nobody awake once it is aborted`() throws {
        let directory = try LogDirectory()
        let (stopped, reader) = (try directory.open(slot: 9), try directory.open())
        let before = try reader.append("before")
        _ = try stopped.reserve()
        #expect(reader.hasMore(behind: before))
        #expect(try reader.entry(behind: before) == nil)
        // A follower that is told of more than it can read asks again at once, for ever.
        #expect(!reader.hasMore(behind: before))
        try stopped.append("behind")
        #expect(reader.hasMore(behind: before))
        #expect(try reader.texts(behind: before) == ["behind"])
    }

    @Test func `does not change the place that was read behind it`() throws {
        let directory = try LogDirectory()
        let (stopped, reader) = (try directory.open(slot: 9), try directory.open())
        let (header, offset) = try stopped.reserve(bodyCount: 4)
        let place = try reader.end()
        #expect(try reader.contains(place))
        // Its member wakes up in the middle of its copying.
        try stopped.last().writeBody(Array("late".utf8), at: offset, units: header.units)
        #expect(try reader.contains(place))
        #expect(try reader.end() == place)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Whether a log has more` {
    @Test func `is false at its end and true before`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let start = try log.start()
        #expect(!log.hasMore(behind: start))
        let end = try log.append("a")
        #expect(log.hasMore(behind: start))
        #expect(!log.hasMore(behind: end))
    }

    @Test func `is false behind a seal as long as the next file is empty`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let end = try log.append("a")
        let file = try log.last()
        let seal = RecordHeader(state: .seal, isControl: true, units: 1, slot: 1, tries: 0)
        #expect(file.exchange(at: end.offset, nil, seal))
        #expect(try log.entry(behind: end) == nil)
        // Reading makes no file: it goes on where the disk is full.
        #expect(try log.fileNumbers() == [1])
        #expect(!log.hasMore(behind: end))
        try log.append("b")
        #expect(log.hasMore(behind: end))
        #expect(try log.texts(behind: end) == ["b"])
    }
}
