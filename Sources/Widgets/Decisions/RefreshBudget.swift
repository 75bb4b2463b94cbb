/// How often a widget may be refreshed that nobody looks at: a number a day, of which some may be used at once. A token
/// bucket (Turner, 1986): it refills evenly, so a widget that asks too often waits for the next token, not for the next
/// day.
///
/// Times are nanoseconds since 1970; a clock that was set back by more than it takes to refill refills at once.
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

        /// After so long there is one more.
        var interval: Int64 { Self.day / Int64(perDay) }

        private static let day: Int64 = 86_400_000_000_000
    }

    /// What is allowed.
    public let limit: Limit
    /// When the bucket will be full again, if nothing more is spent: says both how many are left and when the next one
    /// comes.
    private(set) var fullAt: Int64

    /// Nothing was spent yet.
    public init(_ limit: Limit = Limit()) { self.init(limit, fullAt: .min) }

    /// As it was kept.
    init(_ limit: Limit, fullAt: Int64) { (self.limit, self.fullAt) = (limit, fullAt) }

    /// How many refreshes may be made at that moment.
    public func left(at now: Int64) -> Int {
        let used = (missing(at: now) + limit.interval - 1) / limit.interval
        return limit.atOnce - Int(used)
    }

    /// When there is one again; nil: now.
    public func nextToken(after now: Int64) -> Int64? {
        if left(at: now) > 0 { return nil }
        return fullAt - limit.interval * Int64(limit.atOnce - 1)
    }

    /// One was made.
    public mutating func spend(at now: Int64) {
        let used = min(missing(at: now) + limit.interval, largest)
        fullAt = now.addingReportingOverflow(used).partialValue
    }

    private var largest: Int64 { limit.interval * Int64(limit.atOnce) }

    /// Until it is full. More than the whole of it would be a clock that was set back.
    private func missing(at now: Int64) -> Int64 {
        let (time, overflow) = fullAt.subtractingReportingOverflow(now)
        return overflow || time < 0 || time > largest ? 0 : time
    }
}
