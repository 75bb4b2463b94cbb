/// When a COMMAND that failed is run again: after half a second, then each time after twice as long, up to a minute.
struct Retry: Equatable, Sendable {
    private(set) var failures = 0
    private var dueAt: Int64 = .min

    static let first: Int64 = 500_000_000
    static let longest: Int64 = 60_000_000_000

    /// How long to wait; 0: now.
    func wait(from now: Int64) -> Int64 { dueAt == .min ? 0 : max(0, dueAt - now) }

    /// Answers after how long it is due again.
    mutating func noteFailure(at now: Int64) -> Int64 {
        let pause = min(Self.first << min(failures, 10), Self.longest)
        failures += 1
        dueAt = now + pause
        return pause
    }
}
