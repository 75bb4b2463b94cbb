import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

// fault: directory-made-again
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct `Listeners of a removed container` {
    private static func listener(_ sample: SampleContainer) throws -> GroupListener {
        try GroupChannel(sample.container, name: "news").listener(named: "reader")
    }

    @Test func `a listener that waits on a thread ends with an error when its container is removed`() throws {
        let sample = try SampleContainer()
        let listener = try Self.listener(sample)
        #expect(try listener.next(timeout: .zero) == nil)
        // Its follower makes this process the leader, which notices the removal.
        let follower = try sample.container.follow()
        defer { extendLifetime(follower) }
        #expect(sample.container.awaitLeader(timeout: .seconds(30)))
        let waiting = Side { try listener.next() }
        try sample.temporary.run("rm", "-r", ".group")
        #expect(code { try waiting.answer() } == .notFound)
    }

    @Test func `a listener in a task ends with an error when its container is removed`() async throws {
        let sample = try SampleContainer()
        let listener = try Self.listener(sample)
        try sample.temporary.run("rm", "-r", ".group")
        var messages = listener.messages.makeAsyncIterator()
        await #expect(throws: CoordinationError.self) { _ = try await messages.next() }
    }
}
