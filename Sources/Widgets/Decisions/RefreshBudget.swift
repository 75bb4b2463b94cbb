/// How often a widget that is not visible may be refreshed: a number a day, of which some may come at once. The budget is a
/// token bucket that fills evenly, so a widget that asks too often waits for the next token, not for the next day.
///
/// Times are nanoseconds since 1970; a clock that was set back by more than it takes to fill the bucket fills it at once.
public struct RefreshBudget: Hashable, Sendable {
    /// What is allowed.
    public struct Limit: Hashable, Sendable {
        /// Refreshes a day; at least one.
        public let perDay: Int
        /// How many of them may come at once; at least one.
        public let atOnce: Int

        /// Both are at least one; a day has no more than one a second.
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

    /// What is allowed.
    public let limit: Limit
    private var bucket: TokenBucket

    /// The moment at which all of it will be allowed again, to be kept.
    var fullAt: Int64 { bucket.fullAt }

    /// A budget of which nothing was spent yet.
    public init(_ limit: Limit = Limit()) { self.init(limit, fullAt: .min) }

    /// A budget as it was kept.
    init(_ limit: Limit, fullAt: Int64) { (self.limit, bucket) = (limit, TokenBucket(limit.rate, fullAt: fullAt)) }

    /// How many refreshes may be made at that moment.
    public func left(at now: Int64) -> Int {
        limit.atOnce - Int((missing(at: now) + limit.interval - 1) / limit.interval)
    }

    /// The moment at which there is one again; nil: there is one now.
    public func nextToken(after now: Int64) -> Int64? { left(at: now) > 0 ? nil : bucket.nextToken(after: now) }

    /// Spends one; with none left, the bucket stays empty from now on.
    public mutating func spend(at now: Int64) {
        if left(at: now) <= 0 {
            bucket = TokenBucket(limit.rate, fullAt: now.addingReportingOverflow(largest).partialValue)
            return
        }
        // A moment that no spending leads to is that of a clock which was set back.
        if missing(at: now) == 0 { bucket = TokenBucket(limit.rate) }
        bucket.spend(at: now)
    }

    private var largest: Int64 { limit.interval * Int64(limit.atOnce) }

    /// The time until the bucket is full. More than the whole of it would be a clock that was set back.
    private func missing(at now: Int64) -> Int64 {
        let (time, overflow) = fullAt.subtractingReportingOverflow(now)
        return overflow || time < 0 || time > largest ? 0 : time
    }
}
