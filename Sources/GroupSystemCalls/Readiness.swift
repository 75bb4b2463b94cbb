import CGroupLinux
import Glibc

/// What a descriptor is awaited for, or ready for.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// There is something to read, or nobody is at the other end any more.
    package static let input = Readiness(rawValue: Int32(clinux_ready_input))
    /// There is room to write.
    package static let output = Readiness(rawValue: Int32(clinux_ready_output))
    /// What EPOLLPRI stands for: of a pressure file, that the pressure is there.
    package static let urgent = Readiness(rawValue: Int32(clinux_ready_urgent))
}

extension Poller {
    /// Waits for this descriptor too, as for nothing before. System calls: epoll_ctl(EPOLL_CTL_ADD)
    package func add(_ descriptor: Int32, for what: Readiness) throws(Errno) {
        let epoll = epoll.number
        _ = try check { clinux_epoll_set(epoll, descriptor, what.rawValue, 0) }
    }

    /// Waits for it in another way; for nothing: it leaves. System calls: epoll_ctl(EPOLL_CTL_MOD, EPOLL_CTL_DEL)
    package func change(_ descriptor: Int32, to what: Readiness) throws(Errno) {
        let epoll = epoll.number
        _ = try check { clinux_epoll_set(epoll, descriptor, what.rawValue, 1) }
    }

    /// What is ready, of at most 64 descriptors; none: the time is over (nil has no end), a signal came, or `wake` was
    /// called. What is left is ready still. For one thread at a time. System calls: epoll_pwait2(2), read(2)
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
