import GroupSystemCalls
import Synchronization

/// The granted access to the items of one request. The lock ends with this object, or with the process: the kernel ends
/// it then.
final class HeldLock: Sendable {
    let request: LockRequest
    /// The number of the outermost request that this one was made under, or its own: see `WaitGraph`.
    let chain: UInt64

    /// What keeps other requests out; nil where the enclosing locks cover the request.
    struct Grip: Sendable {
        var handle: LockFile.Handle
        /// The entries in the member table, one bit each.
        var accesses: UInt32
        var turn: ProcessQueue.Turn
    }
    private let grip: Grip?
    private let hasEnded = Atomic(false)

    var member: Member { request.member }
    var plan: LockPlan { request.plan }

    init(_ request: LockRequest, chain: UInt64, _ grip: Grip?) {
        (self.request, self.chain, self.grip) = (request, chain, grip)
    }

    deinit { end() }

    /// Ends the lock now; a second call does nothing.
    func end() {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
        if let grip { request.lockManager.release(grip) }
    }

    var isHeld: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Returns a new lock that holds what this one held; ending this one has no effect from then on. Returns nil if
    /// this one holds nothing.
    func handOver() -> HeldLock? {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        return grip.map { HeldLock(request, chain: chain, $0) }
    }

    func covers(_ location: ItemLocation, for mode: LockMode) -> Bool {
        plan.covers(LockPlan.Part(LockRange(location, key: request.lockManager.hashKey), mode))
    }
}

/// A request for items that are locked together, all or none.
final class LockRequest: Sendable {
    let member: Member
    let lockManager: LockManager
    let plan: LockPlan
    let items: [(location: ItemLocation, mode: LockMode)]
    let operation: String
    let purpose: [UInt8]

    init(
        _ items: [(location: ItemLocation, mode: LockMode)], by member: Member, for purpose: [UInt8], operation: String
    ) {
        (self.member, self.items, self.purpose, self.operation) = (member, items, purpose, operation)
        let lockManager = member.lockManager
        self.lockManager = lockManager
        plan =
            items.count == 1
            ? LockPlan(LockPlan.Part(LockRange(items[0].location, key: lockManager.hashKey), items[0].mode))
            : LockPlan(items.map { (LockRange($0.location, key: lockManager.hashKey), $0.mode) })
    }

    /// Waits for the lock, blocking the thread.
    func acquireBlocking(until deadline: Deadline) throws(CoordinationError) -> HeldLock {
        if let lock = try acquireAtOnce() { return try repaired(lock, until: deadline) }
        var acquisition = try LockAcquisition(self)
        do throws(CoordinationError) {
            while let wait = try acquisition.advance() { try acquisition.note(wait.block(until: deadline), of: wait) }
            return try repaired(acquisition.complete(), until: deadline)
        } catch {
            acquisition.abandon()
            throw error
        }
    }

    /// Waits for the lock, suspending the task. A task that is cancelled in the moment of the grant gets no lock.
    func acquire(until deadline: Deadline) async throws(CoordinationError) -> HeldLock {
        if let lock = try acquireAtOnce() { return try await repairedElsewhere(lock, until: deadline) }
        var acquisition = try LockAcquisition(self)
        do throws(CoordinationError) {
            while let wait = try acquisition.advance() {
                try acquisition.note(await wait.suspend(until: deadline), of: wait)
            }
            if Task.isCancelled { throw error(for: .cancelled) }
            return try await repairedElsewhere(acquisition.complete(), until: deadline)
        } catch {
            acquisition.abandon()
            throw error
        }
    }

    /// Locks one item that no request holds or waits for, the usual case, by the shortest way: two system calls
    /// including the end of the lock, a microsecond in all. Returns nil where the general way is needed.
    private func acquireAtOnce() throws(CoordinationError) -> HeldLock? {
        guard plan.parts.count == 1, LockFrame.current == nil, !lockManager.memberTable.isWanted(plan.parts[0]),
            let slot = lockManager.memberTable.slot
        else { return nil }
        if lockManager.forkGeneration != GroupSystemCalls.forkGeneration { return nil }
        guard let turn = lockManager.turns.enterAtOnce(plan) else { return nil }
        let part = plan.parts[0]
        let handle: LockFile.Handle
        do throws(CoordinationError) {
            handle = try lockManager.lockFile.borrow()
        } catch {
            lockManager.turns.leave(turn)
            throw error
        }
        guard (try? handle.tryStep(part.whole)) == true else {
            lockManager.lockFile.giveBackUnlocked(handle)
            lockManager.turns.leave(turn)
            return nil
        }
        let claim = WaitGraph.Claim(
            member: slot, chain: turn.ticket.number, ticket: 0, order: 0, stage: .held, part: part)
        let entry = lockManager.memberTable.note(claim, purpose: purpose, path: items[0].location.bytes)
        return HeldLock(
            self, chain: turn.ticket.number,
            HeldLock.Grip(handle: handle, accesses: entry.map { 1 << UInt32($0) } ?? 0, turn: turn))
    }

