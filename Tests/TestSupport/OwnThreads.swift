import Foundation
package import Testing

/// Runs tests that block, as they wait for processes, on a few threads of their own. On the threads of the cooperative
/// pool, of which there is one a processor, they would stop all other tests.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Self.executor) { try await body() }
    }

    private static let executor = ThreadExecutor(threads: 3)
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
