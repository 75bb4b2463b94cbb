import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls on an entry of a directory. A name is one component, or a path below the directory: of a path, each directory
/// on the way is resolved below this one and without symbolic links. A call that changes entries refuses any other name
/// with `invalid`, so that a name from a file or from another process cannot lead it out of the directory.
extension FileDescriptor {
    /// Returns an entry of this directory, or of one below it. Errors: `invalid` for a name that is empty, that begins
    /// or ends with a slash, or has a NUL or a component `.` or `..`; those of openat2(2) for a path.
    func entry(_ name: [UInt8]) throws(Errno) -> Entry {
        guard let slash = name.lastIndex(of: UInt8(ascii: "/")) else {
            try Self.checkComponent(name[...])
            return Entry(parent: nil, number: number, name: name)
        }
        for component in name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            try Self.checkComponent(component)
        }
        let parent = try FileDescriptor.open(Array(name[..<slash]), in: self, [.pathOnly, .directory])
        let number = parent.number
        return Entry(parent: parent, number: number, name: Array(name[(slash + 1)...]))
    }

    private static func checkComponent(_ name: ArraySlice<UInt8>) throws(Errno) {
        let dot = UInt8(ascii: ".")
        if name.isEmpty || name == [dot] || name == [dot, dot] || name.contains(0) { throw .invalid }
    }

    /// An entry of a directory, which is open as long as this value lives.
    struct Entry: ~Copyable {
        private let parent: FileDescriptor?
        let number: Int32
        let name: [UInt8]

        fileprivate init(parent: consuming FileDescriptor?, number: Int32, name: [UInt8]) {
            self.parent = parent
            self.number = number
            self.name = name
        }
    }

    /// Makes a directory by its path. System calls: mkdirat(2)
    package static func createDirectory(path: [UInt8], mode: UInt32) throws(Errno) {
        _ = try check { unsafe withCString(path) { unsafe mkdirat(AT_FDCWD, $0, mode) } }
    }

    /// Sets the mode of a directory by its path. System calls: fchmodat(2)
    package static func setMode(path: [UInt8], _ mode: UInt32) throws(Errno) {
        _ = try check { unsafe withCString(path) { unsafe fchmodat(AT_FDCWD, $0, mode, 0) } }
    }

    /// Waits until no rename from or to this directory is in progress that had begun before: its events are in every
    /// inotify queue then. Linux holds the lock of both directories of a rename until it has queued the second of its
    /// events (fs/namei.c, `do_renameat2`), and listing a directory takes that lock. System calls: openat2(2),
    /// getdents(2)
    package func awaitRenames() throws(Errno) {
        let stream = try unsafe openStream()
        defer { unsafe closedir(stream) }
        _ = unsafe readdir(stream)
    }

    /// Opens a stream of a directory's entries, which the caller closes.
    private func openStream() throws(Errno) -> OpaquePointer {
        let own = try FileDescriptor.open([UInt8(ascii: ".")], in: self, [.reading, .directory])
        // fdopendir owns its descriptor, so it gets a separate one, with a separate position.
        let number = try check { fcntl(own.number, F_DUPFD_CLOEXEC, 3) }
        guard let stream = unsafe fdopendir(number) else {
            let error = Errno.last
            close(number)
            throw error
        }
        return unsafe stream
    }

    /// Removes an empty directory by its path. System calls: unlinkat(2)
    package static func removeDirectory(path: [UInt8]) throws(Errno) {
        _ = try check { unsafe withCString(path) { unsafe unlinkat(AT_FDCWD, $0, AT_REMOVEDIR) } }
    }

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
        let stream = try unsafe openStream()
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
        let entry = try entry(name)
        _ = try check { unsafe withCString(entry.name) { unsafe mkdirat(entry.number, $0, mode) } }
    }

    /// System calls: unlinkat(2)
    package func unlink(_ name: [UInt8], directory: Bool = false) throws(Errno) {
        let entry = try entry(name)
        _ = try check {
            unsafe withCString(entry.name) { unsafe unlinkat(entry.number, $0, directory ? AT_REMOVEDIR : 0) }
        }
    }

    /// Makes a hard link to a file; for a symbolic link, to the symbolic link itself. Not for directories.
    /// System calls: linkat(2)
    package func link(
        _ name: [UInt8], as newName: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let old = try entry(name)
        let new = try directory.entry(newName)
        _ = try check {
            unsafe withCString(old.name) { name in
                unsafe withCString(new.name) { unsafe linkat(old.number, name, new.number, $0, 0) }
            }
        }
    }

    /// Renames an entry atomically: a process that opens `newName` gets the old file or the new one.
    /// System calls: renameat2(2)
    package func rename(
        _ name: [UInt8], to newName: [UInt8], in directory: borrowing FileDescriptor, replacing: Bool
    ) throws(Errno) {
        let old = try entry(name)
        let new = try directory.entry(newName)
        _ = try retryingOnInterrupt {
            unsafe withCString(old.name) { name in
                unsafe withCString(new.name) {
                    unsafe clinux_renameat2(old.number, name, new.number, $0, replacing ? 0 : 1)
                }
            }
        }
    }

    /// Exchanges two entries in one step. Error: `invalid` where the file system cannot do so.
    /// System calls: renameat2(RENAME_EXCHANGE)
    package func exchange(
        _ name: [UInt8], with other: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) {
        let one = try entry(name)
        let two = try directory.entry(other)
        _ = try retryingOnInterrupt {
            unsafe withCString(one.name) { name in
                unsafe withCString(two.name) { unsafe clinux_renameat2(one.number, name, two.number, $0, 2) }
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
        let links = try FileDescriptor.open(path: Array("/proc/thread-self/fd".utf8), [.pathOnly, .directory])
        return try links.linkTarget(of: Array("\(number)".utf8))
    }
}
