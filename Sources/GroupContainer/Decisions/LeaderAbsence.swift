/// Whether there is a leader, as a follower sees it that cannot become one itself. Said when it begins, and again when
/// one has been missing for so long that nobody is about to follow it. Times in nanoseconds.
struct LeaderAbsence: Equatable, Sendable {
    enum News: Equatable, Sendable {
        case nothing
        /// None is there.
        case missing
        /// One is there again.
        case returned
    }

    static let period: Int64 = 100_000_000
    /// The next one takes over within milliseconds of the last one's death, and watches everything some time later.
    static let patience: Int64 = 2_000_000_000

    private var next: Int64?
    private var missingSince: Int64?
    private var isTold = false

    func isDue(at now: Int64) -> Bool { next.map { now >= $0 } ?? true }

    mutating func look(isThere: Bool, at now: Int64) -> News {
        let isFirst = next == nil
        next = now + Self.period
        if isThere {
            defer { (missingSince, isTold) = (nil, false) }
            return isTold ? .returned : .nothing
        }
        let since = missingSince ?? now
        missingSince = since
        if isTold || (!isFirst && now - since < Self.patience) { return .nothing }
        isTold = true
        return .missing
    }
}
