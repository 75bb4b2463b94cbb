import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The kinds of readiness that a descriptor is awaited for, or has.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// There is something to read, or the other end is closed.
    package static let input = Readiness(rawValue: Int32(clinux_ready_input))
    /// There is room to write.
    package static let output = Readiness(rawValue: Int32(clinux_ready_output))
    /// The readiness of EPOLLPRI: for a pressure file, that the pressure is there.
    package static let urgent = Readiness(rawValue: Int32(clinux_ready_urgent))
}

extension Poller {
    /// Adds a descriptor to wait for, which was not added before. System calls: epoll_ctl(EPOLL_CTL_ADD)
    package func add(_ descriptor: Int32, for what: Readiness) throws(Errno) {
        let epoll = epoll.number
        _ = try check { clinux_epoll_set(epoll, descriptor, what.rawValue, 0) }
    }

    /// Changes what a descriptor is awaited for; nothing removes it. System calls: epoll_ctl(EPOLL_CTL_MOD,
    /// EPOLL_CTL_DEL)
    package func change(_ descriptor: Int32, to what: Readiness) throws(Errno) {
        let epoll = epoll.number
        _ = try check { clinux_epoll_set(epoll, descriptor, what.rawValue, 1) }
    }

    /// Waits, and returns what is ready, of at most 64 descriptors; empty when the time is over (nil: no limit), a
    /// signal arrived, or `wake` was called. Other ready descriptors stay ready. For one thread at a time.
    /// System calls: epoll_pwait2(2), read(2)
    package func ready(nanoseconds: Int64?) throws(Errno) -> [(descriptor: Int32, what: Readiness)] {
        var ready = [clinux_readiness](repeating: clinux_readiness(), count: 64)
        let count = unsafe clinux_epoll_wait_ready(epoll.number, nanoseconds.map { max(0, $0) } ?? -1, &ready, 64)
        if count == -1 {
            if errno == EINTR { return [] }
            throw Errno.last
        }
        return ready.prefix(Int(count)).compactMap { entry in
            if entry.descriptor == waker.number {
                forgetWakes()
                return nil
            }
            return (entry.descriptor, Readiness(rawValue: entry.what))
        }
    }
}
