import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The reason why this machine itself refuses a request.
private struct RefusedRequest: Error {
    let code: CoordinationError.Code
    let reason: String
}

/// Sends the strict changes that processes of this machine request. The records of the requests are their queue: see
/// `StrictQueue` for the states of a request.
extension Machine {
    /// How long the record of a finished request is kept, so that its fate can be read, in nanoseconds of this run.
    private static let kept: Int64 = 7 * 86_400 * 1_000_000_000
    private static let mostKept = 1_000
    /// How long a request waits that cannot be sent, in nanoseconds of this run. A caller gives up earlier, unless it
    /// was killed.
    private static let longestWait: Int64 = 600 * 1_000_000_000

    /// Takes the requests and locks that are recorded.
    func takeRecords() throws {
        try book.update()
        if let decision = book.decision, decision.answer == nil { try accept(decision) }
        var recorded: [(name: ClusterName, request: ClusterRequest)] = []
        for request in book.requestsInOrder {
            if let name = ClusterName(text: request.operation), name != .zero {
                recorded.append((name, request))
            } else {
                try records.remove(request: request.operation)
            }
        }
        let now = monotonicNanoseconds()
        requests.look(at: recorded.map(\.name), now: now)
        // Changes that were made here before the request are sent before it.
        try takeChanges()
        // A request waits until everything that was set in suites before it is in the outbox.
        let isBehind = outbox.waitingCount > Self.mostWaiting && suites.haveUnread
        let readUntil = isBehind ? 0 : suites.readUntil
        for (name, request) in recorded where !request.state.isOver {
            // The request ends when it is applied here, even if its caller no longer waits: the state `accepted` means
            // that this machine has the change.
            if requests.accepted[name] != nil { continue }
            let isTooOld = requests.age(of: name, at: now) > Self.longestWait
            if outbox.inFlight?.entry.operation != name && !requests.isQueued(name) {
                if try resolve(name) { continue }
                let isOver = request.isGivenUp || isTooOld
                if !isOver && request.queuedAt.timeIntervalSince1970 * 1e9 > Double(readUntil) {
                    // Some suite has changes from before the request that are not read yet.
                    recordsChanged.withLock { $0 = true }
                    continue
                }
                requests.queue(name)
                outbox.add(.entry(ClusterEntry(name, isStrict: true), nil))
            }
            if request.isGivenUp || isTooOld {
                toStore.isOutboxChanged = true
                if outbox.giveUp(name, empty: .fresh(), mayBeCommitted: commits.mayBeCommitted) != nil {
                    try end(name, .unavailable, unreachable)
                }
            }
        }
        let over = recorded.filter { $0.request.state.isOver }
        for (index, each) in over.enumerated()
        where index + Self.mostKept < over.count || requests.age(of: each.name, at: now) > Self.kept {
            try records.remove(request: each.request.operation)
        }
        try locks.takeRecords()
        try takeStateRequests()
        try sweep(Set(recorded.filter { !$0.request.state.isOver }.map(\.request.operation)))
    }

    /// Removes the staged contents of requests that are over, and of callers that were killed before they recorded a
    /// request.
    private func sweep(_ present: Set<String>) throws {
        let directory = try ClusterRecords.contents(of: container).open()
        for name in try directory.entryNames() {
            let operation = String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
            if present.contains(operation) { continue }
            if try Presence.isThere(ClusterRecords.caller(of: operation), in: container) { continue }
            try? directory.unlink(name)
        }
    }

    private var unreachable: String {
        if let pause = currentPause { return "the cluster's program is paused: \(pause.reason)" }
        return history.isConnected
            ? "it was not sent in time"
            : "the cluster is not connected\(report.failures.shown.map { ": \($0.text)" } ?? "")"
    }

    /// Finds the fate of a request that was folded before the last run could record it. Returns false if the request is
    /// not this machine's last entry.
    private func resolve(_ operation: ClusterName) throws -> Bool {
        guard let last = fold.machines[outbox.machine], last.operation == operation else { return false }
        try end(operation, last.outcome == .accepted ? .accepted : .conflict, nil)
        return true
    }

    // MARK: Sending

    /// Puts a strict request in flight.
    func prepare(request operation: ClusterName) throws {
        requests.take(operation)
        guard let request = book.requests[operation.text], !request.state.isOver else { return }
        if request.isGivenUp { return try end(operation, .unavailable, unreachable) }
        do {
            // What is ignored here is mirrored from now on: it would be in the way.
            for part in request.parts where part.action != .check {
                for path in [part.path, part.destination] {
                    try path.map { try disk.takeOverIgnored(at: Array($0.utf8)) }
                }
            }
            let parts = try parts(of: request)
            let changes = try mirror.changes(for: parts, on: disk.tree, operation: operation)
            if changes.isEmpty {
                requests.accept(operation, [])
                return
            }
            let author = Array("\(request.purpose)@\(identity.host)".utf8.prefix(ClusterEntry.longestAuthor))
            let entry = ClusterEntry(operation, isStrict: true, changes, author: author)
            var token: LockToken?
            if let lock = request.lock, let grant = request.grant.flatMap({ ClusterName(text: $0) }) {
                token = LockToken(lock: Array(lock.utf8), grant: grant)
            }
            // Its caller can take the request back until this is recorded, and not after that.
            if request.state == .waiting, try !records.beginSending(operation.text) {
                return try end(operation, .unavailable, unreachable)
            }
            if !outbox.send(entry, token: token) {
                return try end(
                    operation, .failed, "a name is not allowed, a path is too deep, or there are too many changes")
            }
            commits.begin()
            toStore.isOutboxChanged = true
        } catch let fault as StrictFault {
            switch fault {
            case .conflict(let reason): try end(operation, .conflict, reason)
            case .invalid(let reason): try end(operation, .failed, reason)
            case .unsent(let local):
                outbox.add(.item(local))
                again(operation)
            case .stale: again(operation)
            }
        } catch let refused as RefusedRequest {
            try end(operation, .failed, refused.reason, refused.code)
        }
    }

