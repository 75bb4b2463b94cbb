import CGroupLinux

/// The kernel's notification that the wall clock jumped: it was set, or the machine resumed.
package struct WallClockWatch: ~Copyable, Sendable {
    private let timer: FileDescriptor

    /// The descriptor, which is ready as `input` once the clock has jumped.
    package var descriptor: Int32 { timer.number }

    /// Begins to watch. System calls: timerfd_create(2), timerfd_settime(2) with TFD_TIMER_CANCEL_ON_SET
    package init() throws(Errno) { timer = try Self.watching() }

    private static func watching() throws(Errno) -> FileDescriptor {
        let timer = FileDescriptor(owning: try check { clinux_clock_watch() })
        let number = timer.number
        _ = try check { clinux_clock_watch_begin(number) }
        return timer
    }

    /// Waits for the next jump; the descriptor is not ready any more. System calls: timerfd_settime(2)
    package func wait() throws(Errno) {
        let timer = timer.number
        _ = try check { clinux_clock_watch_begin(timer) }
    }
}
