import CGroupLinux

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a value to read, so that a command can clean up before it ends.
package struct TerminationSignals: Sendable {
    /// Makes these signals only record their number from now on. System calls: sigaction(2)
    package init() { clinux_note_signals() }

    /// The last signal that arrived.
    package var received: Int32? { Self.latest }

    /// Whether there is a value of this type, in this process: then no signal ends a write that waits for its reader.
    package static var areNoted: Bool { clinux_notes_signals() != 0 }

    /// The last signal that arrived, for code that has no value of this type; nil while `areNoted` is false.
    package static var latest: Int32? {
        let number = clinux_noted_signal()
        return number == 0 ? nil : number
    }

    /// Waits until a signal arrives or the time is over; may return early. Each signal is an `Interruption`.
    /// System calls: futex(FUTEX_WAIT)
    package func wait(nanoseconds: Int64) {
        let seen = Interruption.latest
        if received == nil { Interruption.wait(since: seen, atMost: max(0, nanoseconds)) }
    }
}
