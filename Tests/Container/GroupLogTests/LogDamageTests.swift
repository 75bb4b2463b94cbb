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

    // fault: flipped-bit
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

    /// Makes the second segment, whose header has an end of the first one.
    private static func putSecond(in directory: LogDirectory, endingFirstAt end: Int, identity: UInt8 = 1) throws {
        let header = SegmentHeader(
            salt: 1, number: 2, base: 5, previousEnd: UInt64(end), capacity: 16_384,
            identity: [UInt8](repeating: identity, count: 16), incarnation: [UInt8](repeating: 1, count: 16),
            created: 0)
        try directory.temporary.put("", at: "2.log")
        let file = try directory.temporary.open("2.log")
        try file.writeAll(header.encoded())
        try file.setSize(16_384)
    }

    @Test(arguments: [0, 8, 4_100, 1 << 40])
    func `a segment with an impossible end of the one before it is an error that names it, and repaired`(end: Int)
        throws
    {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try Self.putSecond(in: directory, endingFirstAt: end)
        let log = try directory.open()
        let error = #expect(throws: LogFailure.self) { try log.append("new") }
        #expect(error?.damage == .unconnected)
        #expect(error?.file == "journal/2.log")
        #expect(try log.repair(isAlone: true).map(\.file) == ["journal/2.log"])
        #expect(try log.findDamage() == [])
        // What comes before the segment that was set aside is left to a rescan.
        try log.append("new")
        #expect(try directory.open().texts().last == "new")
    }

    @Test(arguments: [8, 16])
    func `an end within a record leaves out that record, and reading comes to an end`(distance: Int) throws {
        let directory = try LogDirectory()
        let (_, places) = try Self.filled(directory)
        try Self.putSecond(in: directory, endingFirstAt: places[1].offset + distance)
        let log = try directory.open()
        try log.append("new")
        #expect(try log.texts() == ["record number 0", "record number 1", "new"])
    }

    @Test func `a segment of another log does not end the one before it`() throws {
        let directory = try LogDirectory()
        let (_, places) = try Self.filled(directory)
        try Self.putSecond(in: directory, endingFirstAt: 4_096, identity: 2)
        let log = try directory.open()
        #expect(try log.contains(places[4]))
        let error = #expect(throws: LogFailure.self) { try log.append("new") }
        #expect(error?.damage == .foreign)
        #expect(error?.file == "journal/2.log")
    }

    @Test func `a segment that claims to be larger than any of its log is an error`() throws {
        let directory = try LogDirectory()
        let (log, _) = try Self.filled(directory)
        var header = try log.last().header
        header.capacity = 1 << 30
        let file = try directory.temporary.open("1.log")
        try file.overwrite(header.encoded())
        try file.setSize(1 << 30)
        let reader = try directory.open(largestCapacity: 4 << 20)
        let error = #expect(throws: LogFailure.self) { try reader.entries() }
        #expect(error?.damage == .tooLarge(capacity: 1 << 30, largest: 4 << 20))
        #expect(error?.file == "journal/1.log")
    }

    /// Gives a log's only segment another number and base.
    private static func renumber(_ directory: LogDirectory, _ number: UInt64, base: UInt64) throws {
        let log = try directory.open()
        var header = try log.last().header
        (header.number, header.base, header.previousEnd) = (number, base, 4_096)
        try directory.temporary.open("1.log").overwrite(header.encoded())
        if number != 1 { try directory.temporary.run("mv", "1.log", "\(number).log") }
    }

    @Test(arguments: [(1, 1 << 62 - 1), (UInt64(UInt32.max), 0)] as [(UInt64, UInt64)])
    func `a log whose numbers are used up refuses another segment, and a repair begins anew`(
        number: UInt64, base: UInt64
    ) throws {
        let directory = try LogDirectory()
        _ = try Self.filled(directory)
        try Self.renumber(directory, number, base: base)
        let log = try directory.open()
        let end = try log.end()
        #expect(log.seal(try log.last(), at: end.offset, by: 1))
        let error = #expect(throws: LogFailure.self) { try log.append("new") }
        #expect(error?.damage == .outOfNumbers)
        #expect(error?.file == "journal/\(number).log")
        #expect(try directory.open().segmentNumbers() == [number], "no file was made that nobody reads")
        #expect(try log.repair(isAlone: true).map(\.kind) == [.outOfNumbers])
        #expect(try log.findDamage() == [])
        try log.append("new")
        #expect(try directory.open().texts() == ["new"])
        #expect(try directory.open().end().sequence < 1 << 61)
    }

    @Test func `a repair takes no number from an impossible one of the checkpoint`() throws {
        let directory = try LogDirectory()
        let (log, _) = try Self.filled(directory)
        try directory.flipBit(of: 1, at: 20)
        log.forgetAll(last: 1)
        #expect(try log.repair(isAlone: true, atLeast: .max).count == 1)
        try log.append("new")
        #expect(try directory.open().texts() == ["new"])
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

    // fault: truncated-map
    @Test(arguments: [0, 4_096, 8_192])
    func `a reader of a segment that is cut short while it is mapped gets an error`(size: Int) throws {
        let (directory, log, places) = try Self.cut(to: size)
        #expect(places.last.map { $0.offset > 8_192 } == true)
        let error = #expect(throws: LogFailure.self) { try log.entries() }
        #expect(error?.damage != nil)
        #expect(error?.file == "journal/1.log")
        _ = directory
    }

    // fault: truncated-map
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
