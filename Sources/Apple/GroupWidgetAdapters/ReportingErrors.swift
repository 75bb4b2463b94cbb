import Foundation
import GroupSystemCalls

/// Runs an operation that has no result for its caller; an error becomes a line on standard error, which of a widget is
/// the log of its host.
package func reportingErrors(_ operation: () throws -> Void) {
    do {
        try operation()
    } catch {
        try? FileHandle.standardError.write(contentsOf: Data("\(programName()): \(error)\n".utf8))
    }
}

/// Prints a line on standard error, the first time that it is to be printed in this process.
package func reportOnce(_ text: String) {
    if reported.withLock({ $0.insert(text).inserted }) {
        try? FileHandle.standardError.write(contentsOf: Data("\(programName()): \(text)\n".utf8))
    }
}

private let reported = Guarded(Set<String>())

/// Calls a function that replies through a completion handler, and returns the first reply; later replies are ignored.
/// Errors: `CancellationError` if the task is cancelled before there is a reply, as the task of a refresh is at the end
/// of its time limit.
package func firstReply<Reply: Sendable>(
    _ call: (@escaping @Sendable (Reply) -> Void) -> Void
) async throws -> Reply {
    let (replies, continuation) = AsyncStream<Reply>.makeStream(bufferingPolicy: .bufferingOldest(1))
    call { reply in
        continuation.yield(reply)
        continuation.finish()
    }
    for await reply in replies { return reply }
    throw CancellationError()
}
