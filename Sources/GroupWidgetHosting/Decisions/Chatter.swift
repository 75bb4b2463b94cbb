/// How much a widget may say that nobody has asked for: some at once, and then a few each second.
struct Chatter: Hashable, Sendable {
    private static let atOnce: Int64 = 200
    private static let interval: Int64 = 50_000_000
    /// When all of it will be allowed again, on the clock that does not jump.
    private var fullAt: Int64 = .min

    /// It said something. False: that is too much; with `ifAllowed` it does not count then.
    mutating func note(at now: Int64, ifAllowed: Bool = false) -> Bool {
        let next = max(fullAt, now).adding(Self.interval)
        let isAllowed = next - now <= Self.atOnce * Self.interval
        if isAllowed || !ifAllowed { fullAt = next }
        return isAllowed
    }
}
