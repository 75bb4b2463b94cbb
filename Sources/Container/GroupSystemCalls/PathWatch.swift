#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Notices changes at some paths: of the files and directories there, and of what the directories contain. Where a path
/// does not exist, it watches the nearest directory above that does. It does not report which path changed, so the
/// caller compares. For one thread.
///
/// An inotify instance of its own, besides the queue of the leader's thread (`InotifyQueue`).
package final class PathWatch {
    private let queue: FileDescriptor
    private var watches = Set<Int32>()
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    private let mask: UInt32

    /// The descriptor for epoll; readable after a change.
    package var descriptor: Int32 { queue.number }

    /// Creates a watch of no path. EMFILE: the user has too many inotify instances. System calls: inotify_init1(2)
    package convenience init() throws(Errno) {
        try self.init(
            UInt32(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE))
    }

    /// Creates a watch that notices only that a process which could write a file has closed it, or has ended.
    package static func ofClosing() throws(Errno) -> PathWatch { try PathWatch(UInt32(IN_CLOSE_WRITE)) }

    private init(_ mask: UInt32) throws(Errno) {
        self.mask = mask | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
        queue = FileDescriptor(owning: try check { inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) })
    }

    /// Watches these paths, and no others. Symbolic links are followed, and their directories are watched, too. To be
    /// called before what stands at the paths is read: later changes make the descriptor readable.
    ///
    /// System calls: inotify_add_watch(2), inotify_rm_watch(2)
    package func watch(_ paths: some Sequence<[UInt8]>) {
        var present = Set<Int32>()
        var seen = Set<[UInt8]>()
        for path in paths {
            var prefix = path[...]
            // The path, its directory, and where that is missing, the nearest directory above that exists.
            var isMissing = true
            var depth = 0
            while isMissing || depth < 2 {
                let name = prefix.isEmpty ? [UInt8(ascii: "/")] : Array(prefix)
                if seen.insert(name).inserted || isMissing {
                    let watch = unsafe withCString(name) {
                        unsafe inotify_add_watch(queue.number, $0, mask)
                    }
                    isMissing = watch < 0
                    if watch >= 0 { present.insert(watch) }
                } else {
                    isMissing = false
                }
                depth += 1
                guard let slash = prefix.lastIndex(of: UInt8(ascii: "/")) else { break }
                prefix = prefix[..<slash]
            }
        }
        for old in watches.subtracting(present) { inotify_rm_watch(queue.number, old) }
        watches = present
    }

    /// Reads what has happened, so that the descriptor is readable again only after another change. Returns whether
    /// anything has. System calls: read(2)
    @discardableResult package func drain() -> Bool {
        var hasHappened = false
        while let count = try? queue.read(into: &buffer), count > 0 { hasHappened = true }
        return hasHappened
    }
}
