import Glibc

/// What happened in a watched directory, or to the directory itself, or to the queue: `inotify(7)`.
package struct InotifyEvent: Equatable, Sendable {
    /// The number that `InotifyQueue.watch` gave; -1 for an overflow, which belongs to none.
    package var watch: Int32
    package var kinds: Kinds
    /// Joins `movedFrom` to `movedTo`; otherwise 0.
    package var cookie: UInt32
    /// The entry's name in the directory; empty where the event is about the directory or the queue.
    package var name: [UInt8]

    package init(watch: Int32, kinds: Kinds, cookie: UInt32 = 0, name: [UInt8] = []) {
        self.watch = watch
        self.kinds = kinds
        self.cookie = cookie
        self.name = name
    }

    package struct Kinds: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let modified = Kinds(rawValue: UInt32(IN_MODIFY))
        package static let attributesChanged = Kinds(rawValue: UInt32(IN_ATTRIB))
        package static let closedAfterWriting = Kinds(rawValue: UInt32(IN_CLOSE_WRITE))
        package static let movedFrom = Kinds(rawValue: UInt32(IN_MOVED_FROM))
        package static let movedTo = Kinds(rawValue: UInt32(IN_MOVED_TO))
        package static let created = Kinds(rawValue: UInt32(IN_CREATE))
        package static let removed = Kinds(rawValue: UInt32(IN_DELETE))
        /// The directory itself is gone, and nobody has it open any more.
        package static let watchedRemoved = Kinds(rawValue: UInt32(IN_DELETE_SELF))
        package static let watchedMoved = Kinds(rawValue: UInt32(IN_MOVE_SELF))
        package static let unmounted = Kinds(rawValue: UInt32(IN_UNMOUNT))
        /// The queue was full: from here on events are missing, of any watch.
        package static let overflow = Kinds(rawValue: UInt32(IN_Q_OVERFLOW))
        /// The watch's last event: it was taken back, or its directory is gone. Its number is not given again.
        package static let ignored = Kinds(rawValue: UInt32(IN_IGNORED))
        /// Besides another kind: the entry is a directory.
        package static let isDirectory = Kinds(rawValue: UInt32(IN_ISDIR))
    }
}

extension InotifyEvent {
    /// The kernel's structure without the name, which follows it.
    static let headSize = MemoryLayout<inotify_event>.size

    /// Copies what the kernel wrote: a head and, as long as it says, a name that is filled up with NULs.
    init(_ raw: UnsafeRawPointer) {
        let head = unsafe raw.load(as: inotify_event.self)
        let name = unsafe UnsafeRawBufferPointer(start: raw + Self.headSize, count: Int(head.len))
        self.init(
            watch: head.wd, kinds: Kinds(rawValue: head.mask), cookie: head.cookie,
            name: unsafe Array(name.prefix { $0 != 0 }))
    }
}
