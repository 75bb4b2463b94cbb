import FoundationEssentials
import GroupContainer
import GroupLocking
import GroupSystemCalls

/// One call with strict changes: the checks before anything is locked, and the wait for the outcome of the request when
/// nothing is locked any more.
///
///     caller                                         program `group-cluster`
///     locks, reads the generations, stages, unlocks
///     records the request: waiting
///                                                    records: sent. Sends it, folds and applies it
///                                                    records: accepted, conflict, unavailable or failed
///     returns, and removes the record and the files
///
/// The time of the wait begins when the request is recorded: the call's closure may take any time before. At its end
/// the caller gives the request up. If it was not sent, the program or the caller takes it back, and
/// the outcome is `unavailable`. If it was sent, the caller waits for a grace period. Then the outcome is `unknown`,
/// and the record stays for a later `outcome(of:)`.
struct StrictCall: Sendable {
    /// The grace period: how long a caller waits after its deadline for the outcome of a request that was sent, or for
    /// the program to take the request back.
    static let grace = Duration.seconds(2)

    /// The lock of the cluster under which a request is made.
    struct Token: Sendable {
        var lock: String
        var grant: String
    }

    private let container: Container
    private let records: ClusterRecords
    private let call: ItemCall
    private let purpose: String
    private let timeout: Duration?
    private let token: Token?

    /// Checks that the cluster can decide about changes. Errors: `unavailable`, and
    /// those of `GroupDefaults`
    init(
        _ call: ItemCall, by coordinator: Coordinator, _ timeout: Duration?, _ token: Token?
    ) throws(CoordinationError) {
        container = coordinator.member
        self.call = call
        self.token = token
        purpose = coordinator.purpose
        self.timeout = timeout
        records = try ClusterRecords(container)
        try ClusterPresence.check(container, records, call.operation, call.label)
    }

    // MARK: Recording

    /// Records the request, and returns the wait for its outcome. If this throws, nothing is recorded, and the files
    /// are removed.
    private func record(_ change: Proposal) throws(CoordinationError) -> Wait {
        do throws(CoordinationError) {
            try ClusterPresence.check(container, records, call.operation, call.label)
            do throws(Errno) {
                try change.synchronize()
            } catch {
                throw CoordinationError(error, operation: call.operation, item: call.label)
            }
            let changes = try records.changes(ofRequest: change.operation)
            let request = ClusterRequest(
                operation: change.operation, parts: change.parts, lock: token?.lock, grant: token?.grant,
                purpose: purpose, processIdentifier: processIdentifier(), queuedAt: Date())
            do throws(CoordinationError) {
                try records.add(request)
            } catch {
                // The request is recorded nevertheless, and perhaps sent. So only its outcome counts.
                if error.code != .notDurable { throw error }
            }
            return Wait(
                records: records, operation: change.operation,
                record: RecordWait(changes, until: Deadline(after: timeout)))
        } catch {
            change.discard()
            throw error.located(in: container)
        }
    }

    // MARK: Waiting

    /// The wait for the outcome of a request.
    private struct Wait: Sendable {
        let records: ClusterRecords
        let operation: String
        /// The wait's limit is the caller's deadline, and after that the end of the grace period.
        var record: RecordWait
        var isGivenUp = false

        enum Step {
            case over(ClusterRequest)
            /// The record is gone.
            case lost
            case wait
            case giveUp
            case takeBack
        }

        /// Looks at the record, and returns the next step. Neither blocks nor changes the record.
        mutating func look() throws(CoordinationError) -> Step {
            try record.pass()
            guard let request = records.request(operation) else { return .lost }
            if request.state.isOver { return .over(request) }
            if !record.isOver { return .wait }
            return isGivenUp ? .takeBack : .giveUp
        }
    }

    /// The way in which a wait has ended.
    private enum End: Sendable {
        case over(ClusterRequest)
        case unknown(String, cause: (any Error)?)
        case cancelled
    }

