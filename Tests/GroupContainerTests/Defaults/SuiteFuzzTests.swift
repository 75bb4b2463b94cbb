import SystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// Whatever the bytes of a suite's files are: values or a typed error, and never the end of the process.
@Suite(.timeLimit(.minutes(runsLongTests ? 30 : 2)))
struct `A suite of any bytes` {
    /// Ten minutes of it, or a few seconds.
    private static let duration: Int64 = runsLongTests ? 600_000_000_000 : 3_000_000_000

    @Test func `is read, followed and set, or is an error`() throws {
        var random = SeededGenerator(seed: faultSeed)
        let sample = try SampleContainer()
        let member = sample.container.member
        let model = try GroupDefaults(sample.container, suite: "model")
        for number in 0..<200 {
            try model.set(number, forKey: "key \(number % 20)")
            if number % 50 == 0 {
                try model.set(DefaultsValue.data([UInt8](repeating: 7, count: 3_000)), forKey: "data")
            }
        }
        try model.removeValue(forKey: "key 3")
        let store = try model.writableStore("set")
        let file = try store.log.last()
        let whole = file.map.bytes(0, count: file.capacity)
        let end = try store.log.end().offset

        let stop = monotonicNanoseconds() + Self.duration
        var (rounds, errors) = (0, 0)
        while monotonicNanoseconds() < stop {
            rounds += 1
            let suite = "fuzz \(rounds)"
            let folder = try member.folder.ownFolder("defaults/\(suite)")
            try Self.write(Self.broken(whole, end: end, by: &random), into: folder)
            do {
                let store = try #require(try SuiteStore.open(member, suite: suite, creating: false))
                _ = store.read { $0.entries.count }
                var reader = try DefaultsReader(store, in: sample.container, keys: nil, since: .start)
                for _ in 0..<500 { do { if try reader.next() == nil { break } } catch { errors += 1 } }
                var attempt = SuiteStore.Attempt()
                defer { attempt.end() }
                if try store.append([.set("new", .integer(rounds))], if: .init(), by: model.writer, &attempt) != nil {
                    #expect(
                        store.read { $0.entries["new"]?.value } == .integer(rounds),
                        "seed \(faultSeed), round \(rounds)")
                }
            } catch let error as CoordinationError {
                errors += 1
                #expect([.damaged, .newerFormat, .limitReached].contains(error.code), "\(error)")
            }
            for name in try folder.entryNames() where name != [46] && name != [46, 46] { try folder.unlink(name) }
        }
        print("defaults: \(rounds) broken suites, \(errors) errors")
    }

    private static func write(_ bytes: [UInt8], into folder: borrowing FileDescriptor) throws {
        let file = try FileDescriptor.open(
            Array("1.log".utf8), in: folder, [.readingAndWriting, .creating, .truncating], mode: 0o600)
        try file.writeAll(bytes)
    }

    /// Flips and overwrites where something stands, mostly in headers; sometimes cuts.
    private static func broken(_ whole: [UInt8], end: Int, by random: inout SeededGenerator) -> [UInt8] {
        var bytes = whole
        for _ in 0...Int.random(in: 0..<6, using: &random) {
            let isPage = Int.random(in: 0..<8, using: &random) == 0
            var place = isPage ? Int.random(in: 0..<256, using: &random) : Int.random(in: 4_096..<end, using: &random)
            if Bool.random(using: &random) { place = place / 8 * 8 }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 2:
                let byte: UInt8 = Bool.random(using: &random) ? 0 : 0xff
                for index in place..<min(place + 8, bytes.count) { bytes[index] = byte }
            default:
                // Another record's bytes.
                let other = Int.random(in: 4_096..<end, using: &random)
                for index in 0..<min(24, bytes.count - max(place, other)) {
                    bytes[place + index] = whole[other + index]
                }
            }
        }
        if Int.random(in: 0..<20, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        }
        return bytes
    }
}
