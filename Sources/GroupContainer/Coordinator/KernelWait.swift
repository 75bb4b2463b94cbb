import GroupSystemCalls

/// How a wait for a lock ended.
enum WaitOutcome: Equatable, Sendable {
    case granted, timedOut, cancelled
    case failed(Errno)
}

/// One wait in the kernel for byte locks, by a thread that blocks or a task that suspends. In both a cancelled or late
/// wait leaves no lock.
enum KernelWait {
    typealias Line = Signal<LockWaiter.Outcome>

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

    /// Suspends the calling task; the thread that sleeps in the kernel is the waiter's own.
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
    /// A grant that met the end of the wait is a grant: the lock is there.
    init(_ outcome: LockWaiter.Outcome, unless reason: WaitOutcome) {
        switch outcome {
        case .granted: self = .granted
        case .cancelled: self = reason
        case .failed(let errno): self = .failed(errno)
        }
    }
}
