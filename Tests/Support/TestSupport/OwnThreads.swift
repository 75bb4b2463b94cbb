import Foundation
import GroupSystemCalls
package import Testing

/// Gives each test that blocks, as it waits for processes, a thread of its own, as long as the test runs. On the
/// threads of the cooperative pool, of which there is one a processor, such tests would stop all others. A few run at
/// the same time.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let thread = await Self.threads.take()
        defer { Self.threads.give(back: thread) }
        try await withTaskExecutorPreference(thread) {
            let (suite, start) = (ProcessUsage.suite, ProcessUsage.ofThread)
            defer { ProcessUsage.add(ProcessUsage.ofThread - start, to: suite) }
            try await body()
        }
    }

    private static let threads = FreeThreads(12)
}

/// Threads, each of which one test has at a time: a test that is resumed waits for no other one.
private final class FreeThreads: Sendable {
    private struct State {
        var free: [ThreadExecutor]
        /// The tests that wait for a thread, in their order.
        var waiting: [CheckedContinuation<ThreadExecutor, Never>] = []
    }
    private let state: Guarded<State>

    init(_ count: Int) { state = Guarded(State(free: (0..<count).map { _ in ThreadExecutor(threads: 1) })) }

    func take() async -> ThreadExecutor {
        await withCheckedContinuation { test in
            let thread: ThreadExecutor? = state.withLock { state in
                if let thread = state.free.popLast() { return thread }
                state.waiting.append(test)
                return nil
            }
            if let thread { test.resume(returning: thread) }
        }
    }

    func give(back thread: ThreadExecutor) {
        let next: CheckedContinuation<ThreadExecutor, Never>? = state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free.append(thread)
            return nil
        }
        next?.resume(returning: thread)
    }
}

/// Runs tasks on threads of its own, as long as the process lives. The threads of a queue would be Dispatch's, which
/// has two for all queues and the cooperative pool, and adds one a second where they block.
package final class ThreadExecutor: TaskExecutor {
    /// Guards the jobs.
    private let condition = NSCondition()
    private nonisolated(unsafe) var jobs: [UnownedJob] = []

    package init(threads: Int) {
        for _ in 0..<threads {
            Thread.detachNewThread { [self] in
                while true { unsafe next().runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            unsafe jobs.append(job)
            condition.signal()
        }
    }

    private func next() -> UnownedJob {
        condition.withLock {
            while unsafe jobs.isEmpty { condition.wait() }
            return unsafe jobs.removeFirst()
        }
    }
}

extension Trait where Self == OwnThreads {
    package static var ownThreads: Self { OwnThreads() }
}
