package import GroupContainer

/// What a container keeps of a widget's refreshes: their cost, their failures, and the last reload request that was
/// served. The process that decides when to refresh writes the ledger, beside the widget's own record.
package struct RefreshLedger: Equatable, Sendable {
    private var budgetFullAt: Int64 = .min
    /// Failures in a row.
    package private(set) var failures = 0
    /// The time of the last failure, in nanoseconds since 1970.
    package private(set) var failedAt: Int64 = 0
    /// The time of the last success, in nanoseconds since 1970: what is shown was true then.
    package private(set) var succeededAt: Int64?
    /// The number of the last reload request that was served.
    package private(set) var reloads: UInt64 = 0

    /// Creates the ledger of a widget that was never refreshed.
    package init() {}

    package func budget(_ limit: RefreshLimit) -> RefreshBudget { RefreshBudget(limit, fullAt: budgetFullAt) }

    /// Records that a refresh begins that serves all reload requests up to `reloads`. The refresh takes from the budget
    /// if there is a limit.
    package mutating func noteStart(at now: Int64, spending limit: RefreshLimit?, reloads: UInt64) {
        if let limit {
            var budget = budget(limit)
            budget.spend(at: now)
            budgetFullAt = budget.fullAt
        }
        self.reloads = reloads
    }

    /// Records how a refresh ended. The host calls this function only for a refresh with an answer.
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

    /// Returns the file of a kind's ledger. Errors: `invalidArgument` if `kind` is not a valid kind.
    package static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try WidgetRecord.checkKind(kind)
        return PrivateFile("widgets/\(kind)", "schedule.json", in: container)
    }

    /// Reads the ledger. The caller holds the file's lock. The ledger is empty for a widget that was never refreshed.
    /// Errors: `newerFormat`; `damaged`, once: the file is put aside.
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

    /// Writes the ledger. The caller holds the file's lock.
    package func write(_ file: PrivateFile) throws(CoordinationError) { try StoredFile.write(stored, file) }

    private var stored: Stored {
        Stored(
            version: Stored.version, budgetFullAt: budgetFullAt == .min ? nil : budgetFullAt, failures: failures,
            failedAt: failures == 0 ? nil : failedAt, succeededAt: succeededAt, reloads: reloads)
    }

    /// Decodes the content of a ledger's file.
    static func decoded(_ content: [UInt8]) -> StoredFile.Decoded<RefreshLedger> {
        switch StoredFile.decoded(Stored.self, content) {
        case .content(let stored): .content(RefreshLedger(stored))
        case .newer(let version): .newer(version: version)
        case .none: .none
        }
    }

    /// The content of a ledger's file; never nil.
    var encoded: [UInt8]? { StoredFile.encoded(stored) }
}
