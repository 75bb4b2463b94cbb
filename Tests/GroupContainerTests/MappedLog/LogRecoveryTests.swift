import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Recovery after a boot` {
    private static let texts = (0..<6).map { "record number \($0) of the first boot" }

    /// A log of six records; then what a power cut does: the fourth's page did not reach the disk.
    private static func withHole() throws -> (folder: LogFolder, places: [LogPosition]) {
        let folder = try LogFolder()
        let log = try folder.open()
        let places = try texts.map { try log.append($0) }
        let size = places[3].offset - places[2].offset
        try folder.bytes(of: 1).write([UInt8](repeating: 0, count: size), at: places[2].offset)
        return (folder, places)
    }

    @Test func `changes nothing in the same boot`() throws {
        let folder = try LogFolder()
        let log = try folder.open()
        try log.append("a")
        try log.recover()
        #expect(try log.fileNumbers() == [1])
        #expect(try log.texts() == ["a"])
    }

    @Test func `keeps every record of a whole log`() throws {
        let folder = try LogFolder()
        let old = try folder.open()
        for text in Self.texts { try old.append(text) }
        let log = try folder.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == Self.texts)
        #expect(try log.append("more").sequence == 7)
        #expect(try log.texts() == Self.texts + ["more"])
        #expect(try folder.open(incarnation: 2).texts() == Self.texts + ["more"])
    }

    // case 8
    @Test func `cuts a log at its first hole; what lay behind never comes alive`() throws {
        let (folder, places) = try Self.withHole()
        let log = try folder.open(incarnation: 2)
        try log.recover()
        #expect(try log.fileNumbers() == [1, 2])
        #expect(try log.last().header.base == 3)
        #expect(try log.last().header.previousEnd == UInt64(places[2].offset))
        #expect(try log.texts() == Array(Self.texts[..<3]))
        #expect(try log.append("new").sequence == 4)
        for reader in [log, try folder.open(incarnation: 2)] {
            #expect(try reader.texts() == Self.texts[..<3] + ["new"])
            #expect(try reader.contains(places[2]))
            #expect(try !reader.contains(places[4]))
        }
        // A second cut, right after the first.
        let again = try folder.open(incarnation: 3)
        try again.recover()
        #expect(try again.append("newest").sequence == 5)
        for reader in [again, try folder.open(incarnation: 3)] {
            #expect(try reader.texts() == Self.texts[..<3] + ["new", "newest"])
            #expect(try reader.entries().map(\.position.sequence) == [1, 2, 3, 4, 5])
        }
    }

    @Test func `leaves nobody awake at the cut`() throws {
        let (folder, places) = try Self.withHole()
        let log = try folder.open(incarnation: 2)
        try log.recover()
        for reader in [log, try folder.open(incarnation: 2)] {
            #expect(try reader.entry(behind: places[2]) == nil)
            #expect(!reader.hasMore(behind: places[2]))
        }
        // The end that was read is now the next file's start.
        let place = try #require(try log.append(Array("exact".utf8), exactlyAt: places[2]))
        #expect(place.file == 2)
        #expect(try log.append(Array("late".utf8), exactlyAt: places[2]) == nil)
        try log.append("new")
        #expect(log.hasMore(behind: places[2]))
        #expect(try log.texts(behind: places[2]) == ["exact", "new"])
    }

    @Test(arguments: [0, 5, 12, 30])
    func `cuts a log at a record that was written in part`(place: Int) throws {
        let folder = try LogFolder()
        let old = try folder.open()
        let places = try Self.texts.map { try old.append($0) }
        try folder.flipBit(of: 1, at: places[1].offset + place)
        let log = try folder.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == Array(Self.texts[..<2]))
    }

    @Test func `cuts a log at a reservation, and leaves voids out`() throws {
        let folder = try LogFolder()
        let old = try folder.open()
        try old.append("one")
        _ = try old.reserve()
        let two = try old.append("two")
        _ = try old.reserve()
        #expect(two.sequence == 2)
        let log = try folder.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == ["one", "two"])
        #expect(try log.append("three").sequence == 3)
    }

    @Test func `finishes a file that was sealed and has no successor`() throws {
        let folder = try LogFolder()
        let old = try folder.open()
        let end = try old.append("one")
        let seal = LogHeader(state: .seal, isControl: true, units: 1, slot: 1, tries: 0)
        #expect(try old.last().exchange(at: end.offset, nil, seal))
        let log = try folder.open(incarnation: 2)
        try log.recover()
        #expect(try log.append("two").sequence == 2)
        #expect(try log.texts() == ["one", "two"])
    }

    @Test func `does not cut what was on the disk: there a bad record is damage`() throws {
        let folder = try LogFolder()
        let old = try folder.open()
        let places = try Self.texts.map { try old.append($0) }
        try old.synchronize(through: places[3])
        try folder.flipBit(of: 1, at: places[1].offset + 12)
        let error = #expect(throws: CoordinationError.self) { try folder.open(incarnation: 2).recover() }
        #expect(error?.code == .damaged)
        #expect(error?.cause.contains("byte \(places[1].offset)") == true)
        #expect(try folder.open(incarnation: 2).fileNumbers() == [1])
    }

    @Test func `cuts behind what was on the disk`() throws {
        let folder = try LogFolder()
        let old = try folder.open()
        let places = try Self.texts.map { try old.append($0) }
        try old.synchronize(through: places[3])
        try folder.flipBit(of: 1, at: places[4].offset + 12)
        let log = try folder.open(incarnation: 2)
        try log.recover()
        #expect(try log.texts() == Array(Self.texts[..<5]))
    }

    @Test func `of a compacted log ends those files that were not synced, and keeps those that were`() throws {
        let folder = try LogFolder()
        func open(incarnation: UInt8) throws -> MappedLog {
            var surroundings = try folder.open(incarnation: incarnation).surroundings
            surroundings.carrying = { file, _, _ in LogCarriage(bodies: [[42]], capacity: file.capacity * 4) }
            let log = try MappedLog(
                name: "suite", folder: folder.temporary.open(".", [.reading, .folder]), surroundings)
            try log.recover()
            return log
        }
        func seal(_ log: MappedLog) throws -> LogPosition {
            let place = try log.append("before the seal")
            let file = try log.last()
            #expect(log.seal(file, at: place.offset, by: 1))
            #expect(try log.successor(of: file, sealedAt: place.offset).header.number == place.file + 1)
            return place
        }
        let log = try open(incarnation: 1)
        let unsynced = try seal(log)
        #expect(try log.fileNumbers() == [1, 2])
        // Its pages may have reached the disk, or not.
        let again = try open(incarnation: 2)
        #expect(try again.fileNumbers() == [2, 3])
        guard case .lost = try again.step(behind: unsynced) else { return #expect(Bool(false)) }
        let end = try again.append("synced")
        try again.synchronize(through: end)
        let last = try again.last()
        #expect(again.seal(last, at: end.offset, by: 1))
        _ = try again.successor(of: last, sealedAt: end.offset)
        #expect(try again.fileNumbers() == [2, 3, 4])
        let third = try open(incarnation: 3)
        #expect(try third.contains(end))
        // Of the second there was nothing but its beginning.
        #expect(try third.fileNumbers() == [3, 4, 5])
    }
}
