#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An event of a watched directory, of an entry in it, or of the queue: `inotify(7)`.
package struct InotifyEvent: Equatable, Sendable {
    /// The number that `InotifyQueue.watch` returned; -1 for an overflow, which belongs to no watch.
    package var watch: Int32
    package var kinds: Kinds
    /// A number that joins `movedFrom` to `movedTo`; otherwise 0.
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
        @inlinable package init(rawValue: UInt32) { self.rawValue = rawValue }

        @inlinable package static var modified: Kinds { Kinds(rawValue: UInt32(IN_MODIFY)) }
        @inlinable package static var attributesChanged: Kinds { Kinds(rawValue: UInt32(IN_ATTRIB)) }
        @inlinable package static var closedAfterWriting: Kinds { Kinds(rawValue: UInt32(IN_CLOSE_WRITE)) }
        @inlinable package static var movedFrom: Kinds { Kinds(rawValue: UInt32(IN_MOVED_FROM)) }
        @inlinable package static var movedTo: Kinds { Kinds(rawValue: UInt32(IN_MOVED_TO)) }
        @inlinable package static var created: Kinds { Kinds(rawValue: UInt32(IN_CREATE)) }
        @inlinable package static var removed: Kinds { Kinds(rawValue: UInt32(IN_DELETE)) }
        /// The directory itself was removed, and no process has it open any more.
        @inlinable package static var watchedRemoved: Kinds { Kinds(rawValue: UInt32(IN_DELETE_SELF)) }
        @inlinable package static var watchedMoved: Kinds { Kinds(rawValue: UInt32(IN_MOVE_SELF)) }
        @inlinable package static var unmounted: Kinds { Kinds(rawValue: UInt32(IN_UNMOUNT)) }
        /// The queue was full: from here on events of any watch may be missing.
        @inlinable package static var overflow: Kinds { Kinds(rawValue: UInt32(IN_Q_OVERFLOW)) }
        /// The last event of a watch: the watch was ended, or its directory is gone. The number is not used again.
        @inlinable package static var ignored: Kinds { Kinds(rawValue: UInt32(IN_IGNORED)) }
        /// A flag besides another kind: the entry is a directory.
        @inlinable package static var isDirectory: Kinds { Kinds(rawValue: UInt32(IN_ISDIR)) }
    }
}

extension InotifyEvent {
    /// The size of the kernel's structure without the name that follows it.
    static let headSize = MemoryLayout<inotify_event>.size

    /// Copies an event that the kernel wrote: a head, and a name of the length given there, padded with NULs.
    init(_ raw: UnsafeRawPointer) {
        let head = unsafe raw.load(as: inotify_event.self)
        let name = unsafe UnsafeRawBufferPointer(start: raw + Self.headSize, count: Int(head.len))
        self.init(
            watch: head.wd, kinds: Kinds(rawValue: head.mask), cookie: head.cookie,
            name: unsafe Array(name.prefix { $0 != 0 }))
    }
}