    /// Queues a request again, behind the changes that must be sent or applied before it.
    private func again(_ operation: ClusterName) {
        requests.again(operation, at: monotonicNanoseconds())
        outbox.add(.entry(ClusterEntry(operation, isStrict: true), nil))
    }

    private func parts(of request: ClusterRequest) throws -> [StrictPart] {
        if request.parts.count > ClusterRequest.terms.largestCount {
            throw StrictFault.invalid("it has too many changes")
        }
        let directory = try ClusterRecords.contents(of: container).open()
        // The paths whose items earlier parts remove or move away. A later part does not find what is still at such a
        // path.
        var vacated: [[FileName]] = []
        let isVacated = request.parts.map { part in
            let path = Self.names(part.path)
            defer { if [.remove, .move].contains(part.action) { vacated.append(path) } }
            return vacated.contains { path.starts(with: $0) }
        }
        // All conditions are checked before any content is copied.
        for (part, isVacated) in zip(request.parts, isVacated)
        where part.isConditional && !(isVacated && part.before == nil) { try check(part) }
        return try zip(request.parts, isVacated).map { part, isVacated throws in
            let path = Self.names(part.path)
            switch part.action {
            case .check: return .check(path)
            case .createDirectory: return .createDirectory(path)
            case .remove: return .remove(path)
            case .move: return .move(path, to: Self.names(part.destination ?? ""))
            case .write:
                guard let name = part.content else { throw StrictFault.invalid("a write without a content") }
                let digest: [UInt8]
                do throws(Errno) {
                    let file = try FileDescriptor.open(
                        Array(name.utf8), in: directory, .readingItself)
                    let status = try file.status()
                    if !status.isRegularFile { throw .invalid }
                    if status.size > LocalDisk.largestFile { throw .tooLarge }
                    guard let kept = try contents.keep(file) else { throw .inputOutput }
                    digest = kept
                } catch {
                    let code: CoordinationError.Code =
                        error == .tooLarge
                        ? .limitReached : CoordinationError(error, operation: "replicate", item: part.path).code
                    throw RefusedRequest(code: code, reason: "its content cannot be kept: \(error)")
                }
                let old = disk.item(at: Array(part.path.utf8)).flatMap { disk.tree[$0]?.content }
                let mode = part.mode ?? (old?.kind == .file ? old?.mode : nil) ?? 0o644
                return .write(
                    path, ItemContent(.file, mode: mode & 0o777, digest),
                    mustBe: part.isConditional && !isVacated ? part.before != nil : nil)
            }
        }
    }

    /// Compares the item's generation with the one that the caller has seen.
    private func check(_ part: Proposal.Part) throws {
        let now: Generation?
        do {
            now = try container.coordinator(purpose: "cluster").blocking.generation(
                of: ItemPath(part.path), timeout: .milliseconds(5))
        } catch let error as CoordinationError {
            if error.code == .lockTimedOut { throw StrictFault.stale(.root) }
            throw RefusedRequest(code: error.code, reason: error.reason)
        }
        if now?.rawValue != part.before { throw StrictFault.conflict("the item was changed here since") }
    }

    private static func names(_ path: String) -> [FileName] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
    }

    // MARK: Fates

    /// Takes the fate of a strict entry.
    func finish(_ operation: ClusterName, _ fate: Fate, _ items: Set<ItemName> = [], reason: String? = nil) throws {
        switch fate {
        case .accepted: requests.accept(operation, items)
        case .unavailable: try end(operation, .unavailable, unreachable)
        case .conflict:
            guard let request = book.requests[operation.text] else { return }
            // A request without a condition replaces whatever is there when its turn comes, so it is sent again with
            // new bases.
            let isFree = request.parts.allSatisfy { !$0.isConditional }
            let isAllowed = requests.refused(operation)
            if reason == nil && isFree && !request.isGivenUp && isAllowed { return again(operation) }
            try end(operation, .conflict, reason ?? "another machine has changed the item since")
        }
    }

    /// Ends the accepted requests whose changes are applied here.
    func finishAccepted() throws {
        if requests.accepted.isEmpty { return }
        for operation in requests.applied(isStale: mirror.stale.contains) { try end(operation, .accepted, nil) }
    }

    private func end(
        _ operation: ClusterName, _ state: ClusterRequest.State, _ reason: String?,
        _ code: CoordinationError.Code? = nil
    ) throws {
        // The fate is stored before the record shows it. An accepted request stays stored until then.
        requests.end(operation, isAccepted: state == .accepted)
        // A power cut must not bring back in flight a request whose record says that it was not sent.
        if state == .unavailable && toStore.isOutboxChanged { toStore.mustBeDurable = true }
        try storeState()
        defer { requests.forget(operation) }
        let limit = monotonicNanoseconds() + 200_000_000
        var generations: [UInt64] = []
        if state == .accepted, let request = book.requests[operation.text] {
            for part in request.parts where part.action != .check {
                let path = ItemPath(part.destination ?? part.path)
                let generation = try? container.coordinator(purpose: "cluster").blocking.generation(
                    of: path, timeout: .nanoseconds(max(0, limit - monotonicNanoseconds())))
                generations.append((generation ?? nil)?.rawValue ?? 0)
            }
        }
        try records.update(operation.text) { request in
            if request.state.isOver { return false }
            (request.state, request.reason, request.code) = (state, reason, code?.rawValue)
            request.generations = generations
            return true
        }
    }
}
