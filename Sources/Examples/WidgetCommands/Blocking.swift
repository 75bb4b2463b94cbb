import Dispatch

/// Runs asynchronous work from the main thread of a plain program.
package func blocking<Answer: Sendable>(_ work: @escaping @Sendable () async throws -> Answer) throws -> Answer {
    let finished = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Result<Answer, any Error>?
    Task {
        do { unsafe result = .success(try await work()) } catch { unsafe result = .failure(error) }
        finished.signal()
    }
    finished.wait()
    guard let result = unsafe result else { throw CancellationError() }
    return try result.get()
}
