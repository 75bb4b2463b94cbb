// Imports nothing: no file, clock or process.

/// A candidate's probes of the leader, which find a leader that is stopped. (The kernel releases the lock of a dead
/// leader at once.) The candidate takes over if a probe is unanswered for a second, and over at least three checks, a
/// tenth of a second apart.
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
    /// The patience of a deputy, which probes also while the leader is busy with many changes.
    static let deputyPatience: Int64 = 2_000_000_000
    /// How long a candidate that only waits for a reply waits for the next check.
    static let interval: Int64 = 400_000_000
    private static let spacing: Int64 = 100_000_000

    /// The count of replies when the first unanswered probe was seen; nil if all probes have a reply.
    private var lastReply: UInt32?
    private var since: Int64 = 0
    private var checks = 0
    private var checkedAt: Int64 = 0
    private let patience: Int64

    init(patience: Int64 = LeaderProbe.patience) { self.patience = patience }

    /// Returns what the candidate has to do. The member table has the number of probes sent, the number of replies, and
    /// the time of the last probe. Times are in nanoseconds.
    mutating func check(probed: UInt32, replied: UInt32, probedAt: Int64, now: Int64) -> Advice {
        if probed == replied {
            lastReply = nil
            return probedAt < 0 || probedAt > now || now - probedAt >= Self.period ? .probe : .nothing
        }
        if lastReply != replied {
            lastReply = replied
            since = now
            checks = 0
        }
        // After this process itself was stopped, or the machine, much time has passed without a check; so the time
        // alone does not count. Two more checks are needed, and between them the leader needs the time for a reply: a
        // follower of many changes checks after each of them.
        if checks == 0 || now - checkedAt >= Self.spacing {
            checks += 1
            checkedAt = now
        }
        if now - since < patience || checks < 3 { return .nothing }
        lastReply = nil
        return .takeOver
    }
}

/// Decides when a follower that cannot become leader itself reports that there is no leader: at its first check, and
/// later once the leader has been missing for longer than an election takes. Times are in nanoseconds.
struct LeaderAbsence: Equatable, Sendable {
    enum Report: Equatable, Sendable {
        case nothing
        /// There is no leader.
        case missing
        /// There is a leader again.
        case returned
    }

    static let period: Int64 = 100_000_000
    /// A candidate takes over within milliseconds of the leader's death, and takes some time to watch everything.
    static let patience: Int64 = 2_000_000_000

    private var next: Int64?
    private var missingSince: Int64?
    private var isReported = false

    func isDue(at now: Int64) -> Bool { next.map { now >= $0 } ?? true }

    mutating func check(isThere: Bool, at now: Int64) -> Report {
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
