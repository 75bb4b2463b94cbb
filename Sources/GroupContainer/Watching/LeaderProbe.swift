// Imports nothing: no file, clock or process.

/// A follower's probes of the leader. The leader counts as gone if a probe stays unanswered for a second, over at least
/// three looks. (The leader may be stopped. The kernel releases the lock of a dead one at once.)
struct LeaderProbe: Equatable, Sendable {
    enum Advice: Equatable, Sendable {
        case nothing
        /// Send a probe: increase `asked`.
        case ask
        /// Open the next term.
        case takeOver
    }

    static let period: Int64 = 1_000_000_000
    static let patience: Int64 = 1_000_000_000

    private var question: UInt32?
    private var since: Int64 = 0
    private var looks = 0

    /// Returns what to do, from the two counts and the time of the last probe, all in the member table. Times in
    /// nanoseconds.
    mutating func look(asked: UInt32, answered: UInt32, askedAt: Int64, now: Int64) -> Advice {
        if asked == answered {
            question = nil
            return askedAt < 0 || askedAt > now || now - askedAt >= Self.period ? .ask : .nothing
        }
        if question == nil { (question, since, looks) = (answered, now, 0) }
        if question != answered { (question, since, looks) = (answered, now, 0) }
        looks += 1
        // A follower that was stopped itself may find that much time has passed: two more looks are needed.
        if now - since < Self.patience || looks < 3 { return .nothing }
        question = nil
        return .takeOver
    }
}

/// Whether there is a leader, as seen by a follower that cannot become leader itself. A missing leader is reported at
/// the beginning, and later once it has been missing for so long that no candidate is about to succeed it. Times in
/// nanoseconds.
struct LeaderAbsence: Equatable, Sendable {
    enum News: Equatable, Sendable {
        case nothing
        /// There is no leader.
        case missing
        /// There is a leader again.
        case returned
    }

    static let period: Int64 = 100_000_000
    /// The next leader takes over within milliseconds of the last one's death, and watches everything some time later.
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
