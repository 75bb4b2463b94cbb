import CGroupLinux
import Foundation
import Glibc
import GroupSystemCalls
import Testing

/// A process that a test started, and its process group. It is reaped as soon as it has ended, and signaled only until
/// then, because its number may be another's afterwards. If the test releases it before, it is killed, with all that it
/// started.
///
/// A process that is left to be reaped later would cost a processor: Swift Testing, once it has run an exit test, has a
/// thread that waits for the end of any child, and is woken again at once while one is there that is not its own.
final class ProcessLife: Sendable {
    let identifier: pid_t
    /// The status as a shell has it, 128 + n for signal n, once the process was reaped.
    private let ended = Awaited<Int32?>(nil)

    /// Takes over a process that leads its group, as `Spawn` starts it.
    init(of identifier: pid_t) {
        self.identifier = identifier
        let suite = ProcessUsage.suite
        ProcessUsage.start(in: suite)
        let end = clinux_process_descriptor(identifier)
        EventThread.shared.watch(end) { [ended] watch in
            guard isReadable(end) else { return }
            EventThread.shared.end(watch, of: end)
            close(end)
            ended.change { status in
                var raw: Int32 = 0
                var usage = rusage()
                while unsafe wait4(identifier, &raw, 0, &usage) < 0 && errno == EINTR {}
                ProcessUsage.end(in: suite, usage)
                status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + raw & 0x7F
            }
        }
    }

    deinit {
        if Self.isMeasured && status == nil { letFinish() }
        signal(SIGKILL, toGroup: true)
        reap()
    }

    /// Whether tools/coverage runs the tests: a process writes what it has run when it ends by itself.
    private static let isMeasured = environmentValue("LLVM_PROFILE_FILE") != nil

    /// Sends SIGTERM, and waits two seconds for the end; a stopped process does not react to it.
    private func letFinish() {
        signal(SIGTERM, toGroup: true)
        _ = ended.wait(until: .after(.seconds(2))) { $0 }
    }

    /// 128 + n for signal n; nil as long as the process was not reaped.
    var status: Int32? { ended.withState { $0 } }

    /// Whether the process has ended, though it may not be reaped yet.
    var hasEnded: Bool {
        ended.withState { status in
            if status != nil { return true }
            var information = unsafe siginfo_t()
            let answer = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
            return unsafe answer == 0 && information.si_signo != 0
        }
    }

    /// Sends a signal; does nothing once the process was reaped.
    func signal(_ number: Int32, toGroup: Bool = false) {
        ended.withState { if $0 == nil { _ = kill(toGroup ? -identifier : identifier, number) } }
    }

    /// Stops the process, and returns when the kernel has stopped all of it; false if it has ended.
    func stop() -> Bool {
        ended.withState { status in
            guard status == nil else { return false }
            _ = kill(identifier, SIGSTOP)
            return isStopped()
        }
    }

    /// Waits until a signal that was sent has stopped the process; false if it has ended.
    func awaitStop() -> Bool { ended.withState { $0 == nil && isStopped() } }

    /// Waits for the stop or the end. To be called with the lock, so that the process stays to be waited for.
    private func isStopped() -> Bool {
        var information = unsafe siginfo_t()
        let answer = unsafe waitid(P_PID, id_t(identifier), &information, WSTOPPED | WEXITED | WNOWAIT)
        return unsafe answer == 0 && information.si_code == 5  // CLD_STOPPED
    }

    /// Waits for the end and returns the status; children may live on. A process that runs for longer than any test
    /// waits is a failure, and is killed.
    @discardableResult func reap() -> Int32 {
        if let status = ended.wait(until: .after(patience), for: { $0 }) { return status }
        Issue.record("process \(identifier) does not end; it is killed")
        signal(SIGKILL, toGroup: true)
        return ended.wait(until: .after(patience)) { $0 } ?? 128 + SIGKILL
    }

    /// Waits in a task for the end, and returns the status; nil at the deadline.
    func end(until deadline: Date) async -> Int32? { await ended.wait(until: deadline) { $0 } }

    /// Returns when a process has ended.
    static func awaitEnd(of identifier: pid_t) {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    }
}
