import GroupContainer
import GroupSystemCalls

/// A wait for what the program records about one request, by blocking or by suspending.
struct RecordWait: Sendable {
    private var changes: Follower<DefaultsChange>
    /// The end of the wait.
    var limit: Deadline

    init(_ changes: Follower<DefaultsChange>, until limit: Deadline) {
        self.changes = changes
        self.limit = limit
    }

    var isOver: Bool { limit.isOver }

    /// Skips the changes so far, so that only a later one ends the wait. Must be called before the record is read.
    /// Neither blocks nor makes a system call.
    mutating func pass() throws(CoordinationError) {
        while try changes.next(timeout: .zero) != nil {}
        try changes.check()
    }

    /// Blocks until there may be a change, or until the limit.
    mutating func block() throws(CoordinationError) {
        _ = try changes.next(timeout: limit.remaining.map { .nanoseconds($0) })
    }

    /// Suspends until there may be a change, until the limit, or until the task's cancellation.
    func suspend() async {
        await changes.suspend(until: limit)
    }
}
