import GroupBytes
package import GroupSystemCalls

// The lock protocol
// =================
//
// An item's lock is a set of byte locks (`F_OFD_SETLK`) on its range of `.group/lock`. The kernel ends them with their
// process, so a crash leaves no lock behind. But the kernel keeps no order: a reader gets a byte that other readers
// share although a writer waits for it, and an unlock wakes all waiters, so the process that runs already locks first.
// A waiter could starve. So each range has a turnstile, a byte that lets one waiter at a time through to the lock
// (Downey, "The Little Book of Semaphores", no-starve readers-writers). An uncontended lock has to cost two system
// calls, for the lock and for its end. So a contended flag in the member table (`ContendedFlags.swift`) shows whether
// any request waits, and a request goes to the turnstile only where a flag is up or the range is not free.
//
//                     T: turnstile    L: shared byte    the rest of the range
//     read                            shared
//     write           (exclusive)     exclusive         exclusive
//     directory       (exclusive)     exclusive         exclusive, over all ranges below it
//
//     (exclusive): only by a request that found no flag up and locked the whole range at once
//
// A request goes through these states for each of its ranges; the names are those of `WaitGraph.Claim.Stage`:
//
//              no flag up, and the whole range is free: one system call
//     wanted ─────────────────────────────────────────────────────────────────▶ held
//        │                                                                       ▲
//        │ else: raise the flag                                                  │ lock L and the rest (to read:
//        ▼                                                                       │ L, shared); unlock T; lower
//     queued: lock and unlock T of each directory around the item whose flag     │ the flag
//             is up, the widest first; then lock T of the item ─────────────▶ atTurnstile
//
//     any state, on a timeout, a cancellation or a deadlock ──▶ flag lowered, all bytes unlocked
//     held, or any state when the process dies              ──▶ all bytes unlocked
//
// T is unlocked only when L is locked. So the next waiter stands at T, first in line for L, before L is free again. A
// reader raises a flag of the readers' half of the buckets, which only requests that exclude readers respect; a request
// for a directory respects every flag. A request for several ranges takes them in ascending order. `LockQueue` keeps
// the order within one process, in front of this.
//
// Invariant. The holder of an item has L of its range locked: shared to read, exclusively to write. The holder of a
// directory has every L below it. So the kernel alone decides which process holds a lock; T and the flag decide only
// the order. Everything that can go wrong with T or the flag therefore costs order or time, and never exclusion:
//
// - A request looks at the flag, then a waiter raises it and takes T, then the request tries its range. A writer's
//   range includes T, so the try fails and the writer queues. A reader tries only L: it passes the waiter, once,
//   because each further request looks at the flag again. So a waiter is passed by no more readers than had looked
//   before.
// - A waiter dies. The kernel unlocks its T, and the next waiter goes on. The dead waiter's flag stays up: requests go
//   through the turnstile, at the cost of two more system calls, until one of them finds the range free in spite of the
//   flag and repairs the dead waiter's slot (`repairDead(wanting:)`).
// - Two ranges share a flag, since the flags are hashed into buckets, or a flag is lowered late. A request passes a
//   turnstile for nothing.
// - A waiter is woken late. Another one of those that the kernel woke takes T first: waiters at T have no order.
// - A holder of an item in directory D requests another one in D, while a request for all of D waits. The holder does
//   not queue at T(D), where it would wait for a request that waits for it. For its sake the request for D keeps
//   nothing of D but T(D) until it gets all other bytes in one system call (`Step.undivided`).
// - A request under a lock of its own closure (nested) tries its range whatever the flag is: behind waiters for what
//   its closure holds it would wait forever. It can still close a circle, which `WaitGraph` finds (decision 0010).
// - A process that may only read can lock nothing exclusively and raise no flag. It goes through turnstiles with a
//   shared lock of T: it still queues behind a writer at T, but writers may pass it.

/// A request on its way to its locks: it takes its turn in this process, then its parts from the lowest to the highest,
/// each by one try or, where another holder is in the way, by a wait in the kernel. `advance` returns what to wait for
/// next; the caller decides how to wait for that. Used by one thread or task at a time.
struct LockAcquisition {
    private let request: LockRequest
    private let lockManager: LockManager
    /// The parts that the enclosing locks of the caller do not cover.
    private let plan: LockPlan
    private let isNested: Bool
    /// What the caller holds already: by the locks around the request, and by those that it keeps between calls.
    private let heldRanges: [LockRange]
    /// A waiter that holds anything, in any container, or that another request waits for, needs no permit: the waiters
    /// that have the permits may be waiting for what is held.
    private let needsPermit: Bool
    /// The owner of the request around this one, or of the one that asked the question which this one helps to answer.
    private let outerOwner: WaitGraph.Owner?
    /// Whether other members see that the request waits. A request that only tries does not wait: a flag that it raised
    /// would only make other requests take the longer way.
    private let isVisible: Bool

