import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A wait for what a client writes, for its end, and for other threads: one thread waits, any thread wakes it. The
/// input may be a file of any type.
package final class InputWait: Sendable {
    private let waker: FileDescriptor

    /// What ended the wait; neither after a wake or a signal.
    package struct Events: Sendable {
        /// The input can be read, or has ended.
        package var isReadable: Bool
        /// No process can read what is written.
        package var isGone: Bool
    }

    /// System calls: eventfd(2)
    package init() throws(Errno) { waker = FileDescriptor(owning: try check { clinux_eventfd() }) }

    /// Waits for input (nil: not), and for the end of the reader of `output`. System calls: poll(2), read(2)
    package func wait(reading input: Int32?, writing output: Int32) -> Events {
        var entries = [
            pollfd(fd: waker.number, events: Int16(POLLIN), revents: 0),
            // A negative descriptor is left out.
            pollfd(fd: input ?? -1, events: Int16(POLLIN), revents: 0), pollfd(fd: output, events: 0, revents: 0),
        ]
        if unsafe poll(&entries, 3, -1) <= 0 { return Events(isReadable: false, isGone: false) }
        if entries[0].revents != 0 {
            var count: UInt64 = 0
            _ = unsafe read(waker.number, &count, 8)
        }
        let gone = Int16(POLLERR | POLLHUP | POLLNVAL)
        return Events(isReadable: entries[1].revents != 0, isGone: entries[2].revents & gone != 0)
    }

    /// Ends the wait of now, or else the next one. System calls: write(2)
    package func wake() {
        var one: UInt64 = 1
        // EAGAIN: the counter is full, so a wake is pending already.
        _ = unsafe write(waker.number, &one, 8)
    }
}
