public import FoundationEssentials
public import GroupContainer

/// How it stands with a widget's refreshes, to be read by people and apps.
public struct RefreshState: Hashable, Sendable, CustomStringConvertible {
    /// What is shown was true then; nil: it was never refreshed by a host.
    public var succeededAt: Date?
    /// In a row, until now.
    public var failures: Int
    /// How many refreshes it may have now while nobody sees it.
    public var budgetLeft: Int
    /// When it may have one again; nil: now.
    public var nextBudget: Date?
    /// When it is tried again after a failure; nil: it did not fail.
    public var nextTry: Date?

    /// A sentence.
    public var description: String {
        var parts: [String] = []
        if let succeededAt { parts.append("true as of \(succeededAt.ISO8601Format())") }
        if let nextTry { parts.append("failed \(failures) times, again at \(nextTry.ISO8601Format()): back-off") }
        if let nextBudget {
            parts.append("deferred until \(nextBudget.ISO8601Format()): budget")
        } else {
            parts.append("\(budgetLeft) refreshes left")
        }
        return parts.joined(separator: "; ")
    }
}

extension WidgetCenter {
    /// How it stands with the refreshes of a kind, by the limit that its host gives it, at that moment. Errors:
    /// `invalidArgument` where it is no kind; `damaged`, `newerFormat`, `lockTimedOut`.
    public func refreshState(
        ofKind kind: String, limit: RefreshBudget.Limit = RefreshBudget.Limit(), at date: Date = Date()
    ) throws(CoordinationError) -> RefreshState {
        let file = try RefreshLedger.file(ofKind: kind, in: container)
        let holding = try file.holdBlocking("read", timeout: .seconds(30))
        defer { holding.end() }
        let ledger = try RefreshLedger(file)
        let now = Int64(nanosecondsOf: date)
        let budget = ledger.budget(limit)
        var nextTry: Date?
        if ledger.failures > 0 {
            let time = ledger.failedAt.addingReportingOverflow(Backoff().delay(after: ledger.failures)).partialValue
            nextTry = Date(nanoseconds: time)
        }
        return RefreshState(
            succeededAt: ledger.succeededAt.map { Date(nanoseconds: $0) }, failures: ledger.failures,
            budgetLeft: budget.left(at: now), nextBudget: budget.nextToken(after: now).map { Date(nanoseconds: $0) },
            nextTry: nextTry)
    }
}