    private var turn: ProcessQueue.Turn?
    private var handle: LockFile.Handle?
    /// The number of parts that are locked.
    private var lockedCount = 0
    /// The entries in the member table, one for each part while entries are free.
    private var entries: [Int] = []
    private var ticket: UInt64 = 0
    private var hasPermit = false
    /// The part whose contended flag is raised.
    private var wanting: LockPlan.Part?
    /// Slots of members that died while they waited for a part that this request then found free.
    private var staleSlots: [Int] = []

    /// What waits for the locks.
    enum Waiter {
        /// A thread that blocks, and keeps the locks that it has meanwhile.
        case thread
        /// A task: other tasks may end meanwhile what its thread has locked.
        case task
    }

    init(_ request: LockRequest, for caller: Waiter, until deadline: Deadline) throws(LockFailure) {
        self.request = request
        lockManager = request.lockManager
        let held = LockFrame.held(of: lockManager)
        // A request that only tries does not wait for what its caller keeps.
        let kept =
            caller == .thread && !deadline.isOver
            ? KeptLocks.held(of: lockManager).filter { lock in !held.contains { $0 === lock } } : []
        isNested = !(held.isEmpty && kept.isEmpty)
        heldRanges = (held + kept).flatMap { $0.plan.parts.map(\.range) }
        needsPermit = LockFrame.current == nil && request.answer == nil && !(caller == .thread && KeptLocks.isAny)
        plan = try Self.uncovered(request, under: held)
        try Self.check(plan, of: request, under: kept)
        outerOwner = held.first?.owner ?? kept.first?.owner ?? request.answer
        // A nested request has to be seen, so that a circle through it is found.
        isVisible = !deadline.isOver || outerOwner != nil
    }

    private static func uncovered(_ request: LockRequest, under held: [HeldLock]) throws(LockFailure) -> LockPlan {
        if held.isEmpty { return request.plan }
        var rest: [LockPlan.Part] = []
        for part in request.plan.parts {
            let path = request.path(of: part)
            let locks = held.map { lock in
                Nesting.Held(plan: lock.plan, namesItem: path.map(lock.request.names) ?? true)
            }
            switch Nesting.judge(part, under: locks) {
            case .independent: rest.append(part)
            case .granted: break
            case .refused: throw .heldByCaller(path: path)
            }
        }
        return LockPlan(rest)
    }

    /// Throws if a part excludes a lock that the waiting thread keeps, and would wait for itself.
    private static func check(
        _ plan: LockPlan, of request: LockRequest, under kept: [HeldLock]
    ) throws(LockFailure) {
        for part in plan.parts where kept.contains(where: { $0.plan.parts.contains { $0.excludes(part) } }) {
            let holders = request.lockManager.memberTable.holders(inTheWayOf: LockPlan(part), besides: nil)
            throw .keptByCaller(path: request.path(of: part), holders)
        }
    }

    private var parts: Few<LockPlan.Part> { plan.parts }
    private var memberTable: MemberTable { lockManager.memberTable }

    /// Returns what to wait for next, or nil once everything is locked.
    mutating func advance() throws(LockFailure) -> LockWait? {
        if parts.isEmpty { return nil }
        if turn == nil {
            let turn = lockManager.turns.enter(plan, isNested: isNested)
            self.turn = turn
            if let signal = turn.signal {
                if isVisible { announce(queued: nil) }
                try lookForCircle()
                return .turn(signal)
            }
        }
        let handle = try borrow()
        while lockedCount < parts.count {
            let rest = try take(parts[lockedCount], on: handle)
            if rest.isEmpty {
                advancePart()
                continue
            }
            if needsPermit, !hasPermit, let turn = WaiterThreads.takePermit() {
                // A request that waits for a permit must not keep any lock: the waiters that have a permit may be
                // waiting for that lock.
                for entry in entries { memberTable.publishStage(.wanted, of: entry) }
                lockManager.lockFile.unlock(handle)
                lowerContended()
                lockedCount = 0
                return .permit(turn)
            }
            hasPermit = needsPermit
            try lookForCircle()
            return .kernel(rest.map(handle.step), handle)
        }
        return nil
    }

