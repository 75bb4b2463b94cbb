import Foundation
package import Testing

/// These tests block: they wait for processes. So they run on a few threads of their own; on those of the cooperative
/// pool, of which there is one a processor, they would stop the tests of everybody else.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Executor.shared) { try await body() }
    }

    private final class Executor: TaskExecutor {
        static let shared = Executor()
        private let queue = OperationQueue()

        init() { queue.maxConcurrentOperationCount = 3 }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThreads {
    package static var ownThreads: Self { OwnThreads() }
}
