import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupCurl
import GroupEtcd
import GroupSystemCalls

CommandRun.main(groupClusterSpecification) { run in
    // These commands need no library: the running program does their work in the cluster.
    switch run.arguments.subcommands.first {
    case "read":
        return try ItemCommands.read(&run) { container, run in
            try container.cluster(purpose: run.options.purpose).blocking.catchUp(timeout: run.lockTimeout)
        }
    case "write": return try ClusterChanges.commands.write(&run)
    case "update": return try ClusterChanges.commands.update(&run)
    case "mkdir": return try ClusterChanges.commands.createDirectory(&run)
    case "remove": return try ClusterChanges.commands.remove(&run)
    case "move": return try ClusterChanges.commands.move(&run)
    case "copy": return try ClusterChanges.commands.copy(&run)
    case "resolve": return try resolve(&run)
    case "lock": return try lock(&run)
    default: break
    }
    if let missing = PackageTrait.missing(of: [.curl, .sqlite]) { throw missing }
    // libcurl must be prepared before any thread is started.
    _ = CurlLibrary.isPrepared
    switch run.arguments.subcommands.first {
    case "join": return try join(&run)
    case "status": return try showStatus(&run)
    case "result": return try showResult(&run)
    case "verify": return try verify(&run)
    case "accept": return try accept(&run)
    case "leave": return try leave(&run)
    default: throw run.arguments.usageError("missing a command: join, status, read, write, …")
    }
}

/// Takes the right to be the container's program. Error: `lockTimedOut` if another process has it
private func right(to container: Container, for operation: String) throws -> SoleProcess {
    if let right = try SoleProcess(for: .cluster, of: container) { return right }
    let process = ClusterRecords.isThere(container)?.processIdentifier
    throw CoordinationError(
        .lockTimedOut, operation: operation, item: nil, containerPath: "\(container.path)",
        reason: "another group-cluster runs for this container\(process.map { ": process \($0)" } ?? "")",
        remedy: .init(.endProcess, "end that process first", process: process))
}

extension ClusterRecords {
    /// Returns the status of a container that is in a cluster; nil for any other container.
    static func isThere(_ container: Container) -> ClusterStatus? { (try? ClusterRecords(container))?.status }
}

private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
}

/// Runs the container's program until a signal ends it. If there is no room for the state or for a record, the machine
/// is discarded, since its memory is ahead of what is stored. Files that nothing needs are removed, and after a pause a
/// new machine is made of the stored state. The right to the container is kept meanwhile.
private func join(_ run: inout CommandRun) throws -> ExitStatus {
    let signals = TerminationSignals()
    let full = FullDisk()
    let opened = try asFarAsThereIsRoom(&run, full, signals) { try $0.openContainer() }
    guard let container = opened else { return .success }
    let right = try right(to: container, for: "join the cluster")
    try asFarAsThereIsRoom(&run, full, signals, freeing: { isFreed(container) }) { run in
        do {
            try runMachine(&run, container, full, signals)
        } catch {
            if FullDisk.isFull(error) {
                full.failed(.state, error)
                showFull(full, container)
            }
            throw error
        }
    }
    return withExtendedLifetime(right) { .success }
}

/// Runs `body`, again and again as long as it fails for lack of room. Returns nil after a signal. `isFreed` makes room,
/// and returns whether anything was removed.
@discardableResult
private func asFarAsThereIsRoom<Result>(
    _ run: inout CommandRun, _ full: FullDisk, _ signals: TerminationSignals, freeing isFreed: () -> Bool = { false },
    _ body: (inout CommandRun) throws -> Result
) throws -> Result? {
    // The end of the pause that was cut short because something was removed. Each pause is cut short once at most.
    var ended: Int64?
    while true {
        do {
            return try body(&run)
        } catch {
            guard FullDisk.isFull(error) else { throw error }
            full.failed(.state, error)
            run.complain("\(error); trying again when there may be room")
        }
        // Room is made after the grace period: a process that was about to open a file that came out has opened the
        // file by then.
        var freeing = ended == full.next ? nil : monotonicNanoseconds() + DisplacedFiles.grace
        while signals.received == nil, case let now = monotonicNanoseconds(), full.next > now {
            if let time = freeing, time <= now {
                freeing = nil
                if isFreed() {
                    ended = full.next
                    break
                }
            } else {
                signals.wait(nanoseconds: min(freeing ?? .max, full.next) - now)
            }
        }
        if signals.received != nil { return nil }
    }
}

