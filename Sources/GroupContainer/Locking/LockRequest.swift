import GroupSystemCalls
import Synchronization

/// Granted access to the items of one request. Freed when it ends, or by the kernel at the process's death.
final class HeldLock: Sendable {
    let request: LockRequest
    /// The outermost request that it was made under, or itself: see `WaitGraph`.
    let chain: UInt64

    /// What it keeps others out with; nothing where the locks around it cover it.
    struct Grip: Sendable {
        var handle: LockFile.Handle
        /// The member table's accesses, a bit each.
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

    /// Frees it now; a second time does nothing.
    func end() {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
        if let grip { request.lockManager.release(grip) }
    }

    var isHeld: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Another one that holds what this one held, whose end frees nothing from then on. Nil where it holds nothing.
    func handOver() -> HeldLock? {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        return grip.map { HeldLock(request, chain: chain, $0) }
    }

    func covers(_ location: ItemLocation, for mode: LockMode) -> Bool {
        plan.covers(LockPlan.Part(LockRange(location, key: request.lockManager.hashKey), mode))
    }
}

/// Items that are wanted together, all or none.
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

    /// Waits, blocking the thread.
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

    /// Waits, suspending the task. One that is cancelled in the moment of the grant has nothing.
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

    /// One item that nobody holds or waits for, the usual case, as straight as it goes: two calls to the kernel with
    /// the end of the lock, a microsecond in all. Nil where more has to be thought about.
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

    /// What a dead member left half done with these items comes before they are looked at.
    private func repaired(_ lock: HeldLock, until deadline: Deadline) throws(CoordinationError) -> HeldLock {
        if lockManager.memberTable.hasPending { try member.repairPending(touching: plan, until: deadline) }
        return lock
    }

    /// The same, on a thread of its own: it waits for the disk, and for others that do the same.
    private func repairedElsewhere(_ lock: HeldLock, until deadline: Deadline) async throws(CoordinationError)
        -> HeldLock
    {
        if !lockManager.memberTable.hasPending { return lock }
        return try await Coordinator.offload {
            Result { () throws(CoordinationError) in try self.repaired(lock, until: deadline) }
        }.get()
    }

    /// For errors.
    var label: String { items.map { printable($0.location.bytes) }.joined(separator: ", ") }

    /// Whether the item, or a directory that it lies in and that is wanted as a whole, is among those named.
    func names(_ location: ItemLocation) -> Bool {
        items.contains { $0.location == location || ($0.mode == .structural && location.isBelow($0.location)) }
    }

    /// The item that a part stands for, the first of them where several share it.
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
        // A number of another namespace may be another process's here.
        let isKnown = holders.allSatisfy { $0.pidNamespace == nil }
        return CoordinationError(
            .lockTimedOut, item: label, operation: operation, cause: "the lock was not granted in time",
            holders: holders, advice: "wait longer (--timeout)" + (isKnown ? ", or end who holds it" : ""))
    }
}

/// What the code that runs on this thread holds: the lock that its closure was called with, and those around it. A
/// closure runs on one thread from beginning to end, so the thread tells which requests are nested in which.
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

    /// The locks of a member that are held around here, the innermost first.
    static func held(of member: Member) -> [HeldLock] {
        var held: [HeldLock] = []
        var frame = current
        while let next = frame {
            // One without a lock, for what needs none, is nothing to be nested in.
            let isLock = next.lock.member === member && !next.lock.plan.parts.isEmpty
            if isLock && next.lock.isHeld { held.append(next.lock) }
            frame = next.outer
        }
        return held
    }
}

/// A lock without files, to measure what it costs by itself.
package struct BareLock {
    private let member: Member
    private let location: ItemLocation
    private let mode: LockMode

    package init(_ path: ItemPath, isWriting: Bool, in container: Container) throws(CoordinationError) {
        member = container.member
        location = try path.location(for: "lock")
        mode = isWriting ? .writing : .reading
    }

    /// Acquires it and gives it back, so many times.
    package func cycle(_ count: Int) throws(CoordinationError) {
        for _ in 0..<count {
            let request = LockRequest([(location, mode)], by: member, for: [], operation: "lock")
            try request.acquireBlocking(until: .never).end()
        }
    }
}
