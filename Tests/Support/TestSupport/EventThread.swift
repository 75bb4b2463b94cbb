import CGroupLinux
import Foundation
import Glibc
import GroupSystemCalls

/// One thread that waits for all descriptors of all tests: the output of started processes, and their ends. (A thread
/// for each would be three for each process.)
final class EventThread: Sendable {
    static let shared = EventThread()

    private let epoll = clinux_epoll_create()
    private let watches = Guarded<[Int32: Watch]>([:])

    /// What is to be called for a descriptor.
    final class Watch: Sendable {
        fileprivate let handle: @Sendable (Watch) -> Void
        fileprivate init(_ handle: @escaping @Sendable (Watch) -> Void) { self.handle = handle }
    }

    private init() {
        let thread = Thread { [self] in
            var ready = [Int32](repeating: -1, count: 8)
            while true {
                let count = unsafe clinux_epoll_wait(epoll, -1, &ready, Int32(ready.count))
                for descriptor in ready.prefix(Int(max(0, count))) {
                    if let watch = watches.withLock({ $0[descriptor] }) { watch.handle(watch) }
                }
            }
        }
        thread.name = "events"
        thread.start()
    }

    /// Calls `handle` on the thread whenever the descriptor can be read. The number may be another file's by then, so
    /// it checks again what it can read.
    @discardableResult
    func watch(_ descriptor: Int32, _ handle: @escaping @Sendable (Watch) -> Void) -> Watch {
        let watch = Watch(handle)
        watches.withLock { $0[descriptor] = watch }
        _ = clinux_epoll_add(epoll, descriptor)
        return watch
    }

    /// Ends a watch; does nothing if the descriptor's number belongs to another one. To be called before the descriptor
    /// is closed: if it is a duplicate, closing does not end the watch.
    func end(_ watch: Watch, of descriptor: Int32) {
        watches.withLock { watches in
            guard watches[descriptor] === watch else { return }
            watches[descriptor] = nil
            _ = clinux_epoll_set(epoll, descriptor, 0, 1)
        }
    }
}

/// Returns whether a descriptor can be read, or is at its end; waits so long for that.
func isReadable(_ descriptor: Int32, within bound: Duration = .zero) -> Bool {
    let end = monotonicNanoseconds() + bound.nanoseconds
    while true {
        let left = max(0, end - monotonicNanoseconds())
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&entry, 1, Int32(clamping: (left + 999_999) / 1_000_000))
        if count > 0 { return true }
        if count == 0 || errno != EINTR { return false }
    }
}
