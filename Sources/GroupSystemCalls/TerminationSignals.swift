import CGroupLinux
import Glibc

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a value to read, so that a command can clean up before it ends.
package struct TerminationSignals: Sendable {
    /// Makes these signals only record their number from now on. System calls: sigaction(2)
    package init() { clinux_note_signals() }

    /// The last signal that arrived.
    package var received: Int32? {
        let number = clinux_noted_signal()
        return number == 0 ? nil : number
    }

    /// Waits until a signal arrives or the time is over, and at most a tenth of a second, because a signal may arrive
    /// just before.
    /// System calls: poll(2)
    package func wait(nanoseconds: Int64) {
        if received == nil { _ = poll(nil, 0, Int32(min(100, max(1, nanoseconds / 1_000_000)))) }
    }
}