    /// Gives the request up. From then on the wait ends with the grace period, or at once if the request was not sent
    /// and no program runs that could send it.
    private func giveUp(_ wait: inout Wait) throws(CoordinationError) {
        try records.giveUp(wait.operation)
        wait.isGivenUp = true
        let isThere = try SoleProcess.isThere(for: .cluster, of: container)
        let isWaiting = records.request(wait.operation)?.state == .waiting
        wait.record.limit = Deadline(after: isWaiting && !isThere ? .zero : Self.grace)
    }

    private func takeBack(_ wait: Wait) throws(CoordinationError) -> End {
        let isBack = try records.takeBack(wait.operation, "the program that is to send it did not answer in time")
        guard let request = records.request(wait.operation), isBack || request.state.isOver else {
            return .unknown("the cluster has not answered in time", cause: nil)
        }
        return .over(request)
    }

    private func ended(_ error: any Error) -> End {
        .unknown("the wait for the cluster's answer failed: \(error)", cause: error)
    }

    /// Requests the change, and blocks the thread until the wait for the outcome ends. Errors: those of `outcome`
    func finishBlocking(_ change: Proposal?) throws(CoordinationError) -> StrictOutcome {
        guard let change else { return StrictOutcome() }
        var wait = try record(change)
        let end: End
        do throws(CoordinationError) {
            end = try block(&wait)
        } catch {
            end = ended(error)
        }
        return try outcome(end, change)
    }

    private func block(_ wait: inout Wait) throws(CoordinationError) -> End {
        while true {
            switch try wait.look() {
            case .over(let request): return .over(request)
            case .lost: return .unknown(Self.lost, cause: nil)
            case .wait: try wait.record.block()
            case .giveUp: try giveUp(&wait)
            case .takeBack: return try takeBack(wait)
            }
        }
    }

    /// Requests the change, and suspends the task until the wait for the outcome ends. Work that blocks runs on a
    /// separate thread. Errors: those of `outcome`
    func finish(_ change: Proposal?) async throws -> StrictOutcome {
        guard let change else { return StrictOutcome() }
        if Task.isCancelled {
            change.discard()
            throw cancelled(nil)
        }
        let recorded = try await OwnThread.run { try record(change) }
        let end: End
        do {
            end = try await suspend(recorded)
        } catch {
            end = ended(error)
        }
        return try await OwnThread.run { try outcome(end, change) }
    }

    private func suspend(_ recorded: Wait) async throws -> End {
        var wait = recorded
        while true {
            if Task.isCancelled {
                let present = wait
                return try await OwnThread.run {
                    if let request = records.request(present.operation), request.state.isOver { return .over(request) }
                    try records.giveUp(present.operation)
                    return .cancelled
                }
            }
            switch try wait.look() {
            case .over(let request): return .over(request)
            case .lost: return .unknown(Self.lost, cause: nil)
            case .wait: await wait.record.suspend()
            case .giveUp:
                let present = wait
                wait = try await OwnThread.run {
                    var next = present
                    try giveUp(&next)
                    return next
                }
            case .takeBack:
                let present = wait
                return try await OwnThread.run { try takeBack(present) }
            }
        }
    }

    private static let lost = "the record of the request is gone"

    // MARK: The end

    /// Returns the outcome of an accepted request, and throws for any other. Removes the record and the files, unless
    /// the outcome is not known yet. Errors: `conflict`, `unavailable`, `unknown`, `cancelled`, and the code that the
    /// program has recorded for a failed request, such as `invalidArgument` or `limitReached`
    private func outcome(_ end: End, _ change: Proposal) throws(CoordinationError) -> StrictOutcome {
        let request: ClusterRequest
        switch end {
        case .over(let over): request = over
        case .unknown(let reason, let cause):
            var error = CoordinationError(
                .unknown, operation: call.operation, item: call.label,
                reason: "\(reason), and the change may be made or not: operation \(change.operation)",
                remedy: .init(
                    .askLater, "group-cluster result GROUP \(change.operation) shows later what became of it"),
                cause: cause)
            error.pendingOperation = change.operation
            throw error.located(in: container)
        case .cancelled: throw cancelled(change.operation)
        }
        change.discard()
        try? records.remove(request: change.operation)
        if request.state == .accepted { return StrictOutcome(change.parts, request.generations) }
        throw error(request, change).located(in: container)
    }