private func isFreed(_ container: Container) -> Bool {
    guard let store = try? StateStore(container), let contents = try? ContentFiles(container) else { return false }
    defer { store.close() }
    return (try? store.free(contents)) ?? false
}

/// Records in the status that the machine was discarded for lack of room.
private func showFull(_ full: FullDisk, _ container: Container) {
    guard let records = try? ClusterRecords(container) else { return }
    if var status = records.status {
        if status.isConnected { (status.isConnected, status.since) = (false, Date()) }
        (status.failure, status.processIdentifier) = (full.failure, processIdentifier())
        if (try? records.set(status)) != nil { return }
    }
    FullDiskNote(container).set(full.failure)
    full.hasNote = true
}

/// Runs the machine with its stored state. A machine that joins anew is followed by a new one.
private func runMachine(
    _ run: inout CommandRun, _ container: Container, _ full: FullDisk, _ signals: TerminationSignals
) throws {
    let store = try StateStore(container)
    defer { store.close() }
    if full.isFull { try store.checkRoom() }
    while true {
        switch try runMachine(&run, store, container, full, signals) {
        case .interrupted: return
        case .toJoinAnew(let decision):
            try Acceptance.joinAnew(store, container)
            try ClusterRecords(container).answer(ClusterDecision.done, to: decision)
            run.complain("accepted: this machine joins anew")
        }
    }
}

private func runMachine(
    _ run: inout CommandRun, _ store: StateStore, _ container: Container, _ full: FullDisk,
    _ signals: TerminationSignals
) throws -> Machine.End {
    let identity = try identity(&run, store)
    let machine = try Machine(container, identity, store, identity.configuration(), full)
    if let text = try run.arguments.text("snapshot-after") {
        guard let number = UInt64(text), number > 0 else {
            throw run.arguments.usageError("--snapshot-after takes a number from 1 on")
        }
        machine.entriesBetweenSnapshots = number
    }
    return try machine.run({ run.complain($0) }, until: { signals.received != nil })
}

/// Returns the identity of this machine in its cluster: the stored one, with the values of the options in place of the
/// stored values. From a state that other users may have written, only the names are taken, and the options `--name`
/// and `--etcd` are needed.
private func identity(_ run: inout CommandRun, _ store: StateStore) throws -> MachineIdentity {
    let old = try MachineIdentity.load(store)
    var identity: MachineIdentity
    if let old {
        identity = old
        let name = try run.arguments.text("name")
        if let name, name != old.name {
            throw run.arguments.usageError("this container is in the cluster '\(old.name)'; leave it first")
        }
        if !store.isTrusted {
            let isStated = try name != nil && run.arguments.text("etcd") != nil
            if !isStated { throw StateDirectory.isNotTrusted }
            identity = MachineIdentity(
                name: old.name, host: hostName(), machineText: old.machineText, endpoints: [])
        }
    } else {
        guard let name = try run.arguments.text("name"), ClusterKeys.isName(name) else {
            throw run.arguments.usageError(
                "--name takes letters, digits, '-', '_' and '.'; it is needed the first time")
        }
        identity = MachineIdentity(
            name: name, host: hostName(), machineText: ClusterName.fresh().text, endpoints: [])
    }
    if let etcd = try run.arguments.text("etcd") {
        identity.endpoints = etcd.split(separator: ",").map { String($0) }
        do throws(EtcdFailure) {
            _ = try EtcdConfiguration(endpoints: identity.endpoints)
        } catch {
            guard case .unreachable(let text) = error else { throw error }
            throw run.arguments.usageError("--etcd: \(text)")
        }
    }
    if identity.endpoints.isEmpty { throw run.arguments.usageError("--etcd is needed the first time") }
    if let host = try run.arguments.text("host") { identity.host = host }
    if let user = try run.arguments.text("user") { identity.user = user }
    // The path is made absolute, because a service may have another working directory.
    if let file = try run.arguments.text("password-file") { identity.passwordFile = absolute(file) }
    if let file = try run.arguments.text("authority") { identity.authorityFile = absolute(file) }
    if let text = try run.arguments.text("budget") {
        guard let budget = UInt64(text), MachineIdentity.budgets.contains(budget) else {
            throw run.arguments.usageError("--budget takes a number of MiB, from 1 to 1048576")
        }
        identity.budgetMebibytes = budget
    }
    if identity != old || !store.isTrusted { try identity.save(store) }
    try store.trust()
    return identity
}

