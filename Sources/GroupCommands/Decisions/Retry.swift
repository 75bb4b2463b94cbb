/// When a COMMAND that failed is run again: after half a second, then each time after twice as long, up to a minute.
package struct Retry: Equatable, Sendable {
    package private(set) var failures = 0
    private var dueAt: Int64 = .min

    package init() {}

    package static let first: Int64 = 500_000_000
    package static let longest: Int64 = 60_000_000_000

    /// How long to wait; 0: now.
    package func wait(from now: Int64) -> Int64 { dueAt == .min ? 0 : max(0, dueAt - now) }

    /// Answers after how long it is due again.
    package mutating func noteFailure(at now: Int64) -> Int64 {
        let pause = min(Self.first << min(failures, 10), Self.longest)
        failures += 1
        dueAt = now + pause
        return pause
    }
}
