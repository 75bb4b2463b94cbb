// Imports nothing: no file, clock or process.

/// A follower's probes of the leader. The leader counts as gone if a probe stays unanswered for a second, over at least
/// three looks. (The leader may be stopped. The kernel releases the lock of a dead one at once.)
struct LeaderProbe: Equatable, Sendable {
    enum Advice: Equatable, Sendable {
        case nothing
        /// Send a probe: increase the count of probes.
        case probe
        /// Open the next term.
        case takeOver
    }

    static let period: Int64 = 1_000_000_000
    static let patience: Int64 = 1_000_000_000

    /// The count of replies when the first unanswered probe was seen; nil if all probes have a reply.
    private var lastReply: UInt32?
    private var since: Int64 = 0
    private var looks = 0

    /// Returns what to do, from the two counts and the time of the last probe, all in the member table. Times in
    /// nanoseconds.
    mutating func look(probed: UInt32, replied: UInt32, probedAt: Int64, now: Int64) -> Advice {
        if probed == replied {
            lastReply = nil
            return probedAt < 0 || probedAt > now || now - probedAt >= Self.period ? .probe : .nothing
        }
        if lastReply != replied { (lastReply, since, looks) = (replied, now, 0) }
        looks += 1
        // A follower that was stopped itself may find that much time has passed: two more looks are needed.
        if now - since < Self.patience || looks < 3 { return .nothing }
        lastReply = nil
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
    private var isReported = false

    func isDue(at now: Int64) -> Bool { next.map { now >= $0 } ?? true }

    mutating func look(isThere: Bool, at now: Int64) -> News {
        let isFirst = next == nil
        next = now + Self.period
        if isThere {
            defer { (missingSince, isReported) = (nil, false) }
            return isReported ? .returned : .nothing
        }
        let since = missingSince ?? now
        missingSince = since
        if isReported || (!isFirst && now - since < Self.patience) { return .nothing }
        isReported = true
        return .missing
    }
}
