import FoundationEssentials

extension WidgetView.Line {
    /// The end of the countdown in nanoseconds since 1970, clamped to the range of `Int64`; nil if the line has no
    /// countdown.
    var countdownNanosecond: Int64? {
        guard let time = countdown?.timeIntervalSince1970 else { return nil }
        return Int64(exactly: (time * 1e9).rounded()) ?? (time < 0 ? .min : .max)
    }
}
