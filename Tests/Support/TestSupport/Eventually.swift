import Glibc
import GroupSystemCalls

/// The pauses between two looks at a state that nothing announces. They grow, because each look takes processor time from
/// the programs that are waited for.
private struct Pauses {
    private var next: Int64 = 200_000
    private let end = monotonicNanoseconds() + patience.nanoseconds

    var areOver: Bool { monotonicNanoseconds() >= end }

    mutating func take() -> Int64 {
        defer { next = min(next + next / 2, 20_000_000) }
        return next
    }
}

/// Waits, blocking, for a condition that nothing announces, such as a request's entry in the member table. Returns
/// false if it did not come true within `patience`.
package func eventually(_ isTrue: () throws -> Bool) rethrows -> Bool {
    var pauses = Pauses()
    while !pauses.areOver {
        if try isTrue() { return true }
        pause(nanoseconds: pauses.take())
    }
    return false
}

/// Waits in a task for a condition that nothing announces. Returns false if it did not come true within `patience`.
package func eventually(_ isTrue: () throws -> Bool) async rethrows -> Bool {
    var pauses = Pauses()
    while !pauses.areOver {
        if try isTrue() { return true }
        try? await Task.sleep(for: .nanoseconds(pauses.take()))  // allowed: between two looks at a state
    }
    return false
}

/// Ends this process, an exit test's, by SIGALRM if it hangs. The test that started it waits for its end, whatever its
/// time limit is.
package func limitLifetime() { _ = alarm(UInt32(clamping: 2 * patience.components.seconds)) }
