import TestSupport
import Testing

@testable import GroupContainer

/// Whatever the bytes of a suite's files are: values or a typed error, and never the end of the process.
@Suite(.timeLimit(.minutes(runsLongTests ? 30 : 2)))
struct `A suite of any bytes` {
    @Test func `is read, followed and set, or is an error`() throws {
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
