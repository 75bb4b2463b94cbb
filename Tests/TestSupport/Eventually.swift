import GroupSystemCalls

/// Waits, blocking, for what nothing announces, such as a request's entry in the member table. False: it did not come,
/// for all our patience.
package func eventually(_ isTrue: () throws -> Bool) rethrows -> Bool {
    let end = monotonicNanoseconds() + patience.nanoseconds
    while monotonicNanoseconds() < end {
        if try isTrue() { return true }
        pause(nanoseconds: 100_000)
    }
    return false
}

/// The same in a task.
package func eventually(_ isTrue: () throws -> Bool) async rethrows -> Bool {
    let end = monotonicNanoseconds() + patience.nanoseconds
    while monotonicNanoseconds() < end {
        if try isTrue() { return true }
        await Task.yield()
    }
    return false
}