private func showStatus(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    var (_, status) = try records(container)
    let isRunning = try SoleProcess.isThere(for: .cluster, of: container)
    if isRunning, let text = FullDiskNote(container).text { (status.isConnected, status.failure) = (false, text) }
    let isStuck = status.failure != nil && status.toSend + status.toApply > 0
    let isUp = isRunning && status.isConnected && status.paused == nil && status.withheld == nil && !isStuck
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([
                ("name", .string(status.name)), ("host", .string(status.host)), ("machine", .string(status.machine)),
                ("etcd", .array(status.endpoints.map { .string($0) })),
                ("process", isRunning ? .integer(Int64(status.processIdentifier)) : .null),
                ("connected", .bool(isRunning && status.isConnected)), ("since", .string(text(status.since))),
                ("index", .integer(Int64(clamping: status.index))),
                ("behind", .integer(Int64(clamping: status.count) - Int64(clamping: status.index))),
                ("asOf", status.readAt.map { .string(text($0)) } ?? .null),
                ("toApply", .integer(Int64(status.toApply))), ("toSend", .integer(Int64(status.toSend))),
                ("conflicts", .array(status.conflicts.map { .string($0.copy) })),
                (
                    "unmirrored",
                    .array(
                        status.unmirrored.map {
                            .object([("path", .string($0.path)), ("reason", .string($0.reason))])
                        })
                ),
                ("ignored", .integer(Int64(status.ignored?.count ?? 0))),
                (
                    "ignoreFaults",
                    .array(
                        (status.ignored?.faults ?? []).map {
                            .object([("path", .string($0.path)), ("reason", .string($0.reason))])
                        })
                ),
                ("paused", status.paused.map { .string($0) } ?? .null),
                ("withheld", .integer(Int64(status.withheld ?? 0))),
                ("replaced", .array((status.replaced ?? []).map { .string($0) })),
                ("failure", status.failure.map { .string($0) } ?? .null),
                ("remedy", status.remedy.map { .string($0) } ?? .null),
                ("machines", .array((status.machines ?? []).map { $0.json(of: status.count) })),
            ]).encoded())
        return isUp ? .success : .unavailable
    }
    let connection =
        !isRunning
        ? "the program does not run"
        : status.paused.map { "paused: \($0)" }
            ?? (status.isConnected ? "connected since" : "not connected since") + " \(text(status.since))"
    var lines = [
        "cluster    \(status.name), as \(status.host) (\(status.machine))",
        "etcd       \(status.endpoints.joined(separator: ", "))", "state      \(connection)",
        "behind     \(status.count - min(status.index, status.count)) entries of \(status.count)"
            + (status.readAt.map { ", as of \(text($0))" } ?? ""),
        "to apply   \(status.toApply)", "to send    \(status.toSend)",
    ]
    if let withheld = status.withheld {
        lines.append("withheld   \(withheld) removals: \(Acceptance.reasonToWithhold); see 'group-cluster accept'")
    }
    if let failure = status.failure { lines.append("failure    \(failure)") }
    if let remedy = status.remedy { lines.append("remedy     \(remedy)") }
    let isFresh = isRunning && status.isConnected
    lines += (status.machines ?? []).flatMap { machine in
        machine.lines(of: status.count, isFresh: isFresh).map { "machine    \($0)" }
    }
    for file in status.replaced ?? [] { lines.append("replaced   values for which the cluster has others: \(file)") }
    for conflict in status.conflicts { lines.append("conflict   \(conflict.copy), since \(text(conflict.foundAt))") }
    for item in status.unmirrored { lines.append("not mirrored \(item.path): \(item.reason)") }
    if let ignored = status.ignored {
        if ignored.count > 0 { lines.append("ignored    \(ignored.count) items, by .groupignore") }
        for file in ignored.faults { lines.append("ignored    not all of \(file.path) is used: \(file.reason)") }
    }
    // For a person, a backslash is not doubled: paths and reasons have escapes already. `--json` is unambiguous.
    for line in lines {
        try run.output.writeLine(TerminalName.line(of: [line]).replacing(#"\\"#, with: #"\"#))
    }
    return isUp ? .success : .unavailable
}

private func text(_ date: Date) -> String { date.formatted(.iso8601) }

private func showResult(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    let (records, _) = try records(container)
    guard let operation = run.arguments.positional("OPERATION").map({ String(decoding: $0, as: UTF8.self) }),
        ClusterName(text: operation) != nil
    else { throw run.arguments.usageError("OPERATION is 32 hexadecimal digits") }
    let outcome = records.outcome(of: operation)
    let reason = records.request(operation)?.reason
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([
                ("operation", .string(operation)), ("outcome", .string(outcome.rawValue)),
                ("reason", reason.map { .string($0) } ?? .null),
            ]).encoded())
    } else {
        try run.output.writeLine(TerminalName.line(of: [outcome.rawValue] + (reason.map { [$0] } ?? [])))
    }
    return outcome == .forgotten ? .notFound : .success
}