    /// Records how a wait ended. Throws unless the wait was granted; the caller must then call `abandon`.
    mutating func resolve(_ outcome: WaitOutcome, of wait: LockWait) throws(LockFailure) {
        if case .permit(let turn) = wait {
            if outcome == .granted { hasPermit = true } else { WaiterThreads.leaveLine(turn) }
        }
        // This runs before our own entry is removed, so that the holders in the way can still be seen.
        switch outcome {
        case .granted: break
        case .timedOut: throw .timedOut(memberTable.holders(inTheWayOf: plan, besides: owner))
        case .cancelled: throw .cancelled
        case .failed(let errno): throw .system(errno)
        }
        if case .kernel = wait { advancePart() }
    }

    /// Returns the held lock, once `advance` has returned nil. What a dead member left half done with the items must be
    /// repaired before the items are read.
    mutating func complete() -> HeldLock {
        guard let turn, let handle else { return HeldLock(request, owner: owner, nil) }
        lockManager.turns.recordGrant(turn)
        if hasPermit { WaiterThreads.returnPermit() }
        hasPermit = false
        if entries.isEmpty { publishParts(.held) }
        let lock = HeldLock(
            request, owner: owner,
            HeldLock.Grip(handle: handle, published: entries.reduce(0) { $0 | 1 << UInt32($1) }, turn: turn),
            staleSlots: staleSlots)
        (self.turn, self.handle, entries) = (nil, nil, [])
        return lock
    }

    /// Gives back the locks, the turn, the permit and the entries in the member table.
    mutating func abandon() {
        lowerContended()
        for entry in entries { memberTable.withdraw(entry) }
        if let handle { lockManager.lockFile.giveBack(handle) }
        if let turn { lockManager.turns.leave(turn) }
        if hasPermit { WaiterThreads.returnPermit() }
        (self.turn, self.handle, entries, hasPermit) = (nil, nil, [], false)
    }

    private mutating func borrow() throws(LockFailure) -> LockFile.Handle {
        if let handle { return handle }
        do throws(LockFileFailure) {
            let borrowed = try lockManager.lockFile.borrow()
            handle = borrowed
            return borrowed
        } catch {
            throw .lockFile(error)
        }
    }

    private mutating func advancePart() {
        lowerContended()
        if lockedCount < entries.count { memberTable.publishStage(.held, of: entries[lockedCount]) }
        lockedCount += 1
    }

    private mutating func raiseContended(_ part: LockPlan.Part) {
        if wanting == part { return }
        lowerContended()
        memberTable.raiseContended(bucket: part.contendedBucket)
        wanting = part
    }

    private mutating func lowerContended() {
        if let wanting { memberTable.lowerContended(bucket: wanting.contendedBucket) }
        wanting = nil
    }
}

// MARK: - One part

extension LockAcquisition {
    /// Takes the steps of a part as far as possible without waiting. Returns the steps that are left, or nothing once
    /// the part is locked. Where other requests wait, the part is taken only through the turnstile at which they wait,
    /// so that no waiter is overtaken. A request that has to wait takes its place at the turnstile before a thread is
    /// started for it: starting a thread takes long where the processors are busy, and other requests would go on
    /// passing meanwhile.
    private mutating func take(_ part: LockPlan.Part, on handle: LockFile.Handle) throws(LockFailure)
        -> [LockPlan.Part.Step]
    {
        do throws(Errno) {
            let isContended = memberTable.isContended(part)
            if isNested || !isContended, try handle.tryStep(part.whole) { return [] }
            // The ticket is drawn before the request takes its place, so that tickets are in the order in which
            // requests reach the turnstile.
            if isVisible {
                announce(queued: lockedCount)
                raiseContended(part)
            }
            var gates = gates(of: part)
            while let gate = gates.first, try handle.trySteps(LockPlan.Part.pass(gate)) {
                gates.removeFirst()
            }
            guard gates.isEmpty, try handle.tryStep(part.arrival) else {
                return gates.flatMap(LockPlan.Part.pass) + [part.arrival] + part.passage
            }
            guard try handle.trySteps(part.passage) else {
                // Whatever the tickets are, no other request in the line is before this one.
                if lockedCount < entries.count { memberTable.publishStage(.atTurnstile, of: entries[lockedCount]) }
                return part.passage
            }
            // Another member wants the part, and yet the part was free: that member may have died while waiting.
            if isContended { staleSlots += memberTable.staleSlots(ahead: part) }
            return []
        } catch {
            throw .system(error)
        }
    }

