import Synchronization
import GroupSystemCalls

/// Granted access to the items of one request. Freed when it ends, or by the kernel at the process's death.
final class Lease: Sendable {
    let request: LeaseRequest
    /// The outermost request that it was made under, or itself: see `WaitGraph`.
    let chain: UInt64

    /// What it keeps others out with; nothing where the leases around it cover it.
    struct Grip: Sendable {
        var handle: LockFile.Handle
        /// The member table's accesses, a bit each.
        var accesses: UInt32
        var turn: Turns.Turn
    }
    private let grip: Grip?
    private let hasEnded = Atomic(false)

    var member: Member { request.member }
    var plan: LeasePlan { request.plan }

    init(_ request: LeaseRequest, chain: UInt64, _ grip: Grip?) {
        (self.request, self.chain, self.grip) = (request, chain, grip)
    }

    deinit { end() }

    /// Frees it now; a second time does nothing.
    func end() {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
        if let grip { request.desk.release(grip) }
    }

    var isHeld: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Another one that holds what this one held, whose end frees nothing from then on. Nil where it holds nothing.
    func handOver() -> Lease? {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        return grip.map { Lease(request, chain: chain, $0) }
    }

    func covers(_ location: ItemLocation, for mode: LeaseMode) -> Bool {
        plan.covers(LeasePlan.Part(LeaseBlock(location, key: request.desk.hashKey), mode))
    }
}

/// Items that are wanted together, all or none.
final class LeaseRequest: Sendable {
    let member: Member
    let desk: LeaseDesk
    let plan: LeasePlan
    let items: [(location: ItemLocation, mode: LeaseMode)]
    let operation: String
    let purpose: [UInt8]

    init(
        _ items: [(location: ItemLocation, mode: LeaseMode)], by member: Member, for purpose: [UInt8], operation: String
    ) {
        (self.member, self.items, self.purpose, self.operation) = (member, items, purpose, operation)
        let desk = member.desk
        self.desk = desk
        plan =
            items.count == 1
            ? LeasePlan(LeasePlan.Part(LeaseBlock(items[0].location, key: desk.hashKey), items[0].mode))
            : LeasePlan(items.map { (LeaseBlock($0.location, key: desk.hashKey), $0.mode) })
    }

    /// Waits, blocking the thread.
    func acquireBlocking(until deadline: Deadline) throws(CoordinationError) -> Lease {
        if let lease = try acquireAtOnce() { return try repaired(lease, until: deadline) }
        var acquisition = try LeaseAcquisition(self)
        do throws(CoordinationError) {
            while let wait = try acquisition.advance() { try acquisition.note(wait.block(until: deadline), of: wait) }
            return try repaired(acquisition.complete(), until: deadline)
        } catch {
            acquisition.abandon()
            throw error
        }
    }

    /// Waits, suspending the task. One that is cancelled in the moment of the grant has nothing.
    func acquire(until deadline: Deadline) async throws(CoordinationError) -> Lease {
        if let lease = try acquireAtOnce() { return try await repairedElsewhere(lease, until: deadline) }
        var acquisition = try LeaseAcquisition(self)
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
    /// the end of the lease, a microsecond in all. Nil where more has to be thought about.
    private func acquireAtOnce() throws(CoordinationError) -> Lease? {
        guard plan.parts.count == 1, LeaseFrame.current == nil, !desk.memberTable.isWanted(plan.parts[0]),
            let slot = desk.memberTable.slot
        else { return nil }
        if desk.forkGeneration != GroupSystemCalls.forkGeneration { return nil }
        guard let turn = desk.turns.enterAtOnce(plan) else { return nil }
        let part = plan.parts[0]
        let handle: LockFile.Handle
        do throws(CoordinationError) {
            handle = try desk.lockFile.borrow()
        } catch {
            desk.turns.leave(turn)
            throw error
        }
        guard (try? handle.tryStep(part.whole)) == true else {
            desk.lockFile.giveBackUnlocked(handle)
            desk.turns.leave(turn)
            return nil
        }
        let claim = WaitGraph.Claim(
            member: slot, chain: turn.ticket.number, ticket: 0, order: 0, stage: .held, part: part)
        let entry = desk.memberTable.note(claim, purpose: purpose, path: items[0].location.bytes)
        return Lease(
            self, chain: turn.ticket.number,
            Lease.Grip(handle: handle, accesses: entry.map { 1 << UInt32($0) } ?? 0, turn: turn))
    }

    /// What a dead member left half done with these items comes before they are looked at.
    private func repaired(_ lease: Lease, until deadline: Deadline) throws(CoordinationError) -> Lease {
        if desk.memberTable.hasPending { try member.repairPending(touching: plan, until: deadline) }
        return lease
    }

    /// The same, on a thread of its own: it waits for the disk, and for others that do the same.
    private func repairedElsewhere(_ lease: Lease, until deadline: Deadline) async throws(CoordinationError) -> Lease {
        if !desk.memberTable.hasPending { return lease }
        return try await Coordinator.offload {
            Result { () throws(CoordinationError) in try self.repaired(lease, until: deadline) }
        }.get()
    }

    /// For errors.
    var label: String { items.map { printable($0.location.bytes) }.joined(separator: ", ") }

    /// Whether the item, or a folder that it lies in and that is wanted as a whole, is among those named.
    func names(_ location: ItemLocation) -> Bool {
        items.contains { $0.location == location || ($0.mode == .structural && location.isBelow($0.location)) }
    }

    /// The item that a part stands for, the first of them where several share it.
    func location(of part: LeasePlan.Part) -> ItemLocation? {
        if items.count == 1 { return items[0].location }
        return items.first { part.span.contains(LeaseBlock($0.location, key: desk.hashKey).span) }?.location
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
            .leaseTimedOut, item: label, operation: operation, cause: "its lease was not granted in time",
            holders: holders, advice: "wait longer (--timeout)" + (isKnown ? ", or end who holds it" : ""))
    }
}
