package import GroupSystemCalls

/// Blocking work of a task, on a thread of its own, so that it occupies no thread of the cooperative pool.
package enum OwnThread {
    /// Runs blocking work. Fails at once if no thread can be started; what the work's closure holds is released then.
    /// Error: `limitReached`
    package static func run<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws
        -> Answer
    {
        try await withCheckedThrowingContinuation { continuation in
            do throws(Errno) {
                try WorkThread.start { continuation.resume(with: Result { try work() }) }
            } catch {
                continuation.resume(throwing: CoordinationError.noThread(error))
            }
        }
    }

    /// Runs blocking work whose error is typed.
    static func run<Answer: Sendable>(
        _ work: @escaping @Sendable () -> Result<Answer, CoordinationError>
    ) async -> Result<Answer, CoordinationError> {
        await withCheckedContinuation { continuation in
            do throws(Errno) {
                try WorkThread.start { continuation.resume(returning: work()) }
            } catch {
                continuation.resume(returning: .failure(.noThread(error)))
            }
        }
    }
}

extension CoordinationError {
    package static func noThread(_ errno: Errno) -> CoordinationError {
        CoordinationError(
            .limitReached, operation: "coordinate", reason: "no thread could be started: \(errno)",
            remedy: .init(
                .raiseProcesses,
                "run fewer closures at a time, or raise the limit of processes and threads (RLIMIT_NPROC), or of memory (RLIMIT_AS)"
            ),
            cause: errno)
    }
}
