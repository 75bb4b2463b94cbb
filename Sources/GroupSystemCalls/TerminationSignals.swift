import CGroupLinux
import Glibc

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a value to look at, so that a command can put its affairs in order.
package struct TerminationSignals: Sendable {
    /// From now on these signals only leave their number. System calls: sigaction(2)
    package init() { clinux_note_signals() }

    /// The last one that came.
    package var received: Int32? {
        let number = clinux_noted_signal()
        return number == 0 ? nil : number
    }

    /// Lets time pass, as long as no signal comes, and at most a tenth of a second: one may come just before.
    /// System calls: poll(2)
    package func wait(nanoseconds: Int64) {
        if received == nil { _ = poll(nil, 0, Int32(min(100, max(1, nanoseconds / 1_000_000)))) }
    }
}