    /// Returns the turnstiles of enclosing directories that the request has to pass first.
    private func gates(of part: LockPlan.Part) -> [LockRange] {
        part.range.enclosing.filter { gate in
            memberTable.isContended(bucket: gate.bucket)
                && part.standsBehind(gate, holding: heldRanges + parts[..<lockedCount].map(\.range))
        }
    }
}

// MARK: - What others see

extension LockAcquisition {
    private var owner: WaitGraph.Owner {
        outerOwner ?? WaitGraph.Owner(slot: memberTable.slot ?? 0, number: turn?.ticket.number ?? 0)
    }

    private mutating func publishParts(_ stage: WaitGraph.Claim.Stage) {
        guard let turn, let slot = memberTable.slot else { return }
        let order = isNested ? turn.ticket.number : 0
        for part in parts {
            let claim = WaitGraph.Claim(
                member: slot, ownerSlot: owner.slot, owner: owner.number,
                isOfAnswer: request.answer != nil, ticket: 0, order: order, stage: stage, part: part)
            let path = request.path(of: part) ?? []
            guard let entry = memberTable.publish(claim, purpose: request.purpose, path: path) else { return }
            entries.append(entry)
        }
        // A wait is shown once it has a ticket.
        if stage == .held { memberTable.noteStatus() }
    }

    /// Announces that a wait begins: writes the parts into the member table and draws a ticket.
    private mutating func announce(queued index: Int?) {
        if entries.isEmpty { publishParts(.wanted) }
        for (number, entry) in entries.enumerated() where number < lockedCount {
            memberTable.publishStage(.held, of: entry)
        }
        let queued = index.flatMap { $0 < entries.count ? entries[$0] : nil }
        ticket = memberTable.drawTicket(for: Array(entries.dropFirst(lockedCount)), queued: queued)
    }

    private func outlook() -> WaitGraph.Outlook {
        if memberTable.slot == nil { return .noCircle }
        return lockManager.waitGraph().outlook(of: owner, ticket: ticket)
    }

    /// How long to wait for a ticket that was drawn and not written yet. Its member may have been stopped between the
    /// two instructions; a circle that is not found in this time ends with a deadline.
    private static let patience = Duration.seconds(1)

    /// Nanoseconds within which a thread that was granted a lock by the kernel has normally recorded that.
    private static let moment: Int64 = 1_000_000

    /// Throws if this request waits in a circle. Only an owner that holds something, or that a question waits for, can
    /// be waited for in turn, so only such an owner looks.
    private mutating func lookForCircle() throws(LockFailure) {
        guard isVisible, memberTable.slot != nil, outerOwner != nil || lockedCount > 0 else { return }
        var outlook = outlook()
        if outlook == .circle {
            // A member of the circle may have been granted its lock and not have recorded that yet. A new ticket is
            // drawn, because other requests may have come in between.
            pause(nanoseconds: Self.moment)
            ticket = memberTable.drawTicket(for: Array(entries.dropFirst(lockedCount)), queued: nil)
            outlook = self.outlook()
        }
        // A request that was interrupted between drawing its ticket and writing it may have come before this one, and
        // then relies on this one to end the circle.
        let deadline = Deadline(after: Self.patience)
        while outlook == .open && !deadline.isOver {
            pause(nanoseconds: 100_000)
            outlook = self.outlook()
        }
        if outlook == .circle {
            throw .deadlock(memberTable.holders(inTheWayOf: request.plan, besides: owner))
        }
    }
}

/// The next thing that a request waits for.
enum LockWait {
    /// The request's turn in this process.
    case turn(OneShotEvent<Void>)
    /// A permit for a thread that waits in the kernel.
    case permit(WaiterThreads.Turn)
    /// Locks of other processes, by a wait in the kernel.
    case kernel([LockWaiter.Step], LockFile.Handle)

    func block(until deadline: Deadline, orUntil cancellation: Cancellation?) -> WaitOutcome {
        if deadline.isOver { return .timedOut }
        return switch self {
        case .turn(let signal): WaitOutcome(signal.block(until: deadline, orUntil: cancellation))
        case .permit(let turn): WaitOutcome(turn.signal.block(until: deadline, orUntil: cancellation))
        case .kernel(let steps, let handle): KernelWait.block(steps, on: handle, until: deadline, orUntil: cancellation)
        }
    }

