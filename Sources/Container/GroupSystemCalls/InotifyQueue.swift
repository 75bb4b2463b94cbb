#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The kernel's queue of events of the watched directories, in their order.
///
/// Owned by exactly one thread, which makes, uses and releases it: neither the library behind it nor the order of its
/// events would survive a second thread. With the trait `InotifyTools` there is one queue at a time in a process.
package final class InotifyQueue {
    /// All events except those that readers cause. With OPEN, ACCESS and CLOSE_NOWRITE, this process's own scan of a
    /// directory would fill the queue, and the rescan after the overflow would fill it again. EXCL_UNLINK excludes
    /// events of a removed file that a process still has open and writes to. DONT_FOLLOW is not set: see `watch`.
    private static let mask =
        UInt32(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE)
        | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

    private var source: InotifySource

    /// The descriptor for epoll; readable when `drain` has something to return.
    package let descriptor: Int32

    /// The number from which on a descriptor is of no use for a queue; nil where each is.
    package static let descriptorLimit = InotifySource.descriptorLimit

    /// Creates a queue. EBUSY: the process has another one. EMFILE: the user has too many instances (128 by default),
    /// or the process too many descriptors. ENOSPC, with the trait `InotifyTools`: the user has no watch left.
    package init() throws(Errno) {
        source = try InotifySource()
        descriptor = source.descriptor
    }

    /// Begins to watch a directory, and returns the number that its events carry, which is the old number where the
    /// directory is watched already. Entries that exist already cause no events: watch first, then list.
    ///
    /// The directory is named by its descriptor, so no path is resolved and no other directory can take its place; that
    /// name is a symbolic link in /proc, which must be followed. ENOSPC: the user has no watch left (max_user_watches).
    /// System calls: inotify_add_watch(2)
    package func watch(_ directory: borrowing FileDescriptor) throws(Errno) -> Int32 {
        let path = Array("/proc/self/fd/\(directory.number)".utf8)
        return try check { unsafe withCString(path) { unsafe inotify_add_watch(descriptor, $0, Self.mask) } }
    }

    /// Begins to watch a directory only for changes of attributes, of the directory and its entries, and for removals
    /// of entries.
    package func watchAttributesAndRemovals(_ directory: borrowing FileDescriptor) throws(Errno) -> Int32 {
        let path = Array("/proc/self/fd/\(directory.number)".utf8)
        let mask = UInt32(IN_ATTRIB | IN_DELETE | IN_ONLYDIR)
        return try check { unsafe withCString(path) { unsafe inotify_add_watch(descriptor, $0, mask) } }
    }

    /// Begins to watch a directory only for being moved itself; a watch that it has already stays, and reports that as
    /// well. System calls: inotify_add_watch(2)
    package func watchMoves(ofDirectory path: [UInt8]) throws(Errno) -> Int32 {
        let mask = UInt32(IN_MOVE_SELF | IN_ONLYDIR) | UInt32(IN_MASK_ADD)
        return try check { unsafe withCString(path) { unsafe inotify_add_watch(descriptor, $0, mask) } }
    }

    /// Ends a watch; its events that are in the queue are still returned, and `ignored` last. A watch that has ended
    /// already is no error.
    /// System calls: inotify_rm_watch(2)
    package func unwatch(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

    /// Returns what can be read without waiting, until nothing is left: `descriptor` is not readable then. To split a
    /// flood of events, it stops at `limit` events or a few more; then there may be others, whatever poll returns.
    /// After an error events may be missing, as after an overflow. System calls: read(2)
    package func drain(atMost limit: Int = .max) throws(Errno) -> [InotifyEvent] { try source.read(atMost: limit) }
}
