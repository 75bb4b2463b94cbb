// Imports nothing: no file, clock or process.

/// When to refresh a widget, and why not sooner.
package enum RefreshSchedule: Hashable, Sendable {
    case now
    /// Not before that moment, in nanoseconds since 1970.
    case deferred(until: Int64, Reason)
    /// There is no reason for a refresh.
    case idle

    /// Why the widget is not refreshed sooner.
    package enum Reason: String, Codable, Hashable, Sendable {
        /// The widget is not visible, and its budget is spent.
        case budget
        /// The last refresh failed, and its back-off is not over.
        case backOff
        /// The timeline requests a later time.
        case timeline
    }

    /// The reasons for and against a refresh.
    package struct Situation: Hashable, Sendable {
        /// Something that concerns the widget changed, or a reload was requested, since the last refresh.
        package var isWanted = false
        /// When the timeline requests a refresh, in nanoseconds since 1970.
        package var timelineDate: Int64?
        /// The widget is visible.
        package var isVisible = true
        /// The widget's app is in front, so its user works with the data.
        package var isAppInFront = false
        /// The budget for refreshes while the widget is not visible.
        package var budget = RefreshBudget()
        /// Failures in a row.
        package var failures = 0
        /// When the last failure was, in nanoseconds since 1970.
        package var failedAt: Int64 = 0
        /// The time before a next try after a failure.
        package var backoff = Backoff()

        /// Creates a situation without a reason for a refresh.
        package init() {}

        /// Whether a refresh now takes from the budget.
        package var spendsBudget: Bool { !isVisible && !isAppInFront }
    }

    /// Decides when to refresh. A failure is a reason for another try, and no other reason shortens its back-off.
    package static func decide(_ situation: Situation, at now: Int64) -> RefreshSchedule {
        var (due, reason): (Int64, Reason?) = (now, nil)
        if !situation.isWanted && situation.failures == 0 {
            guard let date = situation.timelineDate else { return .idle }
            if date > now { (due, reason) = (date, .timeline) }
        }
        if situation.failures > 0 {
            let delay = situation.backoff.delay(after: situation.failures)
            let (time, overflow) = situation.failedAt.addingReportingOverflow(delay)
            // A failure in the future means that the clock was set back.
            if !overflow, time > due, situation.failedAt <= now { (due, reason) = (time, .backOff) }
        }
        if situation.spendsBudget, let time = situation.budget.nextToken(after: now), time > due {
            (due, reason) = (time, .budget)
        }
        guard let reason else { return .now }
        return .deferred(until: due, reason)
    }
}
