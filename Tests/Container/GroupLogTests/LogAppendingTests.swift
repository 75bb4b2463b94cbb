import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Appending to a log` {
    @Test func `every member reads a log's records in the order of appending`() throws {
        let directory = try LogDirectory()
        let (one, two) = (try directory.open(), try directory.open(writer: 2))
        #expect(try one.texts() == [])
        let texts = ["a", "", "ccc", String(repeating: "d", count: 1_000), "12345678"]
        for (index, text) in texts.enumerated() { try (index.isMultiple(of: 2) ? one : two).append(text) }
        for log in [one, two, try directory.open()] {
            let entries = try log.entries()
            #expect(entries.map { String(decoding: $0.body, as: UTF8.self) } == texts)
            #expect(entries.map(\.position.sequence) == [1, 2, 3, 4, 5])
            #expect(try log.end() == entries.last?.position)
        }
    }

    @Test func `appending returns the place right behind the record`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        let first = try log.append("one")
        #expect(first.sequence == 1)
        #expect(try log.entry(behind: first) == nil)
        let second = try log.append("two")
        #expect(try log.entry(behind: first)?.position == second)
    }

    @Test func `a log goes on in the next segment when one is full, with the same sequence`() throws {
        let directory = try LogDirectory()
        let (one, two) = (try directory.open(), try directory.open(writer: 2))
        for number in 0..<500 {
            let place = try (number.isMultiple(of: 2) ? one : two).append(
                "\(number) " + String(repeating: "x", count: 99))
            #expect(place.sequence == UInt64(number + 1))
        }
        #expect(try one.segmentNumbers() == Array(1...6))
        for log in [one, two, try directory.open()] {
            let entries = try log.entries()
            #expect(entries.map(\.position.sequence) == Array(1...500))
            #expect(
                entries.map { String(decoding: $0.body, as: UTF8.self).prefix { $0 != " " } }
                    == (0..<500).map { "\($0)" })
        }
    }

    @Test func `a new segment is a file that was allocated beforehand`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        try log.ensureRoom()
        #expect(throws: Errno.noSuchEntry) { try directory.temporary.status(of: "spare") }
        for number in 0..<65 {
            try log.append(String(repeating: "\(number % 10)", count: 150))
            try log.ensureRoom()
        }
        #expect(try log.segmentNumbers() == [1])
        let spare = try directory.temporary.status(of: "spare").inode
        while try log.segmentNumbers().count == 1 { try log.append(String(repeating: "y", count: 150)) }
        #expect(try directory.temporary.status(of: "2.log").inode == spare)
        #expect(throws: Errno.noSuchEntry) { try directory.temporary.status(of: "spare") }
    }

    @Test func `a record that fits into no segment is refused`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        try log.append("before")
        let body = [UInt8](repeating: 1, count: 16_384)
        let error = #expect(throws: LogFailure.self) { try log.append(body) }
        #expect(error?.reason == .recordTooLarge(byteCount: 16_384, room: 16_384 - SegmentHeader.size - 8))
        let end = try log.end()
        #expect(throws: LogFailure.self) { try log.append(body, exactlyAt: end) }
        try log.append("behind")
        #expect(try log.texts() == ["before", "behind"])
        #expect(try log.segmentNumbers() == [1])
    }

    @Test func `control records have no sequence number of their own`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        try log.append("a")
        #expect(try log.append(Array("control".utf8), isControl: true).sequence == 1)
        #expect(try log.append("b").sequence == 2)
        #expect(try log.entries().map(\.isControl) == [false, true, false])
        #expect(try log.entries().map(\.position.sequence) == [1, 1, 2])
    }

    @Test func `an append exactly at an end succeeds only if the log still ends there`() throws {
        let directory = try LogDirectory()
        let (one, two) = (try directory.open(), try directory.open(writer: 2))
        let stale = try one.append("a")
        try two.append("b")
        #expect(try one.append(Array("x".utf8), exactlyAt: stale) == nil)
        let end = try one.end()
        let behind = try #require(try one.append(Array("c".utf8), exactlyAt: end))
        #expect(behind.sequence == 3)
        #expect(try two.append(Array("y".utf8), exactlyAt: end) == nil)
        #expect(try two.texts() == ["a", "b", "c"])
    }

    @Test func `an append exactly at the end of a full segment goes into the next one`() throws {
        let directory = try LogDirectory()
        let log = try directory.open()
        var count: UInt64 = 0
        while try log.segmentNumbers().count < 3 {
            let place = try log.append([UInt8](repeating: 7, count: 500), exactlyAt: log.end())
            count += 1
            #expect(place?.sequence == count)
        }
        #expect(try log.entries().count == Int(count))
    }
}
