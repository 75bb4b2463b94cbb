// Imports nothing: no file, clock or process.

/// How much of a widget's standard error the host reads: 1 MiB at once, and then 64 KiB a second. A widget that writes
/// more waits until the host reads on, as it would with a slow terminal.
struct ErrorStreamLimit: Hashable, Sendable {
    /// The bucket has a token for each byte, and uses the monotonic clock.
    private var bucket = TokenBucket(
        TokenBucket.Rate(tokens: 65_536, period: 1_000_000_000, capacity: 1_048_576))

    /// The moment until which the host reads nothing; nil if it reads.
    private(set) var pausedUntil: Int64?

    /// Records that a number of bytes were read.
    mutating func note(_ count: Int, at now: Int64) {
        bucket.spend(Int64(count), at: now)
        pausedUntil = bucket.debtEnd(after: now)
    }

    /// Ends a pause that is over. Returns true once for each pause.
    mutating func endsPause(at now: Int64) -> Bool {
        guard let pausedUntil, pausedUntil <= now else { return false }
        self.pausedUntil = nil
        return true
    }
}
