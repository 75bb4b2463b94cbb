package import FoundationEssentials

extension Date {
    /// Creates a date from nanoseconds since 1970, as files and records have them. A date has a resolution of about 120
    /// ns: where the digits matter, the nanoseconds are printed.
    package init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }

    /// The nanoseconds since 1970, clamped to the range of `Int64`; the largest for a date that is not a number.
    package var nanoseconds: Int64 {
        let time = (timeIntervalSince1970 * 1e9).rounded()
        return time.isNaN ? .max : Int64(exactly: time) ?? (time < 0 ? .min : .max)
    }
}
