import GroupLocking
import GroupBytes
import GroupSystemCalls

/// The locks on the items of one request, and the one way to take them: the items of a process that died are repaired
/// before the caller sees them, and failures become `CoordinationError`s.
struct ItemLocks: Sendable {
    private let container: OpenContainer
    private let request: LockRequest
    private let operation: String

    init(
        _ items: Few<LockRequest.Item>, of container: OpenContainer, for purpose: [UInt8],
        operation: String, answering answer: WaitGraph.Owner? = nil
    ) {
        self.container = container
        self.operation = operation
        request = LockRequest(items, by: container.lockManager, for: purpose, answering: answer)
    }

    /// Waits for the locks, blocking the thread. Errors: `lockTimedOut` with the holders, `deadlock`, `forked`, those
    /// of repairs, `cancelled`
    func acquireBlocking(
        until deadline: Deadline, orUntil cancellation: Cancellation? = nil
    ) throws(CoordinationError) -> HeldLock {
        if let lock = try atOnce(deadline) { return try repaired(lock, until: deadline) }
        try prepare()
        let lock: HeldLock
        do throws(LockFailure) {
            lock = try request.acquireBlocking(until: deadline, orUntil: cancellation)
        } catch {
            throw translated(error, deadline)
        }
        try checkIsThere(lock)
        return try repaired(lock, until: deadline)
    }

    /// Waits for the locks, suspending the task. A task that is cancelled in the moment of the grant gets no lock.
    /// Errors: as above, and `cancelled`
    func acquire(until deadline: Deadline) async throws(CoordinationError) -> HeldLock {
        if let lock = try atOnce(deadline) { return try await repairedElsewhere(lock, until: deadline) }
        try prepare()
        let lock: HeldLock
        do throws(LockFailure) {
            lock = try await request.acquire(until: deadline)
        } catch {
            throw translated(error, deadline)
        }
        try checkIsThere(lock)
        return try await repairedElsewhere(lock, until: deadline)
    }

    private func atOnce(_ deadline: Deadline) throws(CoordinationError) -> HeldLock? {
        try container.checkIsNotNoted(operation)
        do throws(LockFailure) {
            return try request.acquireAtOnce()
        } catch {
            throw translated(error, deadline)
        }
    }

    /// Checks what a request that may have to wait needs.
    private func prepare() throws(CoordinationError) {
        try container.checkNotForked(operation)
        // A request may be for one of the library's own files, which no intent names.
        if let readOnly = container.readOnly, request.items.contains(where: { $0.mode > .shared }) {
            throw readOnly.error(request.label, operation)
        }
        try WaitingHolders.check(request, operation)
        // Operations that this member could not complete keep their locks, and this request may want one of those.
        try container.finishOwn()
    }

    /// Checks, once a request that waited was granted, that the container was not removed or moved meanwhile. Ends the lock
    /// where it throws. Error: `notFound`
    private func checkIsThere(_ lock: HeldLock) throws(CoordinationError) {
        do throws(CoordinationError) {
            try container.checkIsThere(for: operation, .durable)
        } catch {
            lock.end()
            throw error
        }
    }

    private func translated(_ failure: LockFailure, _ deadline: Deadline) -> CoordinationError {
        CoordinationError(failure, operation: operation, of: request, timeout: deadline.timeout)
    }

    /// Repairs what a dead member left half done with these items, before the items are read.
    private func repaired(_ lock: HeldLock, until deadline: Deadline) throws(CoordinationError) -> HeldLock {
        if !lock.staleSlots.isEmpty { container.repairDead(in: lock.staleSlots) }
        if container.memberTable.hasInFlight { try container.repairInFlight(touching: lock.plan, until: deadline) }
        return lock
    }

    /// The suspending form of `repaired`. The repair runs on a thread of its own: it waits for the disk, and for other
    /// repairers.
    private func repairedElsewhere(_ lock: HeldLock, until deadline: Deadline) async throws(CoordinationError)
        -> HeldLock
    {
        if lock.staleSlots.isEmpty && !container.memberTable.hasInFlight { return lock }
        return try await OwnThread.run {
            Result { () throws(CoordinationError) in try self.repaired(lock, until: deadline) }
        }.get()
    }
}

extension LockRange {
    /// The range of one item, without what is below it.
    init(_ item: ItemLocation, key: SipHash) { self.init(path: item.bytes, key: key) }
}

extension HeldLock {
    func covers(_ location: ItemLocation, for mode: LockMode) -> Bool { covers(path: location.bytes, for: mode) }
}
