import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// A container with a suite of keys and a channel of messages, which nobody has open.
final class Patient {
    let temporary: TemporaryDirectory
    static let suite = ".group/defaults/settings"
    static let channel = ".group/channels/news"

    init() throws {
        temporary = try TemporaryDirectory()
        _ = try Container(path: temporary.path, creating: true)
    }

    /// As long as it works, it is a member.
    func work<Answer>(_ work: (Container) throws -> Answer) throws -> Answer {
        try work(try Container(path: temporary.path))
    }

    func fill() throws {
        try work { container in
            let defaults = try GroupDefaults(container, suite: "settings")
            for number in 0..<100 { try defaults.set("value \(number)", forKey: "key \(number)") }
            let channel = try GroupChannel(container, name: "news")
            let listener = try channel.listener(named: "reader")
            for number in 1...100 { try channel.post(bytes: Array("message \(number).".utf8)) }
            try listener.acknowledge(upTo: 10)
        }
    }

    func values() throws -> [String: String] {
        try work { container in
            let defaults = try GroupDefaults(container, suite: "settings")
            // Where something is wrong, this says so.
            _ = try defaults.versionedValue(forKey: "any")
            return defaults.dictionaryRepresentation().compactMapValues {
                if case .string(let text) = $0 { text } else { nil }
            }
        }
    }

    /// What the listener gets, and how often it is told of damage.
    func messages() throws -> (texts: [String], numbers: [UInt64], damaged: Int) {
        try work { container in
            let listener = try GroupChannel(container, name: "news").listener(named: "reader")
            var (texts, numbers, damaged): ([String], [UInt64], Int) = ([], [], 0)
            while true {
                do throws(CoordinationError) {
                    guard let message = try listener.next(timeout: .zero) else { return (texts, numbers, damaged) }
                    texts.append(String(decoding: message.bytes ?? [], as: UTF8.self))
                    numbers.append(message.number)
                } catch {
                    if error.code != .damaged { throw error }
                    damaged += 1
                }
            }
        }
    }

    func names(in directory: String) throws -> [String] {
        try temporary.open(directory, [.reading, .directory]).entryNames().map { String(decoding: $0, as: UTF8.self) }
            .sorted()
    }

    /// The suite's newest file.
    private func newest() throws -> UInt64? {
        try names(in: Self.suite).compactMap { SegmentedLog.fileNumber(Array($0.utf8)) }.max()
    }

    /// Sets until the suite's next file begins.
    func fillFile() throws {
        try work { container in
            let defaults = try GroupDefaults(container, suite: "settings")
            let filler = String(repeating: "x", count: 1_000)
            let before = try newest()
            // A file of a suite is 4 MiB at the most.
            for _ in 0..<5_000 where try newest() == before { try defaults.set(filler, forKey: "filler") }
            try #require(try newest() != before, "no file began after 5 MB")
            try defaults.removeValue(forKey: "filler")
        }
    }

    /// Mends, finds nothing after that, and has nothing more to mend.
    func heal(_ codes: [Finding.Code]) throws {
        #expect(try repair().map(\.code) == codes)
        #expect(try findings() == [])
        #expect(try repair() == [])
    }

    private var doctor: ContainerCheck {
        get throws { try ContainerCheck(named: Array(temporary.path.utf8)) }
    }

    func findings() throws -> [Finding] {
        try doctor.examine().filter { ![.leaderMissing, .fileSystemTemporary].contains($0.code) }
    }

    func repair() throws -> [Finding] { try doctor.repair().mended }

    func map(_ file: String) throws -> WritableMap {
        let size = try temporary.open(file).status().size
        return try WritableMap(temporary.open(file), size: Int(size))
    }

    /// Where the record begins whose body has a text.
    func place(of text: String, in file: String) throws -> Int {
        let content = try temporary.open(file).readAll()
        let text = Array(text.utf8)
        let found = content.indices.first { content[$0...].starts(with: text) }
        var offset = SegmentHeader.size
        let header = try SegmentHeader(decoding: Array(content[..<SegmentHeader.size]))
        let map = try map(file)
        while let found,
            case .record(let record) = RecordHeader.decode(
                map.load64(offset), place: offset, salt: header.salt)
        {
            if offset + record.byteCount > found { return offset }
            offset += record.byteCount
        }
        throw Errno.noSuchEntry
    }

    /// A bit.
    func flip(_ file: String, at offset: Int) throws {
        let map = try map(file)
        map.store64(offset, map.load64(offset) ^ 1 << 17)
    }
}
