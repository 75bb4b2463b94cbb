import FoundationEssentials

/// Timelines with moments in nanoseconds since 1970, as the decisions use them.
extension Timeline {
    func entry(atNanosecond now: Int64) -> Entry? { entry(at: Date(nanosecond: now)) }

    func nextChange(afterNanosecond now: Int64) -> Int64? { nextChange(after: Date(nanosecond: now))?.nanosecond }

    var refreshNanosecond: Int64? { refreshDate?.nanosecond }
}

extension Date {
    fileprivate init(nanosecond: Int64) { self.init(timeIntervalSince1970: Double(nanosecond) / 1e9) }

    /// The moment in nanoseconds, rounded up to a microsecond, so that it has come by then.
    fileprivate var nanosecond: Int64 {
        let time = (timeIntervalSince1970 * 1e6).rounded(.up) * 1e3
        return Int64(exactly: time) ?? (time < 0 ? .min : .max)
    }
}
