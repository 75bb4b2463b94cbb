import Cluster
import GroupCluster
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Compares this machine with the cluster, at one index of the log, and prints the differences.
func verify(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    let (records, status) = try records(container)
    var reason = status.paused.map { "the cluster's program is paused: \($0)" }
    if try !SoleProcess.isThere(for: .cluster, of: container) { reason = "the cluster's program does not run" }
    if let reason {
        throw CoordinationError(
            .unavailable, operation: "verify", containerPath: "\(container.path)", reason: reason,
            remedy: .init(.tryAgain, "nothing was compared; see 'group-cluster status'"))
    }
    let progress = run.progress("comparing with the cluster")
    defer { progress.end() }
    var (comparison, isSettled) = try compare(container, records, until: Deadline(after: run.lockTimeout))
    var isRepaired = false
    if run.arguments.flag("repair") && !comparison.differences.isEmpty && isSettled {
        try records.decide(.repair, removals: 0, timeout: run.lockTimeout)
        isRepaired = true
        (comparison, isSettled) = try compare(container, records, until: Deadline(after: run.lockTimeout))
    }
    progress.end()
    try show(comparison, isSettled: isSettled, isRepaired: isRepaired, &run)
    if comparison.differences.isEmpty { return .success }
    return isSettled ? .failure : .lockTimedOut
}

/// Compares until nothing differs, or until the same differs twice while nothing is on its way, or until the limit.
/// Returns the last comparison, and whether nothing was on its way.
private func compare(
    _ container: Container, _ records: ClusterRecords, until limit: Deadline
) throws -> (StateComparison, isSettled: Bool) {
    var before: StateComparison?
    while true {
        // What programs of this machine have changed is recorded, and on its way then.
        try container.noteUncoordinatedChanges()
        let state = try ClusterFold(snapshot: records.clusterState(until: limit))
        let isSettled = try awaitSettling(records, at: state.index, until: limit)
        var comparison = try StateComparison(state, try statusOrThrow(records, container), in: container)
        if comparison.differences.isEmpty { return (comparison, true) }
        if isSettled, try statusOrThrow(records, container).isSettled(at: state.index) {
            if let before, before.index == comparison.index {
                comparison.keepDifferences(of: before)
                return (comparison, true)
            }
            before = comparison
            // What was just changed here is found by the second comparison.
            pause(nanoseconds: min(500_000_000, limit.remaining ?? .max))
        } else {
            before = nil
        }
        if limit.isOver { return (comparison, false) }
    }
}

private func statusOrThrow(_ records: ClusterRecords, _ container: Container) throws -> ClusterStatus {
    if let status = records.status { return status }
    throw CoordinationError(
        .notFound, operation: "verify", containerPath: "\(container.path)", reason: "this container is in no cluster")
}

extension ClusterStatus {
    /// Whether this machine has applied the entries up to an index, no later ones, and has nothing to send.
    fileprivate func isSettled(at index: UInt64) -> Bool {
        isConnected && self.index == index && toApply == 0 && toSend == 0
    }
}

/// Waits until nothing is on its way to this machine or from it. Returns false at the limit, and once the machine has
/// entries behind the index.
private func awaitSettling(_ records: ClusterRecords, at index: UInt64, until limit: Deadline) throws -> Bool {
    var changes = try records.changes(since: .now)
    while true {
        guard let status = records.status, status.index <= index else { return false }
        if status.isSettled(at: index) { return true }
        if limit.isOver { return false }
        _ = try changes.next(timeout: limit.remaining.map { .nanoseconds($0) })
    }
}

private func show(
    _ comparison: StateComparison, isSettled: Bool, isRepaired: Bool, _ run: inout CommandRun
) throws {
    func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    if run.options.isJSON {
        let differences = comparison.differences.map { difference in
            JSONValue.object([
                ("kind", .string(difference.kind.rawValue)), ("name", .string(difference.name)),
                ("here", text(difference.here)), ("cluster", text(difference.cluster)),
                ("reason", text(difference.reason)),
            ])
        }
        return try run.output.writeLine(
            JSONValue.object([
                ("index", .integer(Int64(clamping: comparison.index))),
                ("equal", .bool(comparison.differences.isEmpty)), ("settled", .bool(isSettled)),
                ("repaired", .bool(isRepaired)), ("items", .integer(Int64(comparison.items))),
                ("keys", .integer(Int64(comparison.keys))), ("channels", .integer(Int64(comparison.channels))),
                ("differences", .array(differences)),
            ]).encoded())
    }
    for difference in comparison.differences {
        var line = "\(difference.kind.rawValue) \(difference.name): here \(difference.here ?? "nothing"), "
        line += "in the cluster \(difference.cluster ?? "nothing")"
        if let reason = difference.reason { line += ": \(reason)" }
        try run.output.writeLine(TerminalName.line(of: [line]).replacing(#"\\"#, with: #"\"#))
    }
    if isRepaired { try run.output.writeLine("repaired: this machine has joined anew") }
    func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
    let (items, keys) = (counted(comparison.items, "item"), counted(comparison.keys, "key"))
    let channels = counted(comparison.channels, "channel")
    try run.output.writeLine(
        "equal: \(items), \(keys), \(channels); different: \(comparison.differences.count); at index \(comparison.index)"
    )
    if !isSettled && !comparison.differences.isEmpty {
        run.complain("this machine has not come to rest in time: what differs may be on its way")
    }
}

/// Returns the records of a container, with the status. Error: `notFound` for a container that is in no cluster
func records(_ container: Container) throws -> (ClusterRecords, ClusterStatus) {
    let records = try ClusterRecords(container)
    guard let status = records.status else {
        throw CoordinationError(
            .notFound, operation: "look at the cluster", containerPath: "\(container.path)",
            reason: "this container is in no cluster",
            remedy: .init(.joinCluster, "have the container join one (group-cluster join)"))
    }
    return (records, status)
}
