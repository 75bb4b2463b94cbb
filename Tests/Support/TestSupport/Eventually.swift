import Glibc
import GroupSystemCalls

/// Waits, blocking, for a condition that nothing announces, such as a request's entry in the member table. Returns
/// false if it did not come true within `patience`.
package func eventually(_ isTrue: () throws -> Bool) rethrows -> Bool {
    let end = monotonicNanoseconds() + patience.nanoseconds
    while monotonicNanoseconds() < end {
        if try isTrue() { return true }
        pause(nanoseconds: 100_000)
    }
    return false
}

/// Waits in a task for a condition that nothing announces. Returns false if it did not come true within `patience`.
package func eventually(_ isTrue: () throws -> Bool) async rethrows -> Bool {
    let end = monotonicNanoseconds() + patience.nanoseconds
    while monotonicNanoseconds() < end {
        if try isTrue() { return true }
        await Task.yield()
    }
    return false
}

/// Ends this process, an exit test's, by SIGALRM if it hangs. The test that started it waits for its end, whatever its
/// time limit is.
package func limitLifetime() { _ = alarm(UInt32(clamping: 2 * patience.components.seconds)) }
