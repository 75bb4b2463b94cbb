import CGroupLinux
import Dispatch
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Threads for work that blocks. Dispatch has at most 255 threads for everything in the process, including the
/// cooperative pool and its timers: work that blocks on them would stop all of it. A few threads are kept for later
/// work.
package enum WorkThread {
    package typealias Work = @Sendable () -> Void

    private final class Worker: Sendable {
        let next: Guarded<Work?>
        let woken = DispatchSemaphore(value: 0)
        init(_ first: @escaping Work) { next = Guarded(first) }
    }
    private struct State: Sendable {
        var idle: [Worker] = []
        /// The threads of a forked child's parent do not exist in the child.
        var forkGeneration = clinux_fork_generation()
    }
    private static let state = Guarded(State())
    private static let kept = 16
    /// The time for which an idle thread is kept.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// Runs the work on a thread, now. Error: `EAGAIN` where the process or the system may not have more threads;
    /// nothing is done then. Library calls: pthread_create(3), where no thread is idle
    package static func start(_ work: @escaping Work) throws(Errno) {
        let idle = state.withLock { state in
            if state.forkGeneration != clinux_fork_generation() { state = State() }
            return state.idle.popLast()
        }
        guard let idle else { return try create(Worker(work)) }
        idle.next.withLock { $0 = work }
        idle.woken.signal()
    }

    private static func create(_ worker: Worker) throws(Errno) {
        let context = unsafe Unmanaged.passRetained(worker).toOpaque()
        var thread = pthread_t()
        let error = unsafe clinux_start_thread(
            &thread, 0,
            { context in
                guard let context = unsafe context else { return nil }
                WorkThread.serve(unsafe Unmanaged<Worker>.fromOpaque(context).takeRetainedValue())
                return nil
            }, context)
        if error == 0 { return }
        unsafe Unmanaged<Worker>.fromOpaque(context).release()
        throw Errno(error)
    }

    private static func serve(_ worker: Worker) {
        while runNext(of: worker) {
            let isKept = state.withLock { state in
                if state.idle.count >= kept { return false }
                state.idle.append(worker)
                return true
            }
            if !isKept { return }
            if worker.woken.wait(timeout: .now() + patience) == .success { continue }
            let isUnused = state.withLock { state in
                guard let index = state.idle.firstIndex(where: { $0 === worker }) else { return false }
                state.idle.remove(at: index)
                return true
            }
            if isUnused { return }
            // Work was assigned at the same moment.
            worker.woken.wait()
        }
    }

    /// Returns whether there was work. The work, with all that it refers to, is released when it is done, and not when
    /// the thread gets other work.
    private static func runNext(of worker: Worker) -> Bool {
        guard let work = worker.next.withLock({ $0.take() }) else { return false }
        Caller.begin()
        work()
        return true
    }
}
