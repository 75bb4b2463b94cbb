import CGroupLinux

/// A count of the times when this process woke its own threads that sleep until another process wakes them: because of
/// a signal, a closed output, a cancelled task. Read the count, check the reasons to stop, and sleep: an interruption
/// after the reading ends the sleep.
package struct Interruption: Equatable, Sendable {
    let count: UInt32

    /// The interruptions up to now.
    package static var latest: Interruption { Interruption(count: clinux_interruptions()) }

    /// Sleeps until an interruption after `seen`, at most some nanoseconds. May return early. System calls:
    /// futex(FUTEX_WAIT)
    package static func wait(since seen: Interruption, atMost nanoseconds: Int64) {
        clinux_sleep_interruptibly(seen.count, nanoseconds)
    }

    /// Wakes all threads of this process that sleep so. System calls: futex(FUTEX_WAKE)
    package static func raise() { clinux_interrupt() }
}
