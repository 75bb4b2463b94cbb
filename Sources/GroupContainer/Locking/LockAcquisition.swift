import GroupSystemCalls

/// A request on its way to its locks: it takes its turn in this process, then its parts from the lowest to the highest,
/// each by one try or, where another holder is in the way, by a wait in the kernel. `advance` returns what to wait for
/// next; the caller decides how to wait for that. Used by one thread or task at a time.
struct LockAcquisition {
    private let request: LockRequest
    private let member: Member
    /// The parts that the enclosing locks of the caller do not cover.
    private let plan: LockPlan
    private let isNested: Bool
    /// A waiter that holds anything, in any container, needs no seat: the waiters that have the seats may be waiting
    /// for what this one holds.
    private let needsSeat = LockFrame.current == nil
    private let chain: UInt64

    private var turn: ProcessQueue.Turn?
    private var handle: LockFile.Handle?
    /// The number of parts that are locked.
    private var taken = 0
    /// The entries in the member table, one for each part while entries are free.
    private var entries: [Int] = []
    private var ticket: UInt64 = 0
    private var hasSeat = false
    /// The part for which `want` is raised.
    private var wanting: LockPlan.Part?

    init(_ request: LockRequest) throws(CoordinationError) {
        (self.request, member) = (request, request.member)
        try member.checkNotForked(request.operation)
        try member.checkMayTake(request)
        // Operations that this member could not complete keep their locks, and this request may want one of those.
        try member.finishOwn()
        let held = LockFrame.held(of: member)
        isNested = !held.isEmpty
        plan = try Self.uncovered(request, under: held)
        chain = held.first?.chain ?? 0
    }

    private static func uncovered(_ request: LockRequest, under held: [HeldLock]) throws(CoordinationError)
        -> LockPlan
    {
        if held.isEmpty { return request.plan }
        var rest: [LockPlan.Part] = []
        for part in request.plan.parts {
            let location = request.location(of: part)
            let locks = held.map { lock in
                Nesting.Held(plan: lock.plan, namesItem: location.map(lock.request.names) ?? true)
            }
            switch Nesting.judge(part, under: locks) {
            case .independent: rest.append(part)
            case .granted: break
            case .refused:
                throw CoordinationError(
                    .deadlock, item: location.map { printable($0.bytes) }, operation: request.operation,
                    cause: "the closure that asks holds it already, and would wait for itself",
                    advice: "use the access that the closure was given, or name everything in one request")
            }
        }
        return LockPlan(rest)
    }

    private var parts: LockPlan.Parts { plan.parts }

    /// Returns what to wait for next, or nil once everything is locked.
    mutating func advance() throws(CoordinationError) -> LockWait? {
        if parts.isEmpty { return nil }
        if turn == nil {
            let turn = member.lockManager.turns.enter(plan, isNested: isNested)
            self.turn = turn
            if let signal = turn.signal {
                announce(queued: nil)
                try lookForCircle()
                return .turn(signal)
            }
        }
        let handle = try borrow()
        while taken < parts.count {
            let rest = try take(parts[taken], on: handle)
            if rest.isEmpty {
                advancePart()
                continue
            }
            if needsSeat, !hasSeat, let place = WaiterThreads.takeSeat() {
                // A request that waits for a seat must not keep any lock: the waiters that have a seat may be waiting
                // for that lock.
                for entry in entries { member.memberTable.noteStage(.wanted, of: entry) }
                member.lockFile.unlock(handle)
                lowerWant()
                taken = 0
                return .seat(place)
            }
            hasSeat = needsSeat
            try lookForCircle()
            return .kernel(rest.map(handle.step), handle)
        }
        return nil
    }

    /// Records how a wait ended. Throws unless the wait was granted; the caller must then call `abandon`.
    mutating func note(_ outcome: WaitOutcome, of wait: LockWait) throws(CoordinationError) {
        if case .seat(let place) = wait {
            if outcome == .granted { hasSeat = true } else { WaiterThreads.leaveLine(place) }
        }
        // This runs before our own entry is removed, so that the holders in the way can still be seen.
        if outcome != .granted { throw request.error(for: outcome, chain: ownChain) }
        if case .kernel = wait { advancePart() }
    }

