/// When a widget is to be refreshed, and why not sooner.
public enum RefreshSchedule: Hashable, Sendable {
    case now
    /// Not before that moment, in nanoseconds since 1970.
    case deferred(until: Int64, Reason)
    /// There is no reason to.
    case idle

    /// Why it is not refreshed sooner.
    public enum Reason: String, Codable, Hashable, Sendable {
        /// Nobody looks at it, and it has had its refreshes for now.
        case budget
        /// It failed, and is given time.
        case backOff
        /// Its timeline says so.
        case timeline
    }

    /// What speaks for a refresh, and against it.
    public struct Situation: Hashable, Sendable {
        /// Something that concerns it changed, or somebody asked for a reload, since the last refresh.
        public var isWanted = false
        /// When its timeline asks for one, in nanoseconds since 1970.
        public var timelineDate: Int64?
        /// Somebody sees it.
        public var isVisible = true
        /// The app that it belongs to is in front, so somebody is working with its data.
        public var isAppInFront = false
        /// What nobody's looking costs.
        public var budget = RefreshBudget()
        /// Failures in a row.
        public var failures = 0
        /// When the last of them was, in nanoseconds since 1970.
        public var failedAt: Int64 = 0
        /// How long it is given after a failure.
        public var backoff = Backoff()

        /// Nothing asks for it.
        public init() {}

        /// Whether a refresh made now takes from the budget.
        public var spendsBudget: Bool { !isVisible && !isAppInFront }
    }

    /// Decides. A failure is reason enough for another try; nothing brings one before its time.
    public static func decide(_ situation: Situation, at now: Int64) -> RefreshSchedule {
        var (due, reason): (Int64, Reason?) = (now, nil)
        if !situation.isWanted && situation.failures == 0 {
            guard let date = situation.timelineDate else { return .idle }
            if date > now { (due, reason) = (date, .timeline) }
        }
        if situation.failures > 0 {
            let delay = situation.backoff.delay(after: situation.failures)
            let (time, overflow) = situation.failedAt.addingReportingOverflow(delay)
            // A failure that is still to come: the clock was set back.
            if !overflow, time > due, situation.failedAt <= now { (due, reason) = (time, .backOff) }
        }
        if situation.spendsBudget, let time = situation.budget.nextToken(after: now), time > due {
            (due, reason) = (time, .budget)
        }
        guard let reason else { return .now }
        return .deferred(until: due, reason)
    }
}
