package import GroupContainer
import GroupLocking
import GroupSystemCalls

/// A lock that one process of all machines of the cluster has at a time. The lock protects nothing by itself. Its grant
/// is the fencing token of the strict requests that are made under it, and the cluster refuses these once this machine
/// has lost the lock.
///
/// The lock ends with `release`, with this object, or with this process, since the machine's program finds that the
/// process is no longer present. The program removes the record of the lock.
package final class ClusterLock: Sendable {
    /// The name of the lock.
    package let name: String
    /// The name of the grant: the fencing token.
    package let grant: String
    /// The request, with the presence of its caller; nil after the release.
    private let request: Guarded<Request?>

    private init(_ request: Request, grant: String) {
        self.request = Guarded(request)
        self.grant = grant
        name = request.name
    }

    deinit { release() }

    var token: StrictCall.Token { StrictCall.Token(lock: name, grant: grant) }

    /// Waits for a lock, and blocks the thread. When the lock is granted, everything that was committed before the
    /// grant is applied here. Errors: `unavailable`; `lockTimedOut`; `deadlock` if the calling code holds a lock on an
    /// item
    package static func acquireBlocking(
        _ name: String, in container: Container, timeout: Duration?
    ) throws(CoordinationError) -> ClusterLock {
        try container.locating { () throws(CoordinationError) -> ClusterLock in
            try ClusterPresence.checkHoldsNothing(operation(name), item(name))
            var request = try Request(name, in: container, timeout)
            while true {
                do throws(CoordinationError) {
                    if let grant = try request.look() { return ClusterLock(request, grant: grant) }
                    try request.wait.block()
                } catch {
                    request.giveUp()
                    throw error
                }
            }
        }
    }

    /// Waits for a lock, and suspends the task. Errors: those of `acquireBlocking`, and `cancelled`
    package static func acquire(
        _ name: String, in container: Container, timeout: Duration?
    ) async throws -> ClusterLock {
        try container.locating { () throws(CoordinationError) in
            try ClusterPresence.checkHoldsNothing(operation(name), item(name))
        }
        var request = try await OwnThread.run {
            try container.locating { () throws(CoordinationError) in try Request(name, in: container, timeout) }
        }
        while true {
            do throws(CoordinationError) {
                if Task.isCancelled {
                    throw CoordinationError(
                        .cancelled, operation: operation(name), item: item(name), reason: "the request was cancelled")
                }
                if let grant = try request.look() { return ClusterLock(request, grant: grant) }
            } catch {
                request.giveUp()
                throw error.located(in: container)
            }
            await request.wait.suspend()
        }
    }

    /// Releases the lock, and blocks the thread until etcd has said that this grant had it to the end. (A name of a
    /// grant is used once, so the lock was not lost in between either.) The lock is released in any case. Errors:
    /// `conflict` if the lock was lost: another process may have had it since; `unavailable` if etcd did not say it
    /// within `timeout`
    package func finishBlocking(timeout: Duration?) throws(CoordinationError) {
        let last = request.withLock { request in
            defer { request = nil }
            return request
        }
        guard var last else { return }
        defer { last.giveUp() }
        try last.prove(until: Deadline(after: timeout))
    }

    /// Releases the lock. A second call does nothing.
    package func release() {
        let last = request.withLock { request in
            defer { request = nil }
            return request
        }
        last?.giveUp()
    }

    /// Returns whether a lock is requested only for the wait before its grant: it is none in etcd. The name of such a
    /// lock is left out of errors.
    package static func isBarrier(_ name: String) -> Bool { name.utf8.starts(with: barrier.utf8) }

    /// The operation and the item of a request, for errors.
    private static func operation(_ name: String) -> String { isBarrier(name) ? "catch up" : "lock" }
    private static func item(_ name: String) -> String? { isBarrier(name) ? nil : name }

    /// The beginning of the names of locks that are requested only for the wait before their grant. The byte 0 is in no
    /// name of a command line, and in no path.
    private static let barrier = "\0latest/"

    /// Returns a name for a lock that no other caller requests. The grant of this lock shows that this machine has
    /// caught up.
    static func newBarrier() -> String { barrier + ClusterRecords.newName() }

    /// A request for a lock: its record, and the wait for the grant.
    private struct Request: Sendable {
        let name: String
        let records: ClusterRecords
        let identifier = ClusterRecords.newName()
        /// The sign that this process still wants the lock.
        let presence: Presence
        var wait: RecordWait

        init(_ name: String, in container: Container, _ timeout: Duration?) throws(CoordinationError) {
            self.name = name
            let limit = Deadline(after: timeout)
            records = try ClusterRecords(container)
            try ClusterPresence.check(
                container, records, ClusterLock.operation(name), ClusterLock.item(name))
            presence = try Presence(ClusterRecords.presence(identifier), in: container)
            wait = RecordWait(try records.changes(ofLock: identifier), until: limit)
            try records.add(
                ClusterLockRequest(identifier: identifier, lock: name, processIdentifier: processIdentifier()))
        }

        private var isBarrier: Bool { ClusterLock.isBarrier(name) }

        /// Returns the grant; nil while the wait goes on. Errors: `unavailable`, `lockTimedOut`, and those of the
        /// follower
        mutating func look() throws(CoordinationError) -> String? {
            try wait.pass()
            let lock = records.lock(identifier)
            switch lock?.state {
            case .granted?: if let grant = lock?.grant { return grant }
            case .waiting?: break
            case .ended?, nil: throw unavailable("the lock was lost before it was granted")
            }
            if !wait.isOver { return nil }
            if records.status?.isConnected == false { throw unavailable("the cluster was not reached in time") }
            throw CoordinationError(
                .lockTimedOut, operation: ClusterLock.operation(name), item: ClusterLock.item(name),
                reason: isBarrier
                    ? "this machine has not got what the others have changed in time"
                    : "the cluster has not granted the lock in time: another machine may have it")
        }

        /// Waits until etcd has said that the grant still has the lock. Errors: see `finishBlocking`
        mutating func prove(until limit: Deadline) throws(CoordinationError) {
            _ = try records.update(lock: identifier) { lock in
                if lock.state != .granted { return false }
                lock.proof = .wanted
                return true
            }
            wait.limit = limit
            while true {
                try wait.pass()
                let lock = records.lock(identifier)
                if lock?.state != .granted {
                    throw CoordinationError(
                        .conflict, operation: ClusterLock.operation(name), item: ClusterLock.item(name),
                        reason: "the lock was lost meanwhile, and another machine may have had it since",
                        remedy: .init(.readAgain, "see what the other machine has done, and decide again"))
                }
                if lock?.proof == .given { return }
                if wait.isOver {
                    throw CoordinationError(
                        .unavailable, operation: ClusterLock.operation(name), item: ClusterLock.item(name),
                        reason: "etcd was not reached in time: whether the lock was held to the end is not known",
                        remedy: .init(.readAgain, "see what the other machines have done, and decide again"))
                }
                try wait.block()
            }
        }

        private func unavailable(_ reason: String) -> CoordinationError {
            CoordinationError(
                .unavailable, operation: ClusterLock.operation(name), item: ClusterLock.item(name),
                reason: reason,
                remedy: .init(.tryAgain, "nothing was changed; try again"))
        }

        /// Records that the lock is no longer wanted.
        func giveUp() {
            _ = try? records.update(lock: identifier) { lock in
                if lock.isGivenUp { return false }
                lock.isGivenUp = true
                return true
            }
        }
    }
}
