import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `A wait for standard input` {
    @Test func `a signal that another thread gets ends it`() throws {
        for _ in 0..<10 {
            // The input stays open meanwhile.
            let member = try RunningProcess(["test-member", "signal-thread"])
            try member.waitForText("signal 15")
            #expect(try member.finish().status == 0)
        }
    }
}
