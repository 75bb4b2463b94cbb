package import GroupContainer

/// What a container keeps of a widget's refreshes: what they cost, how often they failed, which reload requests were
/// heeded. Kept by who decides when to refresh, beside the widget's own record.
package struct RefreshLedger: Equatable, Sendable {
    private var budgetFullAt: Int64 = .min
    /// In a row.
    package private(set) var failures = 0
    /// In nanoseconds since 1970.
    package private(set) var failedAt: Int64 = 0
    /// When it last succeeded, in nanoseconds since 1970: what is shown was true then.
    package private(set) var succeededAt: Int64?
    /// The last request that was heeded.
    package private(set) var reloads: UInt64 = 0

    /// Of a widget that was never refreshed.
    package init() {}

    package func budget(_ limit: RefreshBudget.Limit) -> RefreshBudget { RefreshBudget(limit, fullAt: budgetFullAt) }

    /// A refresh begins that heeds the requests up to that one.
    package mutating func noteStart(at now: Int64, spending limit: RefreshBudget.Limit?, reloads: UInt64) {
        if let limit {
            var budget = budget(limit)
            budget.spend(at: now)
            budgetFullAt = budget.fullAt
        }
        self.reloads = reloads
    }

    /// It ended. Not answering is a failure, too.
    package mutating func noteEnd(_ result: UpdateResult, at now: Int64) {
        switch result {
        case .newData, .noData: (failures, succeededAt) = (0, now)
        case .failed: (failures, failedAt) = (failures &+ 1, now)
        }
    }
}

extension RefreshLedger {
    private struct Stored: VersionedContent {
        static let version = 1

        var version: Int
        var budgetFullAt: Int64?
        var failures: Int?
        var failedAt: Int64?
        var succeededAt: Int64?
        var reloads: UInt64?
    }

    /// Error: `invalidArgument` where it is no kind.
    package static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try WidgetRecord.checkKind(kind)
        return PrivateFile("widgets/\(kind)", "schedule.json", in: container)
    }

    /// Only with the lock. Of a widget that was never refreshed, or whose file is damaged and was put aside, nothing.
    package init(_ file: PrivateFile) throws(CoordinationError) {
        if let stored = try StoredFile.read(Stored.self, file) { self.init(stored) } else { self.init() }
    }

    private init(_ stored: Stored) {
        budgetFullAt = stored.budgetFullAt ?? .min
        failures = max(0, stored.failures ?? 0)
        failedAt = stored.failedAt ?? 0
        succeededAt = stored.succeededAt
        reloads = stored.reloads ?? 0
    }

    /// Only with the lock.
    package func write(_ file: PrivateFile) throws(CoordinationError) { try StoredFile.write(stored, file) }

    private var stored: Stored {
        Stored(
            version: Stored.version, budgetFullAt: budgetFullAt == .min ? nil : budgetFullAt, failures: failures,
            failedAt: failures == 0 ? nil : failedAt, succeededAt: succeededAt, reloads: reloads)
    }

    /// What bytes are, apart from any file.
    static func decoded(_ content: [UInt8]) -> StoredFile.Decoded<RefreshLedger> {
        switch StoredFile.decoded(Stored.self, content) {
        case .content(let stored): .content(RefreshLedger(stored))
        case .newer(let version): .newer(version: version)
        case .none: .none
        }
    }

    /// As a file holds it; nil: never.
    var encoded: [UInt8]? { StoredFile.encoded(stored) }
}
