import TestSupport
import Testing

/// Presenters and requests in processes that are killed and stopped between any two steps, by schedules drawn from a
/// seed. `tools/presenter-storm` runs more of them.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 3)), .tags(.process))
struct `Schedules of presenters` {
    @Test func `no schedule of presenters and requests violates a rule`() throws {
        let count = runsLongTests ? 1_000 : 40
        let storm = try RunningProcess(["presenter-storm", "run", "\(count)", "\(faultSeed)"], input: "")
        let (status, text) = try storm.finish(within: .seconds(runsLongTests ? 1_500 : 150))
        #expect(status == 0, "\(text)")
    }
}
