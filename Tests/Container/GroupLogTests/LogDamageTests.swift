import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Damaged logs` {
    private static func filled(_ directory: LogDirectory) throws -> (log: SegmentedLog, places: [LogPosition]) {
        let log = try directory.open()
        return (log, try (0..<5).map { try log.append("record number \($0)") })
    }

    @Test(arguments: [12, 20, 26])
    func `damage in a record's body is an error with file and byte, and earlier records are readable`(place: Int) throws
    {
        let directory = try LogDirectory()
        let (log, places) = try Self.filled(directory)
        try directory.flipBit(of: 1, at: places[2].offset + place)
        for reader in [log, try directory.open()] {
            var position = try reader.start()
            for expected in places[..<3] {
                position = try #require(try reader.entry(behind: position)).position
                #expect(position == expected)
            }
            let error = #expect(throws: LogFailure.self) { try reader.entry(behind: position) }
            #expect(error?.damage == .brokenChecksum(offset: places[2].offset))
            #expect(error?.file == "journal/1.log")
        }
    }

    // case 9
    @Test(arguments: 0..<8)
    func `damage in a record's header is an error with file and byte`(place: Int) throws {
        let directory = try LogDirectory()
        let (log, places) = try Self.filled(directory)
        try directory.flipBit(of: 1, at: places[2].offset + place)
        let error = #expect(throws: LogFailure.self) { try log.entries() }
        #expect(error?.damage == .brokenRecordHeader(offset: places[2].offset))
        #expect(error?.file == "journal/1.log")
    }

    @Test(arguments: [0, 8, 16, 40, 100])
    func `damage in a segment's first page is an error on opening`(place: Int) throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try directory.flipBit(of: 1, at: place)
        let error = #expect(throws: LogFailure.self) { try directory.open().entries() }
        let isNewer = if case .newerFormat? = error?.reason { true } else { false }
        #expect(error?.damage == .brokenHeader || isNewer)
        #expect(error?.file == "journal/1.log")
    }

    @Test(arguments: [0, 1, 100, 4_096, 16_383])
    func `a segment that is cut short is an error on opening`(size: Int) throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try directory.temporary.open("1.log").setSize(size)
        let error = #expect(throws: LogFailure.self) { try directory.open().entries() }
        #expect(error?.damage != nil)
    }

    @Test func `a segment of another container is an error`() throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        let error = #expect(throws: LogFailure.self) { try directory.open(identity: 2).entries() }
        #expect(error?.damage == .foreign)
    }

    @Test func `a segment under another number is an error`() throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try directory.temporary.run("mv", "1.log", "2.log")
        let error = #expect(throws: LogFailure.self) { try directory.open().entries() }
        #expect(error?.damage == .foreign)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Segments cut short while mapped` {
    /// Makes a log whose records fill two pages behind the first, and cuts it short.
    private static func cut(to size: Int) throws -> (directory: LogDirectory, log: SegmentedLog, places: [LogPosition])
    {
        let directory = try LogDirectory()
        let log = try directory.open()
        let places = try (0..<60).map { try log.append("\($0) " + String(repeating: "z", count: 90)) }
        try directory.temporary.open("1.log").setSize(size)
        return (directory, log, places)
    }

    // case 35
    @Test(arguments: [0, 4_096, 8_192])
    func `a reader of a segment that is cut short while it is mapped gets an error`(size: Int) throws {
        let (directory, log, places) = try Self.cut(to: size)
        #expect(places.last.map { $0.offset > 8_192 } == true)
        let error = #expect(throws: LogFailure.self) { try log.entries() }
        #expect(error?.damage != nil)
        #expect(error?.file == "journal/1.log")
        _ = directory
    }

    // case 35
    @Test(arguments: [0, 4_096, 8_192])
    func `a writer to a segment that is cut short while it is mapped gets an error`(size: Int) throws {
        let (directory, log, places) = try Self.cut(to: size)
        let error = #expect(throws: LogFailure.self) { try log.append("lost") }
        #expect(error?.damage != nil)
        #expect(throws: LogFailure.self) { try log.append([1], exactlyAt: places[59]) }
        #expect(throws: LogFailure.self) { try log.entries() }
        _ = directory
    }
}
