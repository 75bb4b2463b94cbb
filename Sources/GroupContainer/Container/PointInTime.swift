package import FoundationEssentials

extension Date {
    /// Creates a date from nanoseconds since 1970, as files and records have them. A date has a resolution of about 120
    /// ns: where the digits matter, the nanoseconds are printed.
    package init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }

    /// The nanoseconds since 1970: the largest or the smallest number where a date is too far away.
    package var wholeNanoseconds: Int64 {
        let nanoseconds = timeIntervalSince1970 * 1e9
        return Int64(exactly: nanoseconds.rounded()) ?? (nanoseconds < 0 ? .min : .max)
    }
}
