// Imports nothing: no file, clock or process.

/// A token bucket: some tokens at once, and then so many in a period (Turner, 1986). Its whole state is the moment at
/// which it will be full again, as in the generic cell rate algorithm (ITU-T I.371). Times are nanoseconds of one
/// clock.
package struct TokenBucket: Hashable, Sendable {
    /// How fast a bucket fills, and how many tokens it holds.
    package struct Rate: Hashable, Sendable {
        private let tokens: Int64
        private let period: Int64
        fileprivate let capacity: Int64

        /// Creates a rate: `tokens` come back evenly in a period, and there are never more than `capacity`. All three
        /// are at least one.
        package init(tokens: Int64, period: Int64, capacity: Int64) {
            self.tokens = max(1, tokens)
            self.period = max(1, period)
            self.capacity = max(1, capacity)
        }

        /// Returns the time in which a number of tokens comes back.
        fileprivate func time(for count: Int64) -> Int64 {
            let (product, overflow) = count.multipliedReportingOverflow(by: period)
            return overflow ? .max : product / tokens
        }
    }

    package let rate: Rate
    /// The moment at which the bucket will be full, if nothing more is spent.
    package private(set) var fullAt: Int64

    /// Creates a bucket that is full from a moment on.
    package init(_ rate: Rate, fullAt: Int64 = .min) { (self.rate, self.fullAt) = (rate, fullAt) }

    /// Spends tokens. A bucket with too few tokens then owes the rest.
    package mutating func spend(_ count: Int64 = 1, at now: Int64) {
        let (moment, overflow) = max(fullAt, now).addingReportingOverflow(rate.time(for: count))
        fullAt = overflow ? .max : moment
    }

    /// Spends one token if it is there, and returns whether it was.
    package mutating func take(at now: Int64) -> Bool {
        if nextToken(after: now) != nil { return false }
        spend(at: now)
        return true
    }

    /// Returns the moment of the next token; nil if there is one now.
    package func nextToken(after now: Int64) -> Int64? { moment(before: rate.capacity - 1, after: now) }

    /// Returns the moment at which the bucket owes nothing; nil if it owes nothing now.
    package func debtEnd(after now: Int64) -> Int64? { moment(before: rate.capacity, after: now) }

    private func moment(before count: Int64, after now: Int64) -> Int64? {
        let (moment, overflow) = fullAt.subtractingReportingOverflow(rate.time(for: count))
        return overflow || moment <= now ? nil : moment
    }
}

/// The time before a next try after failures: it doubles with each failure, up to a longest time.
package struct Backoff: Hashable, Sendable {
    /// The time after the first failure, in nanoseconds.
    package let shortest: Int64
    /// The longest time, in nanoseconds, after any number of failures.
    package let longest: Int64

    /// Creates a back-off: by default from one second to one hour.
    package init(shortest: Int64 = 1_000_000_000, longest: Int64 = 3_600_000_000_000) {
        self.shortest = max(1, shortest)
        self.longest = max(self.shortest, longest)
    }

    /// Returns the time after that many failures in a row, in nanoseconds.
    package func delay(after failures: Int) -> Int64 {
        if failures <= 0 { return 0 }
        let (time, overflow) = shortest.multipliedReportingOverflow(by: 1 << Int64(min(failures - 1, 61)))
        return overflow ? longest : min(time, longest)
    }
}
