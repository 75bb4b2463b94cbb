import GroupSystemCalls

/// What a request waits for.
enum LockWait {
    /// Its turn in this process.
    case turn(Signal<Void>)
    /// A seat for a thread that waits in the kernel.
    case seat(WaiterThreads.Place)
    /// The other processes.
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
    init(_ ending: Signal<Void>.Ending) {
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
    /// Who may only read stands at a turnstile with a shared lock: a writer in it is waited for all the same, and waits
    /// for it in turn, if only for the moment that the passage takes.
    func step(_ step: LockPlan.Part.Step) -> LockWaiter.Step {
        // One byte is a turnstile; anything wider is refused by the kernel.
        if isOnlyForReading, case .exclusive(let start, length: 1) = step {
            return LockWaiter.Step(.shared, ByteRange(start: start, length: 1))
        }
        return LockWaiter.Step(step)
    }

    /// False: somebody is in the way.
    func tryStep(_ step: LockPlan.Part.Step) throws(Errno) -> Bool {
        let step = self.step(step)
        return try descriptor.tryLock(step.lock, step.range)
    }

    /// One after the other, up to the first that somebody is in the way of.
    func trySteps(_ steps: [LockPlan.Part.Step]) throws(Errno) -> Bool {
        for step in steps where try !tryStep(step) { return false }
        return true
    }
}
