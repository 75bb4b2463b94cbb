import CGroupLinux
import Foundation
import Glibc
import GroupSystemCalls
import Testing

/// A process that a test started, and its process group. The process is signaled only until it was reaped, when its
/// number may be another's. If the test releases it before, it is killed, with all that it started.
final class ProcessLife: Sendable {
    let identifier: pid_t
    /// The suite whose processor time it uses.
    private let suite: String
    private let ended = Guarded<Int32?>(nil)
    /// Readable once the process has ended, whoever reaps it.
    private let end: FileDescriptor
    /// Becomes true with the end; there once a task waits for it.
    private let isSeen = Guarded<(hasEnded: Awaited<Bool>, watch: EventThread.Watch)?>(nil)

    /// Takes over a process that leads its group, as `Spawn` starts it.
    init(of identifier: pid_t) {
        self.identifier = identifier
        suite = ProcessUsage.suite
        ProcessUsage.start(in: suite)
        end = FileDescriptor(owning: clinux_process_descriptor(identifier))
    }

    deinit {
        if let watch = isSeen.withLock({ $0?.watch }) { EventThread.shared.end(watch, of: end.number) }
        if Self.isMeasured && status == nil { letFinish() }
        signal(SIGKILL, toGroup: true)
        reap()
    }

    /// Whether tools/coverage runs the tests: a process writes what it has run when it ends by itself.
    private static let isMeasured = environmentValue("LLVM_PROFILE_FILE") != nil

    /// Sends SIGTERM, and waits two seconds for the end; a stopped process does not react to it.
    private func letFinish() {
        signal(SIGTERM, toGroup: true)
        _ = isReadable(end.number, within: .seconds(2))
    }

    /// 128 + n for signal n; nil as long as the process was not reaped.
    var status: Int32? { ended.withLock { $0 } }

    /// Sends a signal; does nothing once the process was reaped.
    func signal(_ number: Int32, toGroup: Bool = false) {
        ended.withLock { if $0 == nil { _ = kill(toGroup ? -identifier : identifier, number) } }
    }

    /// Stops the process, and returns when the kernel has stopped all of it; false if it has ended.
    func stop() -> Bool {
        ended.withLock { status in
            guard status == nil else { return false }
            _ = kill(identifier, SIGSTOP)
            return isStopped()
        }
    }

    /// Waits until a signal that was sent has stopped the process; false if it has ended.
    func awaitStop() -> Bool { ended.withLock { $0 == nil && isStopped() } }

    /// Waits for the stop or the end. To be called with the lock.
    private func isStopped() -> Bool {
        var information = unsafe siginfo_t()
        // The process stays to be waited for in any case.
        let answer = unsafe waitid(P_PID, id_t(identifier), &information, WSTOPPED | WEXITED | WNOWAIT)
        return unsafe answer == 0 && information.si_code == 5  // CLD_STOPPED
    }

    /// Whether the process has ended; it need not be reaped yet.
    var hasEnded: Bool {
        ended.withLock { status in
            if status != nil { return true }
            var information = unsafe siginfo_t()
            let answer = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
            return unsafe answer == 0 && information.si_signo != 0
        }
    }

    /// Waits in a task for the end; the process stays to be reaped. Returns false at the deadline.
    func end(until deadline: Date) async -> Bool {
        let hasEnded = isSeen.withLock { seen in
            if let seen { return seen.hasEnded }
            let (hasEnded, number) = (Awaited(false), end.number)
            let watch = EventThread.shared.watch(number) { watch in
                guard isReadable(number) else { return }
                EventThread.shared.end(watch, of: number)
                hasEnded.change { $0 = true }
            }
            seen = (hasEnded, watch)
            return hasEnded
        }
        return await hasEnded.wait(until: deadline) { $0 ? () : nil } != nil
    }

    /// Returns when the process has ended, and leaves it to be reaped: until then no other process has its number.
    static func awaitEnd(of identifier: pid_t) {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    }

    /// Waits for the end and returns the status; children may live on. A process that goes on for longer than any test
    /// waits is a failure, and is killed.
    @discardableResult func reap() -> Int32 {
        // First without reaping, so that no thread that signals has to wait.
        if status == nil && !isReadable(end.number, within: patience) {
            Issue.record("process \(identifier) does not end; it is killed")
            signal(SIGKILL, toGroup: true)
            Self.awaitEnd(of: identifier)
        }
        return ended.withLock { ended in
            if let ended { return ended }
            var raw: Int32 = 0
            var usage = rusage()
            while unsafe wait4(identifier, &raw, 0, &usage) < 0 && errno == EINTR {}
            ProcessUsage.end(in: suite, usage)
            let status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + raw & 0x7F
            ended = status
            return status
        }
    }
}
