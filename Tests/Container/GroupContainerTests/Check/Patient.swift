import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// A container with a suite of keys and a channel of messages, which no process has open.
final class Patient {
    let temporary: TemporaryDirectory
    static let suite = ".group/defaults/settings"
    static let channel = ".group/channels/news"

    init() throws {
        temporary = try TemporaryDirectory()
        _ = try Container(path: temporary.path, creating: true)
    }

    /// Runs a closure with the container open; this process is a member only meanwhile.
    func work<Answer>(_ work: (Container) throws -> Answer) throws -> Answer {
        let container = try Container(path: temporary.path)
        return try withExtendedLifetime(container) { try work(container) }
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
            // Throws if the suite is damaged.
            _ = try defaults.readVersion(forKey: "any")
            return defaults.dictionaryRepresentation().compactMapValues {
                if case .string(let text) = $0 { text } else { nil }
            }
        }
    }

    /// Returns the messages that the listener gets, and how many errors of damage.
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

    /// Returns the number of the suite's newest segment.
    private func newest() throws -> UInt64? {
        try names(in: Self.suite).compactMap { SegmentedLog.segmentNumber(Array($0.utf8)) }.max()
    }

    /// Sets a key until the suite's next segment begins.
    func fillFile() throws {
        try work { container in
            let defaults = try GroupDefaults(container, suite: "settings")
            let filler = String(repeating: "x", count: 1_000)
            let before = try newest()
            // A segment of a suite has 4 MiB at the most.
            for _ in 0..<5_000 where try newest() == before { try defaults.set(filler, forKey: "filler") }
            try #require(try newest() != before, "no file began after 5 MB")
            try defaults.removeValue(forKey: "filler")
        }
    }

    /// Repairs, and expects no finding after that and nothing more to repair.
    func heal(_ codes: [Finding.Code]) throws {
        #expect(try repair().map(\.code) == codes)
        #expect(try findings() == [])
        #expect(try repair() == [])
    }

    private var doctor: ContainerCheck {
        get throws { try ContainerCheck(.path(Array(temporary.path.utf8))) }
    }

    func findings() throws -> [Finding] {
        try doctor.examine().filter { ![.leaderMissing, .fileSystemTemporary].contains($0.code) }
    }

    func repair() throws -> [Finding] { try doctor.repair().repaired }

    func map(_ file: String) throws -> WritableMap {
        let size = try temporary.open(file).status().size
        return try WritableMap(temporary.open(file), size: Int(size))
    }

    /// Returns the offset of the record whose body contains a text.
    func place(of text: String, in file: String) throws -> Int {
        let content = try temporary.open(file).readAll()
        let text = Array(text.utf8)
        let found = content.indices.first { content[$0...].starts(with: text) }
        var offset = SegmentHeader.size
        let header = try SegmentHeader(decoding: Array(content[..<SegmentHeader.size]))
        let map = try map(file)
        while let found,
            case .record(let record) = RecordHeader.decode(
                map.load64(offset), offset: offset, salt: header.salt)
        {
            if offset + record.byteCount > found { return offset }
            offset += record.byteCount
        }
        throw Errno.noSuchEntry
    }

    /// Flips one bit.
    func flip(_ file: String, at offset: Int) throws {
        let map = try map(file)
        map.store64(offset, map.load64(offset) ^ 1 << 17)
    }
}
