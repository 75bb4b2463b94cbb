/// After how long something that failed is tried again: twice as long each time, up to a longest.
public struct Backoff: Hashable, Sendable {
    /// Of the first try after a failure, in nanoseconds.
    public let shortest: Int64
    /// However often it failed, in nanoseconds.
    public let longest: Int64

    /// A second, and at most an hour, unless told.
    public init(shortest: Int64 = 1_000_000_000, longest: Int64 = 3_600_000_000_000) {
        self.shortest = max(1, shortest)
        self.longest = max(self.shortest, longest)
    }

    /// After that many failures in a row, in nanoseconds.
    public func delay(after failures: Int) -> Int64 {
        if failures <= 0 { return 0 }
        let (time, overflow) = shortest.multipliedReportingOverflow(by: 1 << Int64(min(failures - 1, 61)))
        return overflow ? longest : min(time, longest)
    }
}
