import SystemCalls

/// Granted access to the items of one request. Freed when it ends, or by the kernel at the process's death.
final class Lease: Sendable {
    let member: Member
    let plan: LeasePlan
    private let accessEntries: [Int]
    /// Nil once it has ended.
    private let handle: Guarded<LockFile.Handle?>

    init(member: Member, plan: LeasePlan, handle: LockFile.Handle, accessEntries: [Int]) {
        (self.member, self.plan, self.accessEntries) = (member, plan, accessEntries)
        self.handle = Guarded(handle)
    }

    deinit { end() }

    /// Frees it now; a second time does nothing.
    func end() {
        let handle = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let handle else { return }
        for entry in accessEntries { member.roster.forgetAccess(entry) }
        member.lockFile.giveBack(handle)
    }

    func covers(_ location: ItemLocation, for mode: LeaseMode) -> Bool {
        plan.covers(LeasePlan.Part(LeaseBlock(location, key: member.hashKey), mode))
    }
}

/// A request on its way to a lease: one try in order, then, from the first part that was refused, a wait in the kernel.
struct LeaseRequest: Sendable {
    let member: Member
    let plan: LeasePlan
    /// For errors and `status`.
    let items: [(location: ItemLocation, mode: LeaseMode)]
    let operation: String

    init(_ items: [(location: ItemLocation, mode: LeaseMode)], by member: Member, operation: String) {
        self.member = member
        self.items = items
        self.operation = operation
        plan = LeasePlan(items.map { (LeaseBlock($0.location, key: member.hashKey), $0.mode) })
    }

    func acquireBlocking(until deadline: Deadline) throws(CoordinationError) -> Lease {
        let attempt = try begin()
        if !attempt.isGranted {
            try settle(
                attempt,
                deadline.isOver ? .timedOut : KernelWait.block(attempt.steps, on: attempt.handle, until: deadline))
        }
        return try attempt.complete(self, until: deadline)
    }

    func acquire(until deadline: Deadline) async throws(CoordinationError) -> Lease {
        let attempt = try begin()
        if !attempt.isGranted {
            let outcome =
                deadline.isOver
                ? .timedOut : await KernelWait.suspend(attempt.steps, on: attempt.handle, until: deadline)
            try settle(attempt, outcome)
        }
        return try attempt.complete(self, until: deadline)
    }

    struct Attempt {
        let handle: LockFile.Handle
        let isGranted: Bool
        let steps: [LockWaiter.Step]
        let wantedBuckets: [Int]
        let accessEntries: [Int]

        func complete(_ request: LeaseRequest, until deadline: Deadline) throws(CoordinationError) -> Lease {
            let lease = Lease(member: request.member, plan: request.plan, handle: handle, accessEntries: accessEntries)
            for entry in accessEntries { request.member.roster.noteGrant(entry) }
            // What a dead member left half done with these items comes first.
            try request.member.repairPending(touching: request.plan, until: deadline)
            return lease
        }
    }

    private func begin() throws(CoordinationError) -> Attempt {
        try member.checkNotForked(operation)
        let handle = try member.lockFile.borrow()
        var taken = 0
        do throws(Errno) {
            while taken < plan.parts.count, try tryPart(plan.parts[taken], on: handle) { taken += 1 }
        } catch {
            member.lockFile.giveBack(handle)
            throw CoordinationError(error, item: items.first.map { printable($0.location.bytes) }, operation: operation)
        }
        let isGranted = taken == plan.parts.count
        let entries = items.compactMap {
            member.roster.note(
                isGranted ? .holding : .waiting,
                LeasePlan.Part(LeaseBlock($0.location, key: member.hashKey), $0.mode), path: $0.location.bytes)
        }
        if isGranted {
            return Attempt(handle: handle, isGranted: true, steps: [], wantedBuckets: [], accessEntries: entries)
        }
        let wanted = plan.parts[taken...].filter { $0.mode != .reading }.map(\.span.bucket)
        for bucket in wanted { member.roster.raiseWant(bucket: bucket) }
        return Attempt(
            handle: handle, isGranted: false,
            steps: plan.parts[taken...].flatMap { [$0.arrival] + $0.passage }.map(LockWaiter.Step.init),
            wantedBuckets: wanted,
            accessEntries: entries)
    }

    private func tryPart(_ part: LeasePlan.Part, on handle: LockFile.Handle) throws(Errno) -> Bool {
        // Behind a writer that waits, through the turnstile like everybody else.
        if part.mode == .reading, member.roster.isWanted(bucket: part.span.bucket) { return false }
        let step = LockWaiter.Step(part.whole)
        return try handle.descriptor.tryLock(step.lock, step.range)
    }

    private func settle(_ attempt: Attempt, _ outcome: KernelWait.Outcome) throws(CoordinationError) {
        for bucket in attempt.wantedBuckets { member.roster.lowerWant(bucket: bucket) }
        if outcome == .granted { return }
        for entry in attempt.accessEntries { member.roster.forgetAccess(entry) }
        // Before ours goes, so that who is in the way can be seen.
        let holders = outcome == .timedOut ? member.roster.holders(inTheWayOf: plan) : []
        member.lockFile.giveBack(attempt.handle)
        let item = items.map { printable($0.location.bytes) }.joined(separator: ", ")
        switch outcome {
        case .failed(let errno): throw CoordinationError(errno, item: item, operation: operation)
        case .cancelled:
            throw CoordinationError(.cancelled, item: item, operation: operation, cause: "the task was cancelled")
        case .granted, .timedOut:
            throw CoordinationError(
                .leaseTimedOut, item: item, operation: operation, cause: "its lease was not granted in time",
                holders: holders,
                advice: "wait longer (--timeout), or end who holds it")
        }
    }
}

extension LockWaiter.Step {
    init(_ step: LeasePlan.Part.Step) {
        switch step {
        case .exclusive(let start, let length), .sweep(let start, let length):
            self.init(.exclusive, ByteRange(start: start, length: length))
        case .shared(let start, let length): self.init(.shared, ByteRange(start: start, length: length))
        case .release(let start, let length): self.init(.none, ByteRange(start: start, length: length))
        }
    }
}
