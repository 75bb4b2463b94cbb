import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// Files of a suite with any bytes give values or a typed error, and never end the process.
@Suite(.timeLimit(.minutes(runsLongTests ? 30 : 2)))
struct `Suite fuzzing` {
    @Test func `a suite of any bytes is read, followed and set, or gives an error`() throws {
        let sample = try SampleContainer()
        let member = sample.container.opened
        let model = try GroupDefaults(sample.container, suite: "model")
        for number in 0..<200 {
            try model.set(number, forKey: "key \(number % 20)")
            if number % 50 == 0 {
                try model.set(DefaultsValue.data([UInt8](repeating: 7, count: 3_000)), forKey: "data")
            }
        }
        try model.removeValue(forKey: "key 3")
        let log = try model.writableStore("set").log
        try BrokenLogs(kind: "defaults", member: member).forEach(of: log) { suite, round, errors in
            let store = try #require(try SuiteStore.open(member, suite: suite, creating: false))
            _ = store.read { $0.entries.count }
            var reader = try KeyFeed(store, in: sample.container, keys: nil, since: .start)
            for _ in 0..<500 { do { if try reader.next() == nil { break } } catch { errors += 1 } }
            _ = try store.append([.set("new", .integer(round))], by: model.writer)
            #expect(
                store.read { $0.entries["new"]?.value } == .integer(round), "seed \(faultSeed), round \(round)")
        }
    }
}
