public import FoundationEssentials
public import GroupContainer

/// The state of a widget's refreshes, for people and apps.
public struct RefreshState: Hashable, Sendable, CustomStringConvertible {
    /// The time of the last refresh that succeeded; the view was current then. Nil if no refresh by a host has
    /// succeeded.
    public var succeededAt: Date?
    /// Failures in a row, until now.
    public var failures: Int
    /// How many refreshes the widget may have now while it is not visible.
    public var budgetLeft: Int
    /// When the budget allows the next refresh; nil: now.
    public var nextBudgetAt: Date?
    /// When the next try after a failure is due; nil: the last refresh did not fail.
    public var nextTryAt: Date?

    /// A sentence for people.
    public var description: String {
        var parts: [String] = []
        if let succeededAt { parts.append("current as of \(succeededAt.ISO8601Format())") }
        if let nextTryAt { parts.append("failed \(failures) times, again at \(nextTryAt.ISO8601Format()): back-off") }
        if let nextBudgetAt {
            parts.append("deferred until \(nextBudgetAt.ISO8601Format()): budget")
        } else {
            parts.append("\(budgetLeft) refreshes left")
        }
        return parts.joined(separator: "; ")
    }
}

extension WidgetCenter {
    /// Returns the state of a kind's refreshes at a moment, for the limit that its host applies. Errors:
    /// `invalidArgument` if `kind` is not a valid kind; `damaged`, `newerFormat`, `lockTimedOut`.
    public func refreshState(
        ofKind kind: String, limit: RefreshLimit = RefreshLimit(), at date: Date = Date()
    ) throws(CoordinationError) -> RefreshState {
        let file = try RefreshLedger.file(ofKind: kind, in: container)
        let holding = try file.holdBlocking("read", timeout: .seconds(30))
        defer { holding.end() }
        let ledger = try RefreshLedger(file)
        let now = date.nanoseconds
        let budget = ledger.budget(limit)
        var nextTryAt: Date?
        if ledger.failures > 0 {
            let time = ledger.failedAt.addingReportingOverflow(Backoff().delay(after: ledger.failures)).partialValue
            // A failure in the future means that the clock was set back.
            nextTryAt = ledger.failedAt <= now ? Date(nanoseconds: time) : date
        }
        return RefreshState(
            succeededAt: ledger.succeededAt.map { Date(nanoseconds: $0) }, failures: ledger.failures,
            budgetLeft: budget.left(at: now), nextBudgetAt: budget.nextToken(after: now).map { Date(nanoseconds: $0) },
            nextTryAt: nextTryAt)
    }
}
