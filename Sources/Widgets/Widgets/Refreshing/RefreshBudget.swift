// Imports nothing: no file, clock or process.

/// The number of refreshes that a widget may have while it is not visible.
public struct RefreshLimit: Hashable, Sendable {
    /// Refreshes a day; at least one.
    public let perDay: Int
    /// How many of them may come at once; at least one.
    public let atOnce: Int

    /// Creates a limit. Both numbers are at least one; `perDay` is at most 86,400, one refresh a second.
    public init(perDay: Int = 72, atOnce: Int = 12) {
        self.perDay = max(1, min(perDay, 86_400))
        self.atOnce = max(1, min(atOnce, self.perDay))
    }

    /// The time between two tokens.
    fileprivate var interval: Int64 { Self.day / Int64(perDay) }
    fileprivate var rate: TokenBucket.Rate {
        TokenBucket.Rate(tokens: 1, period: interval, capacity: Int64(atOnce))
    }

    private static let day: Int64 = 86_400_000_000_000
}

/// How often a widget that is not visible may be refreshed: a number a day, of which some may come at once. The budget
/// is a token bucket that fills evenly, so a widget that is refreshed too often waits for the next token, not for the
/// next day.
///
/// Times are nanoseconds since 1970. A clock that was set back by more than the time to fill the bucket fills it at
/// once.
package struct RefreshBudget: Hashable, Sendable {
    /// The limit of this budget.
    package let limit: RefreshLimit
    private var bucket: TokenBucket

    /// The moment at which the budget is full again, for storage.
    var fullAt: Int64 { bucket.fullAt }

    /// Creates a full budget.
    package init(_ limit: RefreshLimit = RefreshLimit()) { self.init(limit, fullAt: .min) }

    /// Creates a budget from its stored state.
    init(_ limit: RefreshLimit, fullAt: Int64) {
        self.limit = limit
        bucket = TokenBucket(limit.rate, fullAt: fullAt)
    }

    /// Returns how many refreshes are allowed at a moment.
    package func left(at now: Int64) -> Int {
        limit.atOnce - Int((missing(at: now) + limit.interval - 1) / limit.interval)
    }

    /// Returns the moment at which a refresh is allowed again; nil if one is allowed now.
    package func nextToken(after now: Int64) -> Int64? { left(at: now) > 0 ? nil : bucket.nextToken(after: now) }

    /// Takes one refresh; with none left, the bucket is empty from `now` on.
    package mutating func spend(at now: Int64) {
        if left(at: now) <= 0 {
            bucket = TokenBucket(limit.rate, fullAt: now.addingReportingOverflow(largest).partialValue)
            return
        }
        // A budget from which nothing is missing starts full again: after the clock was set back, `fullAt` may be too
        // far in the future.
        if missing(at: now) == 0 { bucket = TokenBucket(limit.rate) }
        bucket.spend(at: now)
    }

    private var largest: Int64 { limit.interval * Int64(limit.atOnce) }

    /// Returns the time until the bucket is full; 0 if it is more than the whole bucket, as the clock was then set
    /// back.
    private func missing(at now: Int64) -> Int64 {
        let (time, overflow) = fullAt.subtractingReportingOverflow(now)
        return overflow || time < 0 || time > largest ? 0 : time
    }
}