    func suspend(until deadline: Deadline) async -> WaitOutcome {
        if deadline.isOver { return .timedOut }
        return switch self {
        case .turn(let signal): WaitOutcome(await signal.suspend(until: deadline))
        case .permit(let turn): WaitOutcome(await turn.signal.suspend(until: deadline))
        case .kernel(let steps, let handle): await KernelWait.suspend(steps, on: handle, until: deadline)
        }
    }
}

extension WaitOutcome {
    init(_ ending: OneShotEvent<Void>.Ending) {
        switch ending {
        case .happened: self = .granted
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        }
    }
}

extension LockWaiter.Step {
    init(_ step: LockPlan.Part.Step) {
        switch step {
        case .exclusive(let start, let length): self.init(.exclusive, ByteRange(start: start, length: length))
        case .shared(let start, let length): self.init(.shared, ByteRange(start: start, length: length))
        case .release(let start, let length): self.init(.none, ByteRange(start: start, length: length))
        case .undivided(let start, let length):
            self.init(.exclusive, ByteRange(start: start, length: length), isUndivided: true)
        }
    }
}

extension LockFile.Handle {
    /// Returns the system call's arguments for a step. A process that may only read stands at a turnstile with a shared
    /// lock: it still waits for a writer at the turnstile, and a writer waits for it, though only for the moment that
    /// the passage takes.
    func step(_ step: LockPlan.Part.Step) -> LockWaiter.Step {
        // An exclusive lock of one byte is a turnstile. The kernel refuses an exclusive lock of anything wider.
        if isOnlyForReading, case .exclusive(let start, length: 1) = step {
            return LockWaiter.Step(.shared, ByteRange(start: start, length: 1))
        }
        return LockWaiter.Step(step)
    }

    /// Tries one step without waiting. Returns false if another lock is in the way.
    func tryStep(_ step: LockPlan.Part.Step) throws(Errno) -> Bool {
        let step = self.step(step)
        return try descriptor.tryLock(step.lock, step.range)
    }

    /// Tries the steps in order. Returns false at the first step that another lock is in the way of.
    func trySteps(_ steps: [LockPlan.Part.Step]) throws(Errno) -> Bool {
        for step in steps where try !tryStep(step) { return false }
        return true
    }
}

/// The result of a wait for a lock.
package enum WaitOutcome: Equatable, Sendable {
    case granted, timedOut, cancelled
    case failed(Errno)
}

/// A wait in the kernel for byte locks, by a thread that blocks or a task that suspends. A wait that is cancelled or
/// times out leaves no lock.
package enum KernelWait {
    package typealias Line = OneShotEvent<LockWaiter.Outcome>

    /// Blocks the calling thread.
    package static func block(
        _ steps: [LockWaiter.Step], on handle: LockFile.Handle, until deadline: Deadline,
        orUntil cancellation: Cancellation? = nil
    ) -> WaitOutcome {
        let line = Line()
        do throws(Errno) {
            let waiter = try LockWaiter(steps, on: handle.descriptor.number, done: line.set)
            let ending = line.block(until: deadline, orUntil: cancellation)
            if case .happened(let outcome) = ending { return WaitOutcome(outcome, unless: .timedOut) }
            waiter.cancel()
            guard case .happened(let outcome) = line.block() else { return .timedOut }
            if case .cancelled = ending { return WaitOutcome(outcome, unless: .cancelled) }
            return WaitOutcome(outcome, unless: .timedOut)
        } catch {
            return .failed(error)
        }
    }

    /// Suspends the calling task. The thread that sleeps in the kernel belongs to the waiter.
    static func suspend(_ steps: [LockWaiter.Step], on handle: LockFile.Handle, until deadline: Deadline) async
        -> WaitOutcome
    {
        let line = Line()
        let waiter: LockWaiter
        do throws(Errno) {
            waiter = try LockWaiter(steps, on: handle.descriptor.number, done: line.set)
        } catch {
            return .failed(error)
        }
        switch await line.suspend(until: deadline) {
        case .happened(let outcome): return WaitOutcome(outcome, unless: .cancelled)
        case .timedOut:
            waiter.cancel()
            return WaitOutcome(await line.suspend(), unless: .timedOut)
        case .cancelled:
            waiter.cancel()
            return WaitOutcome(await line.suspend(), unless: .cancelled)
        }
    }
}

extension WaitOutcome {
    /// Converts the outcome of a wait that was ended for `reason`. A grant at the same moment counts as a grant,
    /// because the lock is held.
    init(_ outcome: LockWaiter.Outcome, unless reason: WaitOutcome) {
        switch outcome {
        case .granted: self = .granted
        case .cancelled: self = reason
        case .failed(let errno): self = .failed(errno)
        }
    }
}
