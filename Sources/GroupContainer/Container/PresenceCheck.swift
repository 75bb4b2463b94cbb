import GroupSystemCalls

/// Whether the container is still there, for a reader that waits for changes: asked at most every 100 ms, as it takes
/// six system calls, and a reader that has just got a change wants the next change soon.
struct PresenceCheck: Sendable {
    private static let interval: Int64 = 100_000_000
    private var last: Int64?

    /// Error: `notFound`, once the container was removed or moved, at the latest so long after that.
    mutating func check(_ member: Member, _ operation: String) throws(CoordinationError) {
        let now = monotonicNanoseconds()
        if let last, now - last < Self.interval { return }
        last = now
        try member.checkIsThere(operation)
    }
}
