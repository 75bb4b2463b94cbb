import FoundationEssentials

extension WidgetView.Line {
    /// In nanoseconds since 1970, as the decisions count them; the nearest there is.
    var countdownNanosecond: Int64? {
        guard let time = countdown?.timeIntervalSince1970 else { return nil }
        return Int64(exactly: (time * 1e9).rounded()) ?? (time < 0 ? .min : .max)
    }
}