    /// Repairs what a dead member left half done with these items, before the items are read.
    private func repaired(_ lock: HeldLock, until deadline: Deadline) throws(CoordinationError) -> HeldLock {
        if lockManager.memberTable.hasPending { try member.repairPending(touching: plan, until: deadline) }
        return lock
    }

    /// The suspending form of `repaired`. The repair runs on a thread of its own: it waits for the disk, and for other
    /// repairers.
    private func repairedElsewhere(_ lock: HeldLock, until deadline: Deadline) async throws(CoordinationError)
        -> HeldLock
    {
        if !lockManager.memberTable.hasPending { return lock }
        return try await Coordinator.offload {
            Result { () throws(CoordinationError) in try self.repaired(lock, until: deadline) }
        }.get()
    }

    /// The items' paths, for errors.
    var label: String { items.map { printable($0.location.bytes) }.joined(separator: ", ") }

    /// Returns whether the request names the item, or wants as a whole a directory that contains it.
    func names(_ location: ItemLocation) -> Bool {
        items.contains { $0.location == location || ($0.mode == .structural && location.isBelow($0.location)) }
    }

    /// Returns the item that a part stands for, or the first one where several items share the part.
    func location(of part: LockPlan.Part) -> ItemLocation? {
        if items.count == 1 { return items[0].location }
        return items.first { part.range.contains(LockRange($0.location, key: lockManager.hashKey)) }?.location
    }

    func error(for outcome: WaitOutcome, chain: UInt64? = nil) -> CoordinationError {
        switch outcome {
        case .failed(let errno): CoordinationError(errno, item: label, operation: operation)
        case .cancelled:
            CoordinationError(.cancelled, item: label, operation: operation, cause: "the task was cancelled")
        case .granted, .timedOut:
            timedOut(member.memberTable.holders(inTheWayOf: plan, besides: chain))
        }
    }

    private func timedOut(_ holders: [CoordinationError.Holder]) -> CoordinationError {
        // A process number of another PID namespace may be another process's number in this one.
        let isKnown = holders.allSatisfy { $0.pidNamespace == nil }
        return CoordinationError(
            .lockTimedOut, item: label, operation: operation, cause: "the lock was not granted in time",
            holders: holders, advice: "wait longer (--timeout)" + (isKnown ? ", or end who holds it" : ""))
    }
}

/// The locks that the code on this thread holds: the lock that its closure was called with, and the enclosing ones. A
/// closure runs on one thread from beginning to end, so the thread determines which requests are nested in which.
final class LockFrame {
    let lock: HeldLock
    let outer: LockFrame?

    private init(_ lock: HeldLock, outer: LockFrame?) { (self.lock, self.outer) = (lock, outer) }

    private static let local = ThreadLocal<LockFrame>()

    static var current: LockFrame? { local.value }

    static func within<Answer>(_ lock: HeldLock, _ body: () throws -> Answer) rethrows -> Answer {
        let outer = local.value
        local.value = LockFrame(lock, outer: outer)
        defer { local.value = outer }
        return try body()
    }

    /// Returns the locks of a member that are held by the calling code, the innermost first.
    static func held(of member: Member) -> [HeldLock] {
        var held: [HeldLock] = []
        var frame = current
        while let next = frame {
            // A frame whose plan is empty holds no lock, so nothing can be nested in it.
            let isLock = next.lock.member === member && !next.lock.plan.parts.isEmpty
            if isLock && next.lock.isHeld { held.append(next.lock) }
            frame = next.outer
        }
        return held
    }
}

/// A lock without file access, to measure the cost of the lock alone.
package struct BareLock {
    private let member: Member
    private let location: ItemLocation
    private let mode: LockMode

    package init(_ path: ItemPath, isWriting: Bool, in container: Container) throws(CoordinationError) {
        member = container.member
        location = try path.location(for: "lock")
        mode = isWriting ? .writing : .reading
    }

    /// Acquires the lock and gives it back, `count` times.
    package func cycle(_ count: Int) throws(CoordinationError) {
        for _ in 0..<count {
            let request = LockRequest([(location, mode)], by: member, for: [], operation: "lock")
            try request.acquireBlocking(until: .never).end()
        }
    }
}
