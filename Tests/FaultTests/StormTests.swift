import TestSupport
import Testing

/// Everything at once: tools/storm makes it longer, and Tests/StormMember is what rages.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `A storm` {
    @Test func `of kills, stops, full disks and new stewards leaves everything as it was acknowledged`() throws {
        let seconds = runsLongTests ? 60 : 20
        let (status, text) = try RunningProcess(
            ["storm-member", "rage", "18", "\(seconds)", "\(faultSeed)"], input: ""
        ).finish(within: .seconds(200))
        #expect(status == 0, "\(text)")
        print(text, terminator: "")
    }
}
