import CGroupLinux

/// The descriptor number of the process's inotify queue, taken before those of any locks.
///
/// Of a killed process the kernel lets go of the files from the highest number to the lowest, and of an inotify queue it
/// takes 10 to 20 ms to let go (it waits until nobody looks at the queue's watches any more): locks with lower numbers
/// stay taken as long, though their holder is dead. This is how Linux does it, and no more than that: whatever the order,
/// the locks go in the end.
package enum InotifyNumber {
    /// The number is an eventfd's until the queue gets it.
    private static let place = Guarded<(isTaken: Bool, number: Int32?)>((false, nil))

    /// Keeps the lowest number that is free, unless there is one, or was. None free: then it has no say in the order.
    /// System calls: eventfd(2)
    package static func keep() {
        place.withLock { place in
            if place.isTaken { return }
            place = (true, try? check { clinux_eventfd() })
        }
    }

    /// The next descriptor that is opened is the queue's; another thread that opens one at this moment may get it.
    /// System calls: close(2)
    static func release() {
        place.withLock { place in
            if let number = place.number { _ = FileDescriptor(owning: number) }
            place = (true, nil)
        }
    }
}
