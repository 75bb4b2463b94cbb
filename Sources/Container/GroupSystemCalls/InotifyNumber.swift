import CGroupLinux

/// The descriptor number of the process's inotify queue, reserved before those of any locks.
///
/// When a process is killed, the kernel closes its files from the highest number to the lowest, and takes 10 to 20 ms
/// to close an inotify queue (it waits until no code uses the queue's watches any more). Locks with lower numbers stay
/// held for as long, though their holder is dead. This is only how Linux behaves at present; whatever the order, the
/// locks are released in the end.
package enum InotifyNumber {
    /// The reserved number, which is that of an eventfd until the queue gets it.
    private static let reserve = Guarded<(isTaken: Bool, number: Int32?)>((false, nil))

    /// Reserves the lowest free number, unless one is or was reserved already. Where no number is free, the order stays
    /// as it is.
    /// System calls: eventfd(2)
    package static func keep() {
        reserve.withLock { reserve in
            if reserve.isTaken { return }
            reserve = (true, try? check { clinux_eventfd() })
        }
    }

    /// Whether the next inotify queue gets a descriptor below that number. System calls: where none is reserved,
    /// eventfd(2) and close(2)
    static func isBelow(_ limit: Int32) throws(Errno) -> Bool {
        if let number = reserve.withLock(\.number) { return number < limit }
        return FileDescriptor(owning: try check { clinux_eventfd() }).number < limit
    }

    /// Frees the reserved number, so that the next descriptor that is opened, the queue's, gets it; another thread that
    /// opens a file at this moment may get it instead.
    /// System calls: close(2)
    static func release() {
        reserve.withLock { reserve in
            if let number = reserve.number { _ = FileDescriptor(owning: number) }
            reserve = (true, nil)
        }
    }
}
