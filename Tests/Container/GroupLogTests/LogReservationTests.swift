import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Reservations left behind` {
    @Test func `a reservation left behind is aborted by a reader, and its member's commit fails`() throws {
        let directory = try LogDirectory()
        let (stopped, reader) = (try directory.open(writer: 9), try directory.open())
        let before = try stopped.append("before")
        let (header, offset) = try stopped.reserve()
        #expect(try reader.entry(behind: before) == nil)
        #expect(try !stopped.last().exchange(at: offset, header, header.becoming(.committed)))
        try stopped.append("again")
        #expect(try reader.texts() == ["before", "again"])
        #expect(try reader.entries().map(\.position.sequence) == [1, 2])
    }

    @Test func `a reservation left behind does not keep another member from appending`() throws {
        let directory = try LogDirectory()
        let (stopped, other) = (try directory.open(writer: 9), try directory.open())
        let (header, offset) = try stopped.reserve()
        #expect(try other.append("behind").sequence == 1)
        #expect(try !stopped.last().exchange(at: offset, header, header.becoming(.committed)))
        #expect(try stopped.texts() == ["behind"])
    }

    @Test func `a reservation is aborted only after its time`() throws {
        let directory = try LogDirectory()
        let (slow, reader) = (try directory.open(writer: 9), try directory.open())
        let (header, _) = try slow.reserve(tries: 4)
        let start = monotonicNanoseconds()
        _ = try reader.end()
        #expect(monotonicNanoseconds() - start >= header.patience)
    }

    @Test func `a reserved record that is committed in time is read`() throws {
        let directory = try LogDirectory()
        let (slow, reader) = (try directory.open(writer: 9), try directory.open())
        let (header, offset) = try slow.reserve(bodyCount: 4, tries: 15)
        let side = Side { try reader.texts() }
        let file = try slow.last()
        file.writeBody(Array("slow".utf8), at: offset, units: header.units)
        #expect(file.exchange(at: offset, header, header.becoming(.committed)))
        #expect(try side.answer() == ["slow"])
    }

    @Test func `an aborted reservation leaves nothing more to read`() throws {
        let directory = try LogDirectory()
        let (stopped, reader) = (try directory.open(writer: 9), try directory.open())
        let before = try reader.append("before")
        _ = try stopped.reserve()
        #expect(reader.hasMore(behind: before))
        #expect(try reader.entry(behind: before) == nil)
        // A follower that finds more than it can read would try again at once, for ever.
        #expect(!reader.hasMore(behind: before))
        try stopped.append("behind")
        #expect(reader.hasMore(behind: before))
        #expect(try reader.texts(behind: before) == ["behind"])
    }

    @Test func `an aborted reservation does not change the place that was read behind it`() throws {
        let directory = try LogDirectory()
        let (stopped, reader) = (try directory.open(writer: 9), try directory.open())
        let (header, offset) = try stopped.reserve(bodyCount: 4)
        let place = try reader.end()
        #expect(try reader.contains(place))
        // The member wakes up in the middle of its copying.
        try stopped.last().writeBody(Array("late".utf8), at: offset, units: header.units)
        #expect(try reader.contains(place))
        #expect(try reader.end() == place)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Unread records` {
    @Test func `a log has more to read before its end, and nothing at its end`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let start = try log.start()
        #expect(!log.hasMore(behind: start))
        let end = try log.append("a")
        #expect(log.hasMore(behind: start))
        #expect(!log.hasMore(behind: end))
    }

    @Test func `a sealed log has nothing more to read as long as the next segment is empty`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let end = try log.append("a")
        let file = try log.last()
        let seal = RecordHeader(state: .seal, isControl: true, units: 1, writer: 1, tries: 0)
        #expect(file.exchange(at: end.offset, nil, seal))
        #expect(try log.entry(behind: end) == nil)
        // Reading makes no segment: reading works where the disk is full.
        #expect(try log.segmentNumbers() == [1])
        #expect(!log.hasMore(behind: end))
        try log.append("b")
        #expect(log.hasMore(behind: end))
        #expect(try log.texts(behind: end) == ["b"])
    }

    @Test func `a reader is woken when a record is reserved and written, before it is committed`() throws {
        let directory = try LogDirectory()
        let (reader, found) = (try directory.open(writer: 2), Guarded<[SegmentedLog.Step]>([]))
        let start = try reader.start()
        // Without waiting, a reservation is the end.
        let log = try directory.open {
            let hasMore = reader.hasMore(behind: start)
            let step = try? reader.knownStep(behind: start, waits: false)
            found.withLock { $0 += hasMore ? [step].compactMap { $0 } : [] }
        }
        let behind = try log.append("one")
        let steps = found.withLock { $0 }
        #expect(steps.count == 1)
        if case .end? = steps.first {} else { Issue.record("\(steps)") }
        #expect(try reader.texts() == ["one"])
        #expect(try log.append(Array("two".utf8), exactlyAt: behind, wakesReaders: false) != nil)
        #expect(found.withLock { $0.count } == 1)
    }
}
