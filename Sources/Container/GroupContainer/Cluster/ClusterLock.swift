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
        (self.request, self.grant, name) = (Guarded(request), grant, request.name)
    }

    deinit { release() }

    var token: StrictCall.Token { StrictCall.Token(lock: name, grant: grant) }

    /// Waits for a lock, blocking the thread. Everything that was committed before the grant is applied here then. Errors:
    /// `unavailable`; `lockTimedOut`; `deadlock` where the calling code holds a lock on an item
    package static func acquireBlocking(
        _ name: String, in container: Container, timeout: Duration?
    ) throws(CoordinationError) -> ClusterLock {
        let opened = container.opened
        return try opened.locating { () throws(CoordinationError) -> ClusterLock in
            try ClusterPresence.checkHoldsNothing(operation, name)
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
        let opened = container.opened
        try opened.locating { () throws(CoordinationError) in try ClusterPresence.checkHoldsNothing(operation, name) }
        var request = try await OwnThread.run {
            try opened.locating { () throws(CoordinationError) in try Request(name, in: container, timeout) }
        }
        while true {
            do throws(CoordinationError) {
                if Task.isCancelled {
                    throw CoordinationError(
                        .cancelled, operation: operation, item: name, reason: "the request was cancelled")
                }
                if let grant = try request.look() { return ClusterLock(request, grant: grant) }
            } catch {
                request.giveUp()
                throw error.located(in: opened)
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

    private static let operation = "lock"

    /// The beginning of the names of locks that are requested only for the wait before their grant. No path begins with it, so
    /// no other request has such a name.
    fileprivate static let barrier = "/latest/"

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
            try ClusterPresence.check(container, records, operation, name)
            presence = try Presence(ClusterRecords.presence(identifier), in: container)
            wait = RecordWait(try records.changes(ofLock: identifier), until: limit)
            try records.add(
                ClusterLockRequest(identifier: identifier, lock: name, processIdentifier: processIdentifier()))
        }

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
            let isBarrier = name.utf8.starts(with: ClusterLock.barrier.utf8)
            throw CoordinationError(
                .lockTimedOut, operation: operation, item: name,
                reason: isBarrier
                    ? "this machine has not got what the others have changed in time"
                    : "the cluster has not granted the lock in time: another machine may have it")
        }

        private func unavailable(_ reason: String) -> CoordinationError {
            CoordinationError(
                .unavailable, operation: operation, item: name, reason: reason,
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

extension ItemCall {
    static func updateInCluster(_ path: ItemPath) -> ItemCall {
        ItemCall(operation: "update", intents: [.writing(path)])
    }
}

extension Access {
    /// Returns an item's content with the condition that it has not changed since.
    fileprivate func base(of path: ItemPath) throws(CoordinationError) -> (content: [UInt8]?, WriteCondition) {
        let version = try ifPresent { () throws(CoordinationError) in try readVersion(path) }
        return (version?.value, version.map { .generation($0.generation) } ?? .absent)
    }
}

extension Coordinator {
    /// Replaces an item's content with what `body` returns for its present content (nil: absent), on one machine of the container's
    /// cluster at a time. `body` runs with the cluster's lock on the path, and with no lock of this machine: local processes go on,
    /// and an item that any of them changes meanwhile is a conflict. The change is replicated, see `Durability.replicated`; it is
    /// refused if this machine has lost the lock meanwhile.
    ///
    /// `timeout` limits the wait for the cluster's lock, and then the wait for the answer. If `body` throws, nothing is changed. Errors:
    /// those of a replicated `write(bytes:to:if:)` and of `body`; `lockTimedOut` where another machine has the lock.
    @discardableResult
    public func updateInCluster(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable ([UInt8]?) async throws -> [UInt8]
    ) async throws -> WriteResult {
        let call = ItemCall.updateInCluster(path)
        let name = try container.locating { () throws(CoordinationError) in try path.checkedText(for: call.operation) }
        let lock = try await ClusterLock.acquire(name, in: Container(container), timeout: timeout)
        defer { lock.release() }
        let (content, condition) = try await underLock(.read(path), .relaxed, timeout) { try $0.base(of: path) }
        let bytes = try await body(content)
        return try await replicate(call, timeout, under: lock.token) {
            try $0.write(bytes: bytes, to: path, if: condition)
        }.outcome.result
    }
}

extension Coordinator {
    /// Waits until this machine has everything that the container's cluster had accepted when this was called. A read after that
    /// returns what no machine had replaced by then; an item that a process of this machine has locked, or whose presenters
    /// do not answer, may still be the older one.
    ///
    /// Makes the machine's program commit a key of its own in etcd, and remove it afterwards: a quorum's yes, not one node's.
    /// `timeout` limits the wait. Errors: `unavailable` where the container is in no cluster or the cluster was not reached;
    /// `lockTimedOut` where this machine has not caught up in time; `deadlock` where the calling code holds a lock on an item;
    /// `cancelled`
    public func catchUpWithCluster(timeout: Duration? = Coordinator.lockTimeout) async throws {
        let name = ClusterLock.barrier + ClusterRecords.newName()
        try await ClusterLock.acquire(name, in: Container(container), timeout: timeout).release()
    }
}

extension BlockingCoordinator {
    /// Waits until this machine has everything that the container's cluster had accepted when this was called. See
    /// `Coordinator.catchUpWithCluster`.
    public func catchUpWithCluster(timeout: Duration? = Coordinator.lockTimeout) throws {
        let name = ClusterLock.barrier + ClusterRecords.newName()
        try ClusterLock.acquireBlocking(name, in: Container(coordinator.container), timeout: timeout).release()
    }

    /// Replaces an item's content with what `body` returns for its present content (nil: absent), on one machine of the container's
    /// cluster at a time. See `Coordinator.updateInCluster`.
    @discardableResult
    public func updateInCluster(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout, _ body: ([UInt8]?) throws -> [UInt8]
    ) throws -> WriteResult {
        let (call, container) = (ItemCall.updateInCluster(path), coordinator.container)
        let name = try container.locating { () throws(CoordinationError) in try path.checkedText(for: call.operation) }
        let lock = try ClusterLock.acquireBlocking(name, in: Container(container), timeout: timeout)
        defer { lock.release() }
        let (content, condition) = try underLock(.read(path), .relaxed, timeout) { try $0.base(of: path) }
        let bytes = try body(content)
        return try replicate(call, timeout, under: lock.token) {
            try $0.write(bytes: bytes, to: path, if: condition)
        }.outcome.result
    }
}