    /// Returns the held lock, once `advance` has returned nil. What a dead member left half done with the items must be
    /// repaired before the items are read.
    mutating func complete() -> HeldLock {
        guard let turn, let handle else { return HeldLock(request, chain: chain, nil) }
        member.lockManager.turns.noteGrant(turn)
        if hasSeat { WaiterThreads.giveSeatBack() }
        hasSeat = false
        if entries.isEmpty { noteParts(.held) }
        let lock = HeldLock(
            request, chain: ownChain,
            HeldLock.Grip(handle: handle, accesses: entries.reduce(0) { $0 | 1 << UInt32($1) }, turn: turn))
        (self.turn, self.handle, entries) = (nil, nil, [])
        return lock
    }

    /// Gives back the locks, the turn, the seat and the entries in the member table.
    mutating func abandon() {
        lowerWant()
        for entry in entries { member.memberTable.forgetAccess(entry) }
        if let handle { member.lockFile.giveBack(handle) }
        if let turn { member.lockManager.turns.leave(turn) }
        if hasSeat { WaiterThreads.giveSeatBack() }
        (self.turn, self.handle, entries, hasSeat) = (nil, nil, [], false)
    }

    private mutating func borrow() throws(CoordinationError) -> LockFile.Handle {
        if let handle { return handle }
        let borrowed = try member.lockFile.borrow()
        handle = borrowed
        return borrowed
    }

    private mutating func advancePart() {
        lowerWant()
        if taken < entries.count { member.memberTable.noteStage(.held, of: entries[taken]) }
        taken += 1
    }

    private mutating func raiseWant(_ part: LockPlan.Part) {
        if wanting == part { return }
        lowerWant()
        member.memberTable.raiseWant(bucket: part.wantBucket)
        wanting = part
    }

    private mutating func lowerWant() {
        if let wanting { member.memberTable.lowerWant(bucket: wanting.wantBucket) }
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
    private mutating func take(_ part: LockPlan.Part, on handle: LockFile.Handle) throws(CoordinationError)
        -> [LockPlan.Part.Step]
    {
        do throws(Errno) {
            let isWanted = member.memberTable.isWanted(part)
            if isNested || !isWanted, try handle.tryStep(part.whole) { return [] }
            // The ticket is drawn before the request takes its place, so that tickets are in the order in which
            // requests reach the turnstile.
            announce(queued: taken)
            raiseWant(part)
            var gates = gates(of: part)
            while let gate = gates.first, try handle.trySteps(LockPlan.Part.pass(gate)) {
                gates.removeFirst()
            }
            guard gates.isEmpty, try handle.tryStep(part.arrival) else {
                return gates.flatMap(LockPlan.Part.pass) + [part.arrival] + part.passage
            }
            guard try handle.trySteps(part.passage) else {
                // Whatever the tickets say, no other request in the line is before this one.
                if taken < entries.count { member.memberTable.noteStage(.atTurnstile, of: entries[taken]) }
                return part.passage
            }
            // Another member wants the part, and yet the part was free: that member may have died while waiting.
            if isWanted { member.repairDead(wanting: part) }
            return []
        } catch {
            throw CoordinationError(error, item: request.label, operation: request.operation)
        }
    }

    /// Returns the turnstiles of enclosing directories that the request has to pass first.
    private func gates(of part: LockPlan.Part) -> [LockRange] {
        let around = isNested ? LockFrame.held(of: member).flatMap { $0.plan.parts.map(\.range) } : []
        return part.range.enclosing.filter { gate in
            member.memberTable.isWanted(bucket: gate.bucket)
                && part.standsBehind(gate, holding: around + parts[..<taken].map(\.range))
        }
    }
}

// MARK: - What others see

extension LockAcquisition {
    private var ownChain: UInt64 { isNested ? chain : turn?.ticket.number ?? 0 }

    private mutating func noteParts(_ stage: WaitGraph.Claim.Stage) {
        guard let turn, let slot = member.memberTable.slot else { return }
        let order = isNested ? turn.ticket.number : 0
        for part in parts {
            let claim = WaitGraph.Claim(
                member: slot, chain: ownChain, ticket: 0, order: order, stage: stage, part: part)
            let path = request.location(of: part)?.bytes ?? []
            guard let entry = member.memberTable.note(claim, purpose: request.purpose, path: path) else { return }
            entries.append(entry)
        }
    }

