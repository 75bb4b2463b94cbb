// Imports nothing: no file, clock or process.

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
