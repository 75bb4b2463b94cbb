import Dispatch
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// Counts records, and runs a closure while the state is encoded.
private struct Counted: LogState {
    static let look = Guarded<(@Sendable () -> Void)?>(nil)
    static let damage = (code: Diagnostic.Code.damageMet, meaning: "")
    var count: UInt64

    init(last sequence: UInt64) { count = sequence }

    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool) { count = sequence }

    func carriedBodies() -> [[UInt8]] {
        Self.look.withLock { $0 }?()
        return []
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Compacted logs` {
    @Test func `a compacted log's state can be read while the next segment is made from it`() throws {
        let sample = try SampleContainer()
        let store = try #require(
            try CompactedLog<Counted>.open(
                sample.container.opened, "n", label: "counted", wakeLabel: "n", creating: true))
        func append() throws -> UInt64? {
            var attempt = AppendAttempt()
            return try store.append([1], &attempt, if: { _ in true }, applying: { $0.count = $1 })?.sequence
        }
        #expect(try append() == 1)
        let end = try store.log.end()
        try store.log.seal(#require(try store.log.segment(end.segment)), at: end.offset, by: 1)
        let seen = Guarded<UInt64?>(nil)
        Counted.look.withLock {
            $0 = {
                let hasRead = DispatchSemaphore(value: 0)
                DispatchQueue(label: "reader").async {
                    let count = try? store.checkedRead { $0.count }
                    seen.withLock { $0 = count }
                    hasRead.signal()
                }
                // The reader would wait for ever.
                if hasRead.wait(timeout: .now() + 20) == .timedOut { Issue.record("a reader waits for a writer") }
            }
        }
        defer { Counted.look.withLock { $0 = nil } }
        #expect(try append() == 2)
        #expect(seen.withLock { $0 } == 1)
        #expect(try store.log.last().header.number == 2)
    }

    @Test func `a writer goes on into the next segment, whichever writer had priority in the full one`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(1, forKey: "n")
        let member = sample.container.opened
        // The store acts as another process that has not read the log for a while.
        let late = try #require(try SuiteStore.open(member, suite: "standard", creating: false))
        let log = try defaults.writableStore("set").log
        let end = try log.end()
        let full = try #require(try log.segment(end.segment))
        try #require(AppendPriority(writer: 900, round: 0).take(in: full))
        let turn = full.map.load64(SegmentHeader.priority)
        log.seal(full, at: end.offset, by: 1)
        _ = try log.makeSegment(
            after: end, preamble: SegmentPreamble(bodies: late.read { $0.carriedBodies() }, capacity: 262_144))
        #expect(try late.append([.set("n", .integer(2))], by: defaults.writer).segment == end.segment + 1)
        #expect(full.map.load64(SegmentHeader.priority) == turn, "no writer has waited for its end")
    }
}
