package import GroupContainer
import GroupLocking
import GroupSystemCalls

/// A lock that one process of one machine of the cluster has at a time. It protects nothing by itself: its grant is the token of
/// the strict requests that are committed under it, and a machine that has lost the lock has them refused.
///
/// The lock ends with `release`, with this object, or with this process: the program notices the end of its presence. What was
/// recorded about it is the program's to remove.
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

    /// Waits for a lock, blocking the thread. Everything that was committed before the grant is applied here then. Errors:
    /// `unavailable`; `lockTimedOut`; `deadlock` where the calling code holds a lock on an item
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

    /// Waits for a lock, suspending the task. Errors: those of `acquireBlocking`, and `cancelled`
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

    /// Gives the lock back. A second call does nothing.
    package func release() {
        let last = request.withLock { request in
            defer { request = nil }
            return request
        }
        last?.giveUp()
    }

    /// Whether a lock is requested only for the wait before its grant; then its name says nothing.
    private static func isBarrier(_ name: String) -> Bool { name.utf8.starts(with: barrier.utf8) }

    /// What the request is about, for errors.
    private static func operation(_ name: String) -> String { isBarrier(name) ? "catch up" : "lock" }
    private static func item(_ name: String) -> String? { isBarrier(name) ? nil : name }

    /// The beginning of the names of locks that are requested only for the wait before their grant. No path begins with it, so
    /// no other request has such a name.
    private static let barrier = "/latest/"

    /// Returns a name for a lock that no other caller requests: its grant shows that this machine has caught up.
    static func newBarrier() -> String { barrier + ClusterRecords.newName() }

    /// The record of a lock that is asked for, and the wait for it.
    private struct Request: Sendable {
        let name: String
        let records: ClusterRecords
        let identifier = ClusterRecords.newName()
        /// This process is present as long as it wants the lock.
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

        /// Returns the grant; nil where the wait goes on.
        mutating func look() throws(CoordinationError) -> String? {
            try wait.pass()
            let lock = records.lock(identifier)
            switch lock?.state {
            case .granted?: if let grant = lock?.grant { return grant }
            case .waiting?: break
            case .failed?: throw unavailable(lock?.reason ?? "the cluster was not reached")
            case .ended?, nil: throw unavailable(lock?.reason ?? "the lock was lost before it was granted")
            }
            if !wait.isOver { return nil }
            if records.status?.isConnected == false { throw unavailable("the cluster was not reached in time") }
            throw CoordinationError(
                .lockTimedOut, operation: ClusterLock.operation(name), item: ClusterLock.item(name),
                reason: isBarrier
                    ? "this machine has not got what the others have changed in time"
                    : "the cluster has not granted the lock in time: another machine may have it")
        }

        private func unavailable(_ reason: String) -> CoordinationError {
            CoordinationError(
                .unavailable, operation: ClusterLock.operation(name), item: ClusterLock.item(name),
                reason: reason,
                remedy: .init(.tryAgain, "nothing was changed; try again"))
        }

        /// Records that the lock is wanted no more.
        func giveUp() {
            _ = try? records.update(lock: identifier) { lock in
                if lock.isGivenUp { return false }
                lock.isGivenUp = true
                return true
            }
        }
    }
}
