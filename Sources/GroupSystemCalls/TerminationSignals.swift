import CGroupLinux

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a value to look at, so that a command can put its affairs in order.
package struct TerminationSignals: Sendable {
    /// From now on these signals only leave their number. System calls: sigaction(2)
    package init() { clinux_note_signals() }

    /// The last one that came.
    package var received: Int32? {
        let number = clinux_noted_signal()
        return number == 0 ? nil : number
    }
}