    /// Announces that a wait begins: writes the parts into the member table and draws a ticket.
    private mutating func announce(queued index: Int?) {
        let memberTable = member.memberTable
        if entries.isEmpty { noteParts(.wanted) }
        for (number, entry) in entries.enumerated() where number < taken { memberTable.noteStage(.held, of: entry) }
        let queued = index.flatMap { $0 < entries.count ? entries[$0] : nil }
        ticket = memberTable.drawTicket(for: Array(entries.dropFirst(taken)), queued: queued)
    }

    private func outlook() -> WaitGraph.Outlook {
        guard let slot = member.memberTable.slot else { return .noCircle }
        return WaitGraph(member.memberTable.claims()).outlook(member: slot, chain: ownChain, ticket: ticket)
    }

    /// How long to wait for a ticket that was drawn and not written yet. Its member may have been stopped between the
    /// two instructions; a circle that is not found in this time ends with a deadline.
    private static let patience = Duration.seconds(1)

    /// Nanoseconds within which a thread that was granted a lock by the kernel has normally recorded that.
    private static let moment: Int64 = 1_000_000

    /// Throws if this request waits in a circle. Only a chain that holds something can be waited for in turn, so only
    /// such a chain looks.
    private mutating func lookForCircle() throws(CoordinationError) {
        let memberTable = member.memberTable
        guard memberTable.slot != nil, isNested || taken > 0 else { return }
        var outlook = outlook()
        if outlook == .circle {
            // A member of the circle may have been granted its lock and not have recorded that yet. A new ticket is
            // drawn, because other requests may have come in between.
            pause(nanoseconds: Self.moment)
            ticket = memberTable.drawTicket(for: Array(entries.dropFirst(taken)), queued: nil)
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
            throw CoordinationError(
                .deadlock, item: request.label, operation: request.operation,
                cause: "who holds it waits, directly or through others, for what the closure that asks holds",
                holders: memberTable.holders(inTheWayOf: request.plan, besides: ownChain),
                advice: "let go of what is held and try again, or name everything in one request")
        }
    }
}

/// The next thing that a request waits for.
enum LockWait {
    /// The request's turn in this process.
    case turn(OneShotEvent<Void>)
    /// A seat for a thread that waits in the kernel.
    case seat(WaiterThreads.Place)
    /// Locks of other processes, by a wait in the kernel.
    case kernel([LockWaiter.Step], LockFile.Handle)

    func block(until deadline: Deadline) -> WaitOutcome {
        if deadline.isOver { return .timedOut }
        return switch self {
        case .turn(let signal): WaitOutcome(signal.block(until: deadline))
        case .seat(let place): WaitOutcome(place.signal.block(until: deadline))
        case .kernel(let steps, let handle): KernelWait.block(steps, on: handle, until: deadline)
        }
    }

    func suspend(until deadline: Deadline) async -> WaitOutcome {
        if deadline.isOver { return .timedOut }
        return switch self {
        case .turn(let signal): WaitOutcome(await signal.suspend(until: deadline))
        case .seat(let place): WaitOutcome(await place.signal.suspend(until: deadline))
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
enum WaitOutcome: Equatable, Sendable {
    case granted, timedOut, cancelled
    case failed(Errno)
}

/// A wait in the kernel for byte locks, by a thread that blocks or a task that suspends. A wait that is cancelled or
/// times out leaves no lock.
enum KernelWait {
    typealias Line = OneShotEvent<LockWaiter.Outcome>

    /// Blocks the calling thread.
    static func block(_ steps: [LockWaiter.Step], on handle: LockFile.Handle, until deadline: Deadline) -> WaitOutcome {
        let line = Line()
        do throws(Errno) {
            let waiter = try LockWaiter(steps, on: handle.descriptor.number, done: line.set)
            let ending = line.block(until: deadline)
            if case .happened(let outcome) = ending { return WaitOutcome(outcome, unless: .timedOut) }
            waiter.cancel()
            guard case .happened(let outcome) = line.block() else { return .timedOut }
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
