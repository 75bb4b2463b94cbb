import GroupSystemCalls
import RawRecords
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// A container whose journal has segments of 64 KiB, and keeps a given number of them.
struct SmallJournal {
    let temporary: TemporaryDirectory
    let container: Container

    init(files: UInt64 = 2, age: Duration = JournalRetention.standard.age) throws {
        temporary = try TemporaryDirectory()
        container = try Container(
            path: temporary.path, creating: true, retention: JournalRetention(size: files << 16, age: age))
    }

    var member: OpenContainer { container.opened }
    var log: SegmentedLog { member.journal.log }
    var tester: BlockingCoordinator { container.coordinator(purpose: "tester").blocking }

    /// Appends records without a change of an item until there are this many more segments, then `count` more.
    func fill(files: Int, then count: Int = 0) throws {
        let first = try log.last().header.number
        // A segment of the journal has 4 MiB at the most.
        for _ in 0..<(files * 5_000) where try log.last().header.number < first + UInt64(files) { try appendOne() }
        try #require(try log.last().header.number >= first + UInt64(files), "the files are larger than they should be")
        for _ in 0..<count { try appendOne() }
    }

    func appendOne() throws {
        _ = try container.appendRawRecord(naming: ItemPath(String(repeating: "x", count: 1_000)))
    }

    /// Fills this many segments, and tends the journal after each.
    func rotate(files: Int = 1) throws {
        for _ in 0..<files {
            try fill(files: 1)
            member.tendJournal()
        }
    }

    var files: [String] {
        get throws {
            let names = try FileDescriptor.open(
                Array(".group/journal".utf8), in: temporary.directory, [.reading, .directory]
            )
            .entryNames()
            return names.map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "spare" }.sorted()
        }
    }

    func exists(_ name: String) -> Bool { (try? temporary.status(of: name)) != nil }

    func flipBit(of file: String, at place: Int) throws {
        let map = try WritableMap(temporary.open(file), size: Int(temporary.status(of: file).size))
        map.write([map.bytes(place, count: 1)[0] ^ 4], at: place)
    }
}