private func accept(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    let (records, status) = try records(container)
    let nothing = "nothing to accept: this machine is not paused, and withholds nothing"
    let update = "nothing to accept: update this program, and start it"
    guard let right = try SoleProcess(for: .cluster, of: container) else {
        if status.paused == Pause.newerVersion.reason {
            run.complain(update)
        } else if status.paused == nil && status.withheld == nil {
            run.complain(nothing)
        } else {
            try records.decide(
                status.paused == nil ? .sendRemovals : .joinAnew, removals: status.withheld ?? 0,
                timeout: run.lockTimeout)
        }
        return .success
    }
    let store = try StateStore(container)
    defer { store.close() }
    switch try Acceptance.accept(store, container) {
    case .removals, .joinsAnew: break
    case .newerVersionIsNeeded: run.complain(update)
    case .nothing: run.complain(nothing)
    }
    return withExtendedLifetime(right) { .success }
}

/// Finishes the work on files that came out of the container.
private func finishTaken(in container: Container) throws {
    let store = try StateStore(container)
    defer { store.close() }
    guard let identity = try MachineIdentity.load(store) else { return }
    let machine = try Machine(
        container, identity, store, EtcdConfiguration(endpoints: identity.endpoints), FullDisk())
    try machine.finishTaken(waiting: 5_000_000_000)
}

private func leave(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    let right = try right(to: container, for: "leave the cluster")
    let (records, _) = try records(container)
    do {
        try finishTaken(in: container)
    } catch let error as CoordinationError where error.code == .damaged {
        // Leaving the cluster is the remedy for a damaged state, so the command goes on.
        run.complain("\(error); what stood at the place of files that were being replaced may be lost")
    }
    if let failure = forgetNotes(of: container) {
        run.complain("the other machines go on listing this one: \(failure)")
    }
    for request in records.requests() { try records.remove(request: request.operation) }
    for lock in records.locks() { try records.remove(lock: lock.identifier) }
    for name in container.channelNames() {
        try GroupChannel(container, name: name, purpose: "cluster").setRelay(after: nil)
    }
    // Messages that the cluster does not have yet are posted on this machine only. While the container counts as one of
    // a cluster, the first message of a channel would be recorded for the cluster again.
    try records.set(nil)
    for post in records.posts() {
        let channel = try GroupChannel(container, name: post.channel, purpose: post.purpose)
        if let content = post.content { try channel.post(bytes: Array(content)) } else { try channel.signal() }
        try records.remove(post: post.identifier)
    }
    try StateStore.remove(from: container)
    return withExtendedLifetime(right) { .success }
}
