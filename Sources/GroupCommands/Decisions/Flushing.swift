/// When lines that are written one after the other go out: at once when no more is ready; while more is, in blocks, but
/// none waits longer than a moment. Times are nanoseconds.
package struct Flushing: Equatable, Sendable {
    private var bytes = 0
    private var since: Int64?

    package init() {}

    package static let mostBytes = 65_536
    package static let longestWait: Int64 = 5_000_000

    package var hasUnwritten: Bool { since != nil }

    /// A line was added. True: all are to be written now.
    package mutating func note(_ count: Int, at now: Int64) -> Bool {
        bytes += count
        let first = since ?? now
        since = first
        return bytes >= Self.mostBytes || now - first >= Self.longestWait
    }

    package mutating func noteFlush() { self = Flushing() }
}
