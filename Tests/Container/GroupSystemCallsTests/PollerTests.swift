import GroupSystemCalls
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct `Poller waits` {
    @Test func `a poller's wait ends when another thread wakes it`() async throws {
        let poller = try Poller()
        async let woken = Task.detached { try poller.wait(nanoseconds: nil) }.value
        poller.wake()
        #expect(try await woken == false)
    }

    @Test func `several wakes before a wait wake a poller once`() throws {
        let poller = try Poller()
        for _ in 0..<3 { poller.wake() }
        let start = monotonicNanoseconds()
        #expect(try poller.wait(nanoseconds: patience.nanoseconds) == false)
        #expect(monotonicNanoseconds() - start < patience.nanoseconds)
        #expect(try poller.wait(nanoseconds: 0) == false)
    }

    @Test(arguments: [0, 1, 1_500_000]) func `a poller waits no shorter than the given time`(nanoseconds: Int64) throws
    {
        let poller = try Poller()
        let start = monotonicNanoseconds()
        #expect(try poller.wait(nanoseconds: nanoseconds) == false)
        #expect(monotonicNanoseconds() - start >= nanoseconds)
    }

    @Test func `a poller reports what can be read, also behind a wake, for as long as it can be read`() throws {
        let poller = try Poller()
        let pipe = try Pipe()
        try poller.add(pipe.reading.number)
        try pipe.writing.writeAll([1])
        poller.wake()
        #expect(try poller.wait(nanoseconds: nil))
        #expect(try poller.wait(nanoseconds: .max))
        var byte: [UInt8] = [0]
        _ = try pipe.reading.read(into: &byte)
        #expect(try poller.wait(nanoseconds: 0) == false)
    }
}
