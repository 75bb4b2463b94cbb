import CGroupLinux
import Glibc

/// An open file with exactly one owner; it is closed when its owner ends. Every descriptor is close-on-exec.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    package init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// How a file is opened. Every descriptor is close-on-exec besides.
    package struct OpenMode: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let reading = OpenMode(rawValue: O_RDONLY)
        package static let writing = OpenMode(rawValue: O_WRONLY)
        package static let readingAndWriting = OpenMode(rawValue: O_RDWR)
        package static let creating = OpenMode(rawValue: O_CREAT)
        package static let exclusively = OpenMode(rawValue: O_EXCL)
        package static let truncating = OpenMode(rawValue: O_TRUNC)
        package static let directory = OpenMode(rawValue: O_DIRECTORY)
        package static let notFollowing = OpenMode(rawValue: O_NOFOLLOW)
        /// Opening a FIFO does not wait for its other end.
        package static let nonBlocking = OpenMode(rawValue: O_NONBLOCK)
        /// A place in the tree rather than a file to read (O_PATH).
        package static let placeOnly = OpenMode(rawValue: 0o10000000)
    }

    /// What a path may pass through on its way.
    package enum Resolution: Sendable {
        /// Anything: a path that the user named.
        case free
        /// Nothing but directories below the starting directory: no `..` out of it, no symbolic link at all.
        case beneathWithoutLinks

        var flags: UInt64 {
            switch self {
            case .free: 0
            case .beneathWithoutLinks: 0x02 | 0x04 | 0x08  // NO_MAGICLINKS, NO_SYMLINKS, BENEATH
            }
        }
    }

    /// Never waits for the other end of a FIFO: what should be a file may be one.
    ///
    /// System calls: openat2(2)
    package static func open(
        _ path: [UInt8], in directory: borrowing FileDescriptor, _ openMode: OpenMode, mode: UInt32 = 0,
        resolving resolution: Resolution = .beneathWithoutLinks
    ) throws(Errno) -> FileDescriptor {
        let number = directory.number
        let openMode = openMode.contains(.placeOnly) ? openMode : openMode.union(.nonBlocking)
        // EAGAIN: a rename elsewhere made the kernel unsure whether the walk stayed below; it asks to be asked again.
        while true {
            do throws(Errno) {
                return FileDescriptor(
                    owning: try retryingOnInterrupt {
                        unsafe withCString(path) {
                            unsafe clinux_openat2(
                                number, $0, openMode.rawValue, openMode.contains(.creating) ? mode : 0, resolution.flags
                            )
                        }
                    })
            } catch {
                if error.code != EAGAIN { throw error }
            }
        }
    }

    /// System calls: openat2(2)
    package static func open(path: [UInt8], _ openMode: OpenMode, mode: UInt32 = 0) throws(Errno) -> FileDescriptor {
        FileDescriptor(
            owning: try retryingOnInterrupt {
                unsafe withCString(path) {
                    unsafe clinux_openat2(AT_FDCWD, $0, openMode.rawValue, openMode.contains(.creating) ? mode : 0, 0)
                }
            })
    }

    /// Why nothing at all can be opened, where that is so: a filter of system calls (seccomp), or an old kernel.
    /// System calls: openat2(2)
    package static var refusalOfOpening: Errno? {
        do throws(Errno) {
            _ = try open(path: [UInt8(ascii: "/")], [.placeOnly, .directory])
            return nil
        } catch {
            return [.notPermitted, .noSystemCall].contains(error) ? error : nil
        }
    }

    /// Of an empty file in memory, without a name. System calls: memfd_create(2)
    package static func inMemory() throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try check { clinux_memory_file() })
    }

    /// A second number for the same open file description. System calls: fcntl(2)
    package func duplicate() throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try check { fcntl(number, F_DUPFD_CLOEXEC, 3) })
    }

    /// Everything up to the end, or `limit` bytes. System calls: read(2)
    package func readAll(limit: Int = .max) throws(Errno) -> [UInt8] {
        var content: [UInt8] = []
        let expected = try status().size
        content.reserveCapacity(Int(clamping: min(expected &+ 1, UInt64(clamping: limit), 1 << 26)))
        var chunk = [UInt8](repeating: 0, count: min(max(Int(clamping: expected), 4_095) + 1, 65_536))
        while content.count < limit {
            let count = try read(into: &chunk)
            if count == 0 { break }
            content.append(contentsOf: chunk[..<count])
        }
        return content
    }

    /// Whether that is all that can be read of it. No more is read than it takes to tell. System calls: read(2)
    package func holds(_ content: [UInt8]) throws(Errno) -> Bool {
        var rest = content[...]
        // What differs mostly differs early.
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = try read(into: &chunk)
            if count == 0 { return rest.isEmpty }
            guard rest.prefix(count) == chunk[..<count] else { return false }
            rest = rest.dropFirst(count)
            if chunk.count < 65_536 { chunk = [UInt8](repeating: 0, count: 65_536) }
        }
    }

    /// The content of a regular file; of anything else nothing: a FIFO would wait. System calls: openat2(2), statx(2),
    /// read(2)
    package static func content(
        of path: [UInt8], in directory: borrowing FileDescriptor, limit: Int = .max
    ) throws(Errno) -> [UInt8] {
        let file = try FileDescriptor.open(path, in: directory, [.reading, .nonBlocking])
        return try file.status().isRegularFile ? file.readAll(limit: limit) : []
    }

    /// System calls: read(2)
    package func read(into chunk: inout [UInt8]) throws(Errno) -> Int {
        let number = number
        return try retryingOnInterrupt {
            unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
        }
    }

    /// All of it, however many calls that takes. System calls: write(2)
    package func writeAll(_ content: [UInt8]) throws(Errno) {
        let number = number
        var done = 0
        while done < content.count {
            done += try retryingOnInterrupt {
                unsafe content.withUnsafeBytes {
                    unsafe Glibc.write(number, $0.baseAddress.map { unsafe $0 + done }, $0.count - done)
                }
            }
        }
    }

    /// The same. System calls: write(2)
    package func writeAll(_ bytes: Span<UInt8>) throws(Errno) {
        let number = number
        var done = 0
        while done < bytes.count {
            done += try retryingOnInterrupt {
                unsafe bytes.withUnsafeBytes {
                    unsafe Glibc.write(number, $0.baseAddress.map { unsafe $0 + done }, $0.count - done)
                }
            }
        }
    }

    /// All of it over what the file begins with; what is behind it stays. System calls: pwrite(2)
    package func overwrite(_ content: [UInt8]) throws(Errno) {
        let number = number
        var done = 0
        while done < content.count {
            done += try retryingOnInterrupt {
                unsafe content.withUnsafeBytes {
                    unsafe pwrite(number, $0.baseAddress.map { unsafe $0 + done }, $0.count - done, off_t(done))
                }
            }
        }
    }

    /// The disk may begin with the content, while something else is done before it is synchronized. A hint.
    /// System calls: sync_file_range(2)
    package func beginWriting() { _ = clinux_begin_writing(number) }

    /// Content and metadata to the disk. A failure is final: the kernel has dropped what it could not write.
    /// System calls: fsync(2)
    package func synchronize() throws(Errno) { _ = try retryingOnInterrupt { fsync(number) } }

    /// Content, and what is needed to read it, to the disk. System calls: fdatasync(2)
    package func synchronizeData() throws(Errno) { _ = try retryingOnInterrupt { fdatasync(number) } }

    /// Everything on its file system to the disk: for what cannot be opened. System calls: syncfs(2)
    package func synchronizeFileSystem() throws(Errno) {
        _ = try retryingOnInterrupt { clinux_sync_filesystem(number) }
    }

    /// System calls: fchmod(2)
    package func setMode(_ mode: UInt32) throws(Errno) { _ = try check { fchmod(number, mode) } }

    /// Sets its dates to now: a process that watches its directory is told. System calls: futimens(2)
    package func touch() throws(Errno) { _ = try check { futimens(number, nil) } }

    /// System calls: fchown(2)
    package func setOwner(_ owner: UInt32, group: UInt32) throws(Errno) {
        _ = try check { fchown(number, owner, group) }
    }

    /// Room on the disk for the whole file, so that writing to a map of it cannot fail. System calls: fallocate(2)
    package func allocate(_ size: Int) throws(Errno) {
        _ = try retryingOnInterrupt { clinux_allocate(number, Int64(size)) }
    }

    /// Gives the disk blocks of a range back; the file's size stays, and the range reads as zeros. Best effort.
    /// System calls: fallocate(FALLOC_FL_PUNCH_HOLE)
    package func freeRange(start: Int, length: Int) { _ = clinux_free_range(number, Int64(start), Int64(length)) }

    /// System calls: ftruncate(2)
    package func setSize(_ size: Int) throws(Errno) { _ = try retryingOnInterrupt { ftruncate(number, off_t(size)) } }

    /// Asks a copy-on-write file system to write in place; one that does not know the flag needs none.
    /// System calls: ioctl(FS_IOC_SETFLAGS)
    package func avoidCopyOnWrite() { _ = clinux_set_nocow(number) }

    /// The file system's magic number (`statfs.f_type`). System calls: fstatfs(2)
    package func fileSystemType() throws(Errno) -> Int {
        try retryingOnInterrupt { clinux_filesystem_type(number) }
    }

    /// How many bytes of its file system this user may still fill. System calls: fstatfs(2)
    package func freeSpace() throws(Errno) -> UInt64 {
        var bytes: UInt64 = 0
        let number = number
        _ = try retryingOnInterrupt { unsafe clinux_free_space(number, &bytes) }
        return bytes
    }
}
