import Glibc
import GroupSystemCalls
import PresenterModel

/// Prints the events of a worker, each with one write(2), so that what was printed stays when the process is killed;
/// and carries out what the process does to itself.
final class EventWriter: Sendable {
    private let process: String
    private let own: Schedule.Intervention?
    /// How often the event that `own` follows is still to come.
    private let left: Guarded<Int>

    init(of process: String, own: Schedule.Intervention?) {
        self.process = process
        self.own = own
        left = Guarded(own?.count ?? 0)
    }

    /// From now on the process does nothing to itself.
    func disarm() { left.withLock { $0 = 0 } }

    func write(_ word: StormEvent.Word, _ fields: String = "", at time: Int64 = awakeNanoseconds()) {
        print("\(time) \(process) \(word.rawValue) \(fields)")
        guard let own, own.word == word else { return }
        let isDue = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isDue { arm(own) }
    }

    /// A line that is no event is a violation.
    func print(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
        if count != bytes.count { exit(74) }
    }

    /// The kernel's timer sends the signal while this thread goes on: it arrives between any two instructions.
    private func arm(_ own: Schedule.Intervention) {
        let isKill =
            if case .kill = own.action { true } else { false }
        print("\(awakeNanoseconds()) \(process) armed action=\(isKill ? "kill" : "stop") delay=\(own.delay)")
        let signal = isKill ? SIGKILL : SIGSTOP
        var event = unsafe sigevent()
        unsafe event.sigev_notify = 0  // SIGEV_SIGNAL
        unsafe event.sigev_signo = signal
        var timer: timer_t?
        var time = itimerspec()
        time.it_value.tv_nsec = own.delay * 1_000
        let isTimed = unsafe own.delay > 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
        if isTimed { unsafe timer_settime(timer, 0, &time, nil) } else { kill(getpid(), signal) }
    }
}
