import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The result of `statx(2)` for a file. Times are nanoseconds since 1970.
package struct FileStatus: Equatable, Sendable {
    package var inode: UInt64
    package var size: UInt64
    package var mountID: UInt64
    /// Whether no other mount of this boot has the same number, nor will have it: Linux 6.8 or later.
    package var mountIsUnique: Bool
    /// The space that the file takes on the disk, in bytes.
    package var allocated: UInt64
    /// The dates as moments that can be computed with: see `isMoment(_:)`.
    package var modified: Int64
    package var changed: Int64
    /// The exact date of the last modification, for people.
    package var modifiedTime: FileTime
    package var mode: UInt32
    package var owner: UInt32
    package var group: UInt32
    package var links: UInt32
    package var device: UInt64
    /// The device that a device file stands for.
    package var node: UInt64

    init(_ raw: clinux_status) {
        inode = raw.inode
        size = raw.size
        mountID = raw.mountID
        mountIsUnique = raw.mountIsUnique != 0
        allocated = raw.allocated
        modified = raw.modified
        changed = raw.changed
        modifiedTime = FileTime(seconds: raw.modifiedSeconds, nanoseconds: Int64(raw.modifiedRest))
        mode = raw.mode
        owner = raw.owner
        group = raw.group
        links = raw.links
        device = UInt64(raw.deviceMajor) << 32 | UInt64(raw.deviceMinor)
        node = raw.node
    }

    package var permissions: UInt32 { mode & 0o7777 }
    package var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    package var isSocket: Bool { mode & S_IFMT == S_IFSOCK }
    package var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
    package var isLink: Bool { mode & S_IFMT == S_IFLNK }
}

/// The date of a file: touch(1) gives it any, also one that 64 bits of nanoseconds do not reach.
package struct FileTime: Hashable, Sendable {
    /// The whole seconds since 1970, rounded down.
    package var seconds: Int64
    /// The rest, from 0 to 999,999,999.
    package var nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64) { (self.seconds, self.nanoseconds) = (seconds, nanoseconds) }
}

extension FileDescriptor {
    /// System calls: statx(2)
    package func status() throws(Errno) -> FileStatus {
        var raw = clinux_status()
        let number = number
        _ = try check { unsafe clinux_statx(number, "", &raw) }
        return FileStatus(raw)
    }

    /// Returns the status of the entry itself, also where it is a symbolic link. `name` is one component.
    /// System calls: statx(2)
    package func status(of name: [UInt8]) throws(Errno) -> FileStatus {
        var raw = clinux_status()
        let number = number
        _ = try check { unsafe withCString(name) { unsafe clinux_statx(number, $0, &raw) } }
        return FileStatus(raw)
    }

    /// Returns the status of the entry that a path leads to: the entry itself, also where it is a symbolic link.
    /// System calls: statx(2)
    package static func status(path: [UInt8]) throws(Errno) -> FileStatus {
        var raw = clinux_status()
        _ = try check { unsafe withCString(path) { unsafe clinux_statx(AT_FDCWD, $0, &raw) } }
        return FileStatus(raw)
    }

    /// Returns the status of the entry itself, or nil where there is no entry.
    package func statusIfPresent(of name: [UInt8]) throws(Errno) -> FileStatus? {
        do {
            return try status(of: name)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }
}