    private func error(_ request: ClusterRequest, _ change: Proposal) -> CoordinationError {
        switch request.state {
        case .conflict:
            let present = change.onlyItem.flatMap { try? container.recordedGeneration(of: $0) }
            return CoordinationError(
                .conflict, operation: call.operation, item: call.label,
                reason: request.reason ?? "the item was changed on another machine; nothing was changed",
                generation: present, remedy: .init(.readAgain, "read it again"))
        case .failed:
            return CoordinationError(
                request.code.map(CoordinationError.Code.init) ?? .invalidArgument, operation: call.operation,
                item: call.label, reason: request.reason ?? "the cluster does not take the change; nothing was changed")
        default:
            return CoordinationError(
                .unavailable, operation: call.operation, item: call.label,
                reason: request.reason ?? "the cluster was not reached in time",
                remedy: .init(.tryAgain, "nothing was changed; try again"))
        }
    }

    private func cancelled(_ operation: String?) -> CoordinationError {
        var error = CoordinationError(
            .cancelled, operation: call.operation, item: call.label, reason: "the request was cancelled")
        error.pendingOperation = operation
        return error.located(in: container)
    }
}

extension ItemCall {
    /// The paths of the items, for errors.
    var label: String { intents.map(\.path.description).joined(separator: ", ") }
}

/// The results of an accepted request, for each changed item.
struct StrictOutcome: Sendable {
    private var results: [WriteResult] = []

    /// Creates the outcome of a call that has changed nothing.
    init() {}

    init(_ parts: [Proposal.Part], _ generations: [UInt64]) {
        let changes = parts.filter { $0.action != .check }
        results = changes.indices.map { index in
            let generation = index < generations.count ? generations[index] : 0
            // The item is gone, or its generation is not known.
            if generation == 0 { return .staged }
            return generation == changes[index].before ? .unchanged : .written(Generation(rawValue: generation))
        }
    }

    /// The result for the item that the call is about. This is the last one: the parts for the directories around the
    /// item, and for the items in it, come before.
    var result: WriteResult { results.last ?? .unchanged }

    /// The newest generation of the changed items; nil if none has a new one.
    var generation: Generation? { results.compactMap(\.generation).max() }
}

/// The checks before a container's cluster decides about a change.
enum ClusterPresence {
    /// Checks that the calling code holds no lock. Other processes would wait for that lock until the cluster has
    /// decided. Error: `deadlock`
    static func checkHoldsNothing(_ operation: String, _ item: String?) throws(CoordinationError) {
        if !LockFrame.holdsLocks { return }
        throw CoordinationError(
            .deadlock, operation: operation, item: item,
            reason:
                "the requesting closure holds a lock, which others would wait for as long as the cluster is awaited",
            remedy: .init(.releaseLocks, "release the locks first, or make all changes in one strict request"))
    }

    /// Checks that the container is in a cluster, and that the cluster's program runs on this machine and is not
    /// paused. Error: `unavailable`
    static func check(
        _ container: Container, _ records: ClusterRecords, _ operation: String, _ item: String?
    ) throws(CoordinationError) {
        guard let status = records.status else {
            throw CoordinationError(
                .unavailable, operation: operation, item: item, reason: "the container is in no cluster",
                remedy: .init(.joinCluster, "have the container join one (group-cluster join)")
            ).located(in: container)
        }
        if !(try SoleProcess.isThere(for: .cluster, of: container)) {
            throw CoordinationError(
                .unavailable, operation: operation, item: item,
                reason:
                    "the program that keeps the container together with the cluster '\(status.name)' is not running",
                remedy: .init(.startProgram, "nothing was changed; start it (group-cluster join)")
            ).located(in: container)
        }
        if let reason = status.paused {
            throw CoordinationError(
                .unavailable, operation: operation, item: item,
                reason: "the program that keeps the container together with the cluster is paused: \(reason)",
                remedy: .init(.decide, "nothing was changed; group-cluster status shows what there is to decide")
            ).located(in: container)
        }
    }
}
