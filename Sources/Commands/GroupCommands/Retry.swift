// Imports nothing: no file, clock or process.

/// Decides when a COMMAND that failed is run again: after half a second, then after twice the last pause, up to a
/// minute.
package struct Retry: Equatable, Sendable {
    package private(set) var failures = 0
    private var dueAt: Int64 = .min

    package init() {}

    package static let first: Int64 = 500_000_000
    package static let longest: Int64 = 60_000_000_000

    /// Returns how long to wait; 0 if the run is due.
    package func wait(from now: Int64) -> Int64 { dueAt == .min ? 0 : max(0, dueAt - now) }

    /// Records a failure, and returns the pause before the next run.
    package mutating func noteFailure(at now: Int64) -> Int64 {
        let pause = min(Self.first << min(failures, 10), Self.longest)
        failures += 1
        dueAt = now + pause
        return pause
    }
}
