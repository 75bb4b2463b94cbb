import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Damage to a log` {
    private static func filled(_ directory: LogDirectory) throws -> (log: SegmentedLog, places: [LogPosition]) {
        let log = try directory.open()
        return (log, try (0..<5).map { try log.append("record number \($0)") })
    }

    @Test(arguments: [12, 20, 26])
    func `in a record's body is said with file and byte, and what is before it stays readable`(place: Int) throws {
        let directory = try LogDirectory()
        let (log, places) = try Self.filled(directory)
        try directory.flipBit(of: 1, at: places[2].offset + place)
        for reader in [log, try directory.open()] {
            var position = try reader.start()
            for expected in places[..<3] {
                position = try #require(try reader.entry(behind: position)).position
                #expect(position == expected)
            }
            let error = #expect(throws: CoordinationError.self) { try reader.entry(behind: position) }
            #expect(error?.code == .damaged)
            #expect(error?.item == ".group/journal/1.log")
            #expect(error?.cause.contains("byte \(places[2].offset)") == true)
        }
    }

    // case 9
    @Test(arguments: 0..<8)
    func `in a record's header is said with file and byte`(place: Int) throws {
        let directory = try LogDirectory()
        let (log, places) = try Self.filled(directory)
        try directory.flipBit(of: 1, at: places[2].offset + place)
        let error = #expect(throws: CoordinationError.self) { try log.entries() }
        #expect(error?.code == .damaged)
        #expect(error?.item == ".group/journal/1.log")
        #expect(error?.cause.contains("byte \(places[2].offset)") == true)
    }

    @Test(arguments: [0, 8, 16, 40, 100])
    func `in a file's first page is said when it is opened`(place: Int) throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try directory.flipBit(of: 1, at: place)
        let error = #expect(throws: CoordinationError.self) { try directory.open().entries() }
        #expect([.damaged, .newerFormat].contains(error?.code))
        #expect(error?.item == ".group/journal/1.log")
    }

    @Test(arguments: [0, 1, 100, 4_096, 16_383])
    func `by cutting a file short is said when it is opened`(size: Int) throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try directory.temporary.open("1.log").setSize(size)
        let error = #expect(throws: CoordinationError.self) { try directory.open().entries() }
        #expect(error?.code == .damaged)
    }

    @Test func `by a file of another container is said`() throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        let error = #expect(throws: CoordinationError.self) { try directory.open(container: 2).entries() }
        #expect(error?.code == .damaged)
    }

    @Test func `by a file under another number is said`() throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try directory.temporary.run("mv", "1.log", "2.log")
        let error = #expect(throws: CoordinationError.self) { try directory.open().entries() }
        #expect(error?.code == .damaged)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `A log whose file is cut short while it is mapped` {
    /// Its records fill two pages behind the first.
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
    func `says so to a reader rather than die`(size: Int) throws {
        let (directory, log, places) = try Self.cut(to: size)
        #expect(places.last.map { $0.offset > 8_192 } == true)
        let error = #expect(throws: CoordinationError.self) { try log.entries() }
        #expect(error?.code == .damaged)
        #expect(error?.item == ".group/journal/1.log")
        _ = directory
    }

    // case 35
    @Test(arguments: [0, 4_096, 8_192])
    func `says so to a writer rather than die`(size: Int) throws {
        let (directory, log, places) = try Self.cut(to: size)
        let error = #expect(throws: CoordinationError.self) { try log.append("lost") }
        #expect(error?.code == .damaged)
        #expect(throws: CoordinationError.self) { try log.append([1], exactlyAt: places[59]) }
        #expect(throws: CoordinationError.self) { try log.entries() }
        _ = directory
    }
}
