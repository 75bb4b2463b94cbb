import Extensions
import Glibc
import GroupSystemCalls
import TestSupport
import Testing

@testable import ExtensionHosting

/// Many requests with extensions that misbehave, drawn by a seed. Eight at a time, as a host may run them.
@Suite(.ownThreads, .timeLimit(.minutes(30)), .tags(.process))
struct `Random requests` {
    private static let count = Int(environmentNumber("GROUP_CONTAINER_REQUESTS") ?? (runsLongTests ? 1_000 : 100))

    /// What an extension does, and how its result may begin: before a deadline that it may miss, a kill or a
    /// cancellation.
    private static let kinds: [(word: String, result: String)] = [
        ("echo", "completed"), ("nothing", "completed"), ("throw", "cancelled"), ("cancel", "cancelled"),
        ("stubborn", "completed"), ("fork", "completed"), ("unread", "completed"), ("signal", "failed signalled(9)"),
        ("exit", "failed exited(status: 7)"), ("orphan", "failed exited(status: 4)"),
        ("silent", "failed exited(status: 3)"),
        ("garbage", "failed wrongOutput"), ("partial", "failed wrongOutput"), ("endless", "failed tooMuchOutput"),
        ("chatter", "failed tooMuchOutput"), ("complain", "failed tooMuchOutput"), ("mumble", "failed tooMuchOutput"),
        ("close", "failed outputClosed"), ("hang", "failed deadline"), ("stop", "failed deadline"),
        ("descriptor", "failed wrongOutput"),
    ]

    /// A deadline that nothing but an extension without a result reaches, in milliseconds: eight floods at a time,
    /// which a busy machine runs without optimization, take more than a minute.
    private static let farDeadline = 600_000

    private struct Drawn: Sendable {
        var number: Int
        var word: String
        var expected: String
        /// In milliseconds.
        var deadline: Int
        /// When the process is killed, or the request is cancelled, in nanoseconds.
        var killed: Int64?
        var cancelled: Int64?
    }

    private static func draw(_ number: Int, _ random: inout SeededGenerator) -> Drawn {
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        let isEndless = ["hang", "stop"].contains(kind.word)
        var drawn = Drawn(
            number: number, word: kind.word, expected: kind.result,
            deadline: isEndless ? Int.random(in: 1..<300, using: &random) : farDeadline)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: drawn.killed = Int64.random(in: 0..<20_000_000, using: &random)
        case 1: drawn.cancelled = Int64.random(in: 0..<20_000_000, using: &random)
        case 2: drawn.deadline = Int.random(in: 0..<100, using: &random)
        default: break
        }
        return drawn
    }

    @Test func `each request ends in one result within its deadline, and leaves no process`() async throws {
        var random = SeededGenerator(seed: faultSeed)
        let requests = (0..<Self.count).map { Self.draw($0, &random) }
        let next = Guarded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while true {
                        let index = next.withLock { index in
                            defer { index += 1 }
                            return index
                        }
                        if index >= requests.count { return }
                        await Self.run(requests[index])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func run(_ drawn: Drawn) async {
        let group = Guarded<Int32>(0)
        let clock = ContinuousClock()
        let began = clock.now
        let request = ExtensionRequest(
            ExtensionTask(
                manifest: TestExtension.manifest(drawn.word), items: [ExtensionItem(text: "\(drawn.number)")],
                deadline: .milliseconds(drawn.deadline), log: { _ in }, open: { _ in },
                started: { process in
                    group.withLock { $0 = process }
                    guard let killed = drawn.killed else { return }
                    // On the request's own thread, so that the number cannot be another process's yet.
                    pause(nanoseconds: killed)
                    kill(process, SIGKILL)
                }))
        if let cancelled = drawn.cancelled {
            pause(nanoseconds: cancelled)
            request.cancel()
        }
        let result = TestExtension.words(of: await request.result())
        // What a busy machine adds.
        #expect(clock.now - began < .milliseconds(drawn.deadline) + patience, "seed \(faultSeed), \(drawn): \(result)")
        let isExpected =
            result.hasPrefix(drawn.expected)
            || drawn.killed != nil && result.hasPrefix("failed signalled(9)")
            || drawn.cancelled != nil && result.hasPrefix("failed cancelledByHost")
            || drawn.deadline < farDeadline && result.hasPrefix("failed deadline")
        #expect(isExpected, "seed \(faultSeed), \(drawn): \(result)")
        let process = group.withLock { $0 }
        if process == 0 { return }
        // The leader is reaped; another process that has ended is reaped by the system.
        let left = OpenFiles.processes(ofGroup: process).filter { $0 == process || ProcessView.isAlive($0) }
        #expect(left == [], "seed \(faultSeed), \(drawn)")
    }
}
