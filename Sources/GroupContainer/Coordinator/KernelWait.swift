import Dispatch
import SystemCalls

/// One wait for byte locks, by a thread that blocks or a task that suspends. In both a cancelled or late wait leaves no
/// lock.
enum KernelWait {
    enum Outcome: Equatable, Sendable {
        case granted, timedOut, cancelled
        case failed(Errno)
    }

    /// Blocks the calling thread.
    static func block(_ steps: [LockWaiter.Step], on handle: LockFile.Handle, until deadline: Deadline) -> Outcome {
        let finished = DispatchSemaphore(value: 0)
        let outcome = Guarded<LockWaiter.Outcome?>(nil)
        let waiter: LockWaiter
        do throws(Errno) {
            waiter = try LockWaiter(steps, on: handle.descriptor.number) { result in
                outcome.withLock { $0 = result }
                finished.signal()
            }
        } catch {
            return .failed(error)
        }
        if let remaining = deadline.remaining {
            if finished.wait(timeout: .now() + .nanoseconds(Int(clamping: remaining))) == .timedOut {
                waiter.cancel()
                finished.wait()
            }
        } else {
            finished.wait()
        }
        switch outcome.withLock({ $0 }) {
        case .granted?: return .granted  // even if it met the cancellation: the lock is there
        case .failed(let errno)?: return .failed(errno)
        case .cancelled?, nil: return .timedOut
        }
    }

    /// Suspends the calling task; the thread that sleeps in the kernel is the waiter's own.
    static func suspend(_ steps: [LockWaiter.Step], on handle: LockFile.Handle, until deadline: Deadline) async
        -> Outcome
    {
        let race = Guarded(Race())
        return await withTaskCancellationHandler {
            let result = await withCheckedContinuation {
                (continuation: CheckedContinuation<LockWaiter.Outcome, Never>) in
                do throws(Errno) {
                    let waiter = try LockWaiter(steps, on: handle.descriptor.number) {
                        continuation.resume(returning: $0)
                    }
                    if race.withLock({ $0.begin(waiter) }) { waiter.cancel() }
                } catch {
                    continuation.resume(returning: .failed(error))
                    return
                }
                guard let remaining = deadline.remaining else { return }
                let timer = Task {
                    try? await Task.sleep(for: .nanoseconds(remaining))  // allowed: the deadline's timer
                    if !Task.isCancelled { race.withLock { $0.stop(.timedOut) }?.cancel() }
                }
                if race.withLock({ $0.attach(timer) }) { timer.cancel() }
            }
            let (timer, reason) = race.withLock { $0.finish() }
            timer?.cancel()
            switch result {
            case .granted: return .granted
            case .failed(let errno): return .failed(errno)
            case .cancelled: return reason ?? .cancelled
            }
        } onCancel: {
            race.withLock { $0.stop(.cancelled) }?.cancel()
        }
    }

    /// Who ends the wait: the grant, the deadline or the task's cancellation; the first to come decides the reason.
    private struct Race: Sendable {
        private var waiter: LockWaiter?
        private var timer: Task<Void, Never>?
        private var reason: Outcome?
        private var isFinished = false

        /// True: it was stopped before it began.
        mutating func begin(_ waiter: LockWaiter) -> Bool {
            if !isFinished { self.waiter = waiter }
            return reason != nil
        }

        mutating func attach(_ timer: Task<Void, Never>) -> Bool {
            if !isFinished { self.timer = timer }
            return isFinished
        }

        mutating func stop(_ why: Outcome) -> LockWaiter? {
            if isFinished { return nil }
            reason = reason ?? why
            return waiter
        }

        mutating func finish() -> (timer: Task<Void, Never>?, reason: Outcome?) {
            isFinished = true
            defer { (waiter, timer) = (nil, nil) }
            return (timer, reason)
        }
    }
}
