import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A wait in the kernel for one or more byte locks, taken one after the other on a thread named `lock-wait` that sleeps
/// in `fcntl(F_OFD_SETLKW)`. Nothing polls; a cancellation takes less than a millisecond and leaves no lock behind.
@safe package final class LockWaiter: Sendable {
    /// One step of the thread: a lock on a range.
    package struct Step: Equatable, Sendable {
        package var lock: ByteLock
        package var range: ByteRange
        /// Whether the range is locked as a whole or not at all: while another process holds a byte of it, the waiter
        /// holds no other byte of it.
        package var isUndivided: Bool

        package init(_ lock: ByteLock, _ range: ByteRange, isUndivided: Bool = false) {
            self.lock = lock
            self.range = range
            self.isUndivided = isUndivided
        }
    }

    package enum Outcome: Equatable, Sendable {
        case granted, cancelled
        case failed(Errno)
    }

    private final class Completion: Sendable {
        let call: @Sendable (Outcome) -> Void
        init(_ call: @escaping @Sendable (Outcome) -> Void) { self.call = call }
    }

    private nonisolated(unsafe) let waiter: OpaquePointer

    /// Starts the wait. `done` is called exactly once, on the waiting thread, also when the wait is cancelled.
    /// The descriptor must stay open until then.
    package init(
        _ steps: [Step], on descriptor: Int32, done: @escaping @Sendable (Outcome) -> Void
    ) throws(Errno) {
        let raw = steps.map {
            clinux_lock_step(
                start: $0.range.start, length: $0.range.length, type: $0.lock.type, undivided: $0.isUndivided ? 1 : 0)
        }
        let completion = unsafe Unmanaged.passRetained(Completion(done))
        var started: OpaquePointer?
        let error = unsafe clinux_lock_waiter_start(
            descriptor, raw, raw.count,
            { context, error in
                guard let context = unsafe context else { return }
                let completion = unsafe Unmanaged<Completion>.fromOpaque(context).takeRetainedValue()
                completion.call(error == 0 ? .granted : error == ECANCELED ? .cancelled : .failed(Errno(error)))
            }, completion.toOpaque(), &started)
        guard error == 0, let started = unsafe started else {
            unsafe completion.release()
            throw Errno(error)
        }
        unsafe waiter = started
    }

    deinit { unsafe clinux_lock_waiter_release(waiter) }

    /// Ends the wait; where the lock was granted first, `done` receives `granted`.
    package func cancel() { unsafe clinux_lock_waiter_cancel(waiter) }
}
