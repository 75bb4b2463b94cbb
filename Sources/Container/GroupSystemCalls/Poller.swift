import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A wait for descriptors to become readable, which any thread can end.
package final class Poller: Sendable {
    let epoll: FileDescriptor
    let waker: FileDescriptor

    /// System calls: epoll_create1(2), eventfd(2)
    package init() throws(Errno) {
        epoll = FileDescriptor(owning: try check { clinux_epoll_create() })
        waker = FileDescriptor(owning: try check { clinux_eventfd() })
        try add(waker.number)
    }

    /// The descriptor of the poller itself, readable while an added one can be read, so that another poller can wait
    /// for all of them.
    package var descriptor: Int32 { epoll.number }

    /// Adds a descriptor to wait for; closing it removes it. System calls: epoll_ctl(EPOLL_CTL_ADD)
    package func add(_ descriptor: Int32) throws(Errno) {
        let epoll = epoll.number
        _ = try check { clinux_epoll_add(epoll, descriptor) }
    }

    /// Waits, and returns true if an added descriptor can be read; false when the time is over (nil: no limit), or
    /// `wake` was called. A wake that coincides with a readable descriptor gives true and is used up, so its reason is
    /// to be checked after every wait. For one thread at a time. System calls: epoll_pwait2(2), read(2)
    package func wait(nanoseconds: Int64?) throws(Errno) -> Bool {
        // An absolute deadline, so that repeated signals do not postpone the end.
        let deadline = nanoseconds.map { Self.saturated(monotonicNanoseconds(), $0) }
        // Two entries, of which at most one is the waker: neither a wake nor a full queue can hide the other.
        var ready: [Int32] = [-1, -1]
        while true {
            let left = deadline.map { max(0, $0 - monotonicNanoseconds()) } ?? -1
            let count = unsafe clinux_epoll_wait(epoll.number, left, &ready, Int32(ready.count))
            if count == -1 {
                if errno == EINTR { continue }
                throw Errno.last
            }
            let found = ready.prefix(Int(count))
            if found.contains(waker.number) { forgetWakes() }
            return found.contains { $0 != waker.number }
        }
    }

    /// Ends the present wait, or else the next one. From any thread. System calls: write(2)
    package func wake() {
        var one: UInt64 = 1
        // EAGAIN: the counter is full, so a wake is pending already.
        _ = unsafe write(waker.number, &one, 8)
    }

    /// Forgets the wakes that no wait has used up. System calls: read(2)
    package func forgetWakes() {
        var count: UInt64 = 0
        _ = unsafe read(waker.number, &count, 8)
    }

    private static func saturated(_ now: Int64, _ time: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(max(0, time))
        return overflow ? .max : sum
    }
}
