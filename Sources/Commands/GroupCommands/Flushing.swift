// Imports nothing: no file, clock or process.

/// Decides when lines are written: at once when no more are ready; while more are ready, in blocks, but no line waits
/// longer than `longestWait`. Times are in nanoseconds.
package struct Flushing: Equatable, Sendable {
    private var bytes = 0
    private var since: Int64?

    package init() {}

    package static let mostBytes = 65_536
    package static let longestWait: Int64 = 5_000_000

    package var hasUnwritten: Bool { since != nil }

    /// Records a line of `count` bytes. Returns true if all lines are due to be written.
    package mutating func note(_ count: Int, at now: Int64) -> Bool {
        bytes += count
        let first = since ?? now
        since = first
        return bytes >= Self.mostBytes || now - first >= Self.longestWait
    }

    package mutating func noteFlush() { self = Flushing() }
}
