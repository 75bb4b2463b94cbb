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
            try BrokenLogFile.write(BrokenLogFile.broken(whole, end: end, by: &random), into: folder)
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
}
