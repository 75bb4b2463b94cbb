import Dispatch
import GroupCommandLine

/// Runs asynchronous work from the main thread of a plain program.
package func blocking<Answer: Sendable>(_ work: @escaping @Sendable () async throws -> Answer) throws -> Answer {
    try blocking(Task { try await work() })
}

/// Runs asynchronous work that prints lines without end, and cancels it once no process can read standard output any
/// more.
package func printing(_ work: @escaping @Sendable () async throws -> Void) throws {
    let output = StandardOutput()
    let task = Task { try await work() }
    output.whenReaderIsGone { task.cancel() }
    do {
        try blocking(task)
    } catch {
        // The cancelled work may throw anything.
        if !output.readerIsGone() { throw error }
    }
}

private func blocking<Answer: Sendable>(_ task: Task<Answer, any Error>) throws -> Answer {
    let finished = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Result<Answer, any Error>?
    Task {
        unsafe result = await task.result
        finished.signal()
    }
    finished.wait()
    guard let result = unsafe result else { throw CancellationError() }
    return try result.get()
}
