import Glibc

/// The kernel's notices of what happens in the watched directories, in its order.
///
/// Owned by exactly one thread, which makes it, uses it and lets it go: neither the library behind it nor the order of
/// its events would survive a second one. With the trait `InotifyTools` there is one at a time in a process.
package final class InotifyQueue {
    /// Everything but what a reader causes. OPEN, ACCESS and CLOSE_NOWRITE would let our own scan of a directory fill
    /// the queue, and the rescan after the overflow fill it again. EXCL_UNLINK: who still has a removed file open may
    /// go on writing without anybody hearing of it. No DONT_FOLLOW: see `watch`.
    private static let mask =
        UInt32(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE)
        | UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

    private var source: InotifySource

    /// Readable when `drain` has something to give; for epoll.
    package let descriptor: Int32

    /// EBUSY: the process has another one. EMFILE: too many instances of the user (128 by default), or descriptors.
    package init() throws(Errno) {
        source = try InotifySource()
        descriptor = source.descriptor
    }

    /// Begins to watch a directory, and answers the number that its events carry; it is the old number where the
    /// directory is watched already. What was there before is not told: watch first, then list.
    ///
    /// The directory is named by its descriptor, so no path is walked and nobody can put another one in its place; that
    /// name is a symbolic link of /proc which must be followed. ENOSPC: the user has no watch left (max_user_watches).
    /// System calls: inotify_add_watch(2)
    package func watch(_ directory: borrowing FileDescriptor) throws(Errno) -> Int32 {
        let path = Array("/proc/self/fd/\(directory.number)".utf8)
        return try check { unsafe withCString(path) { unsafe inotify_add_watch(descriptor, $0, Self.mask) } }
    }

    /// The same for changes of attributes alone, of the directory's entries.
    package func watchAttributes(_ directory: borrowing FileDescriptor) throws(Errno) -> Int32 {
        let path = Array("/proc/self/fd/\(directory.number)".utf8)
        let mask = UInt32(IN_ATTRIB | IN_ONLYDIR)
        return try check { unsafe withCString(path) { unsafe inotify_add_watch(descriptor, $0, mask) } }
    }

    /// Ends a watch; what it has in the queue still comes, and `ignored` last. A watch that has ended already is fine.
    /// System calls: inotify_rm_watch(2)
    package func unwatch(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

    /// What can be read without waiting, until nothing is left: `descriptor` is not readable then. Or, so that a flood
    /// comes in pieces, until there are `limit` events or a few more: then there may be others, whatever poll says.
    /// After an error events may be missing, as after an overflow. System calls: read(2)
    package func drain(atMost limit: Int = .max) throws(Errno) -> [InotifyEvent] { try source.read(atMost: limit) }
}
