package import FoundationEssentials

extension Date {
    /// Creates a date from nanoseconds since 1970, as files and records have them. A date has a resolution of about 120
    /// ns: where the digits matter, the nanoseconds are printed.
    package init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}
