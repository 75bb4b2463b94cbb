/// How much of what a widget says on its standard error is read: some at once, and then so much each second. One that says
/// more waits to be heard, as it would before a terminal that is slow.
///
/// The generic cell rate algorithm (ITU-T I.371), with bytes for cells.
struct Hearing: Hashable, Sendable {
    /// In bytes.
    private static let atOnce: Int64 = 1_048_576
    private static let perSecond: Int64 = 65_536
    /// When all of it will be allowed again, on the clock that does not jump.
    private var fullAt: Int64 = .min

    /// Nothing more is read before; nil: it is listened to.
    private(set) var deafUntil: Int64?

    /// So many bytes were read.
    mutating func note(_ count: Int, at now: Int64) {
        fullAt = max(fullAt, now).adding(Int64(count) * 1_000_000_000 / Self.perSecond)
        let rest = fullAt - Self.atOnce * 1_000_000_000 / Self.perSecond
        deafUntil = rest > now ? rest : nil
    }

    /// True, once, when its time has come: it is listened to again.
    mutating func beginsAgain(at now: Int64) -> Bool {
        guard let deafUntil, deafUntil <= now else { return false }
        self.deafUntil = nil
        return true
    }
}
