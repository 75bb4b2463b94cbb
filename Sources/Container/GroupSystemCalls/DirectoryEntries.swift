import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls on an entry of a directory. `name` is one component, so no call can leave the directory.
extension FileDescriptor {
    /// The type of an entry, as the directory itself contains it.
    package enum EntryKind: Sendable {
        case directory, other
        /// The file system does not provide the type.
        case unknown
    }

    /// Returns the names in a directory, without `.` and `..`, in no order. System calls: openat2(2), getdents(2)
    package func entryNames() throws(Errno) -> [[UInt8]] { try entries().map(\.name) }

    /// Returns the entries of a directory, without `.` and `..`, in no order. System calls: openat2(2), getdents(2)
    package func entries() throws(Errno) -> [(name: [UInt8], kind: EntryKind)] {
        let own = try FileDescriptor.open([UInt8(ascii: ".")], in: self, [.reading, .directory])
        // fdopendir owns its descriptor, so it gets a separate one, with a separate position.
        let number = try check { fcntl(own.number, F_DUPFD_CLOEXEC, 3) }
        guard let stream = unsafe fdopendir(number) else {
            let error = Errno.last
            close(number)
            throw error
        }
        defer { unsafe closedir(stream) }
        var entries: [(name: [UInt8], kind: EntryKind)] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno != 0 { throw Errno.last }
                return entries
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            if name == [UInt8(ascii: ".")] || name == [UInt8(ascii: "."), UInt8(ascii: ".")] { continue }
            let type = unsafe Int(entry.pointee.d_type)
            entries.append((name, type == DT_DIR ? .directory : type == DT_UNKNOWN ? .unknown : .other))
        }
    }

    /// System calls: mkdirat(2)
    package func createDirectory(_ name: [UInt8], mode: UInt32) throws(Errno) {
        let number = number
        _ = try check { unsafe withCString(name) { unsafe mkdirat(number, $0, mode) } }
    }

    /// System calls: unlinkat(2)
    package func unlink(_ name: [UInt8], directory: Bool = false) throws(Errno) {
        let number = number
        _ = try check { unsafe withCString(name) { unsafe unlinkat(number, $0, directory ? AT_REMOVEDIR : 0) } }
    }

    /// Makes a hard link to a file; for a symbolic link, to the symbolic link itself. Not for directories.
    /// System calls: linkat(2)
    package func link(
        _ name: [UInt8], as newName: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let (from, to) = (number, directory.number)
        _ = try check {
            unsafe withCString(name) { old in
                unsafe withCString(newName) { new in unsafe linkat(from, old, to, new, 0) }
            }
        }
    }

    /// Renames an entry atomically: a process that opens `newName` gets the old file or the new one.
    /// System calls: renameat2(2)
    package func rename(
        _ name: [UInt8], to newName: [UInt8], in directory: borrowing FileDescriptor, replacing: Bool
    ) throws(Errno) {
        let (from, to) = (number, directory.number)
        _ = try retryingOnInterrupt {
            unsafe withCString(name) { old in
                unsafe withCString(newName) { new in unsafe clinux_renameat2(from, old, to, new, replacing ? 0 : 1) }
            }
        }
    }

    /// Exchanges two entries in one step. Error: `invalid` where the file system cannot do so.
    /// System calls: renameat2(RENAME_EXCHANGE)
    package func exchange(
        _ name: [UInt8], with other: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let (from, to) = (number, directory.number)
        _ = try retryingOnInterrupt {
            unsafe withCString(name) { one in
                unsafe withCString(other) { two in unsafe clinux_renameat2(from, one, to, two, 2) }
            }
        }
    }

    /// Returns the target of a symbolic link. System calls: readlinkat(2)
    package func linkTarget(of name: [UInt8]) throws(Errno) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let number = number
        let count = try check {
            unsafe withCString(name) { path in
                unsafe target.withUnsafeMutableBytes { buffer in
                    let text = unsafe buffer.assumingMemoryBound(to: CChar.self)
                    guard let base = text.baseAddress else { return -1 }
                    return unsafe readlinkat(number, path, base, text.count)
                }
            }
        }
        return Array(target[..<count])
    }

    /// Returns the absolute path of the open file, as the kernel shows it in /proc. System calls: openat2(2),
    /// readlinkat(2)
    package func absolutePath() throws(Errno) -> [UInt8] {
        let links = try FileDescriptor.open(path: Array("/proc/thread-self/fd".utf8), [.placeOnly, .directory])
        return try links.linkTarget(of: Array("\(number)".utf8))
    }
}
