import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open file with exactly one owner; it is closed when its owner ends. Every descriptor is close-on-exec.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    package init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Returns the number, which the caller closes.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// The way in which a file is opened. Every descriptor is close-on-exec besides. The
    /// modes on the way of a read and of a write have names: a list of options is an array.
    package struct OpenMode: OptionSet, Sendable {
        package let rawValue: Int32
        @inlinable package init(rawValue: Int32) { self.rawValue = rawValue }

        @inlinable package static var reading: OpenMode { OpenMode(rawValue: O_RDONLY) }
        @inlinable package static var writing: OpenMode { OpenMode(rawValue: O_WRONLY) }
        @inlinable package static var readingAndWriting: OpenMode { OpenMode(rawValue: O_RDWR) }
        @inlinable package static var creating: OpenMode { OpenMode(rawValue: O_CREAT) }
        @inlinable package static var exclusively: OpenMode { OpenMode(rawValue: O_EXCL) }
        @inlinable package static var truncating: OpenMode { OpenMode(rawValue: O_TRUNC) }
        @inlinable package static var directory: OpenMode { OpenMode(rawValue: O_DIRECTORY) }
        @inlinable package static var notFollowing: OpenMode { OpenMode(rawValue: O_NOFOLLOW) }
        /// Opening a FIFO does not wait for its other end.
        @inlinable package static var nonBlocking: OpenMode { OpenMode(rawValue: O_NONBLOCK) }
        /// A file that must not exist, for writing.
        @inlinable package static var newFile: OpenMode { OpenMode(rawValue: O_WRONLY | O_CREAT | O_EXCL) }
        /// The entry itself, for reading: a symbolic link is not followed, and a FIFO does not wait.
        @inlinable package static var readingItself: OpenMode {
            OpenMode(rawValue: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        /// A location in the tree rather than a file to read (O_PATH).
        @inlinable package static var pathOnly: OpenMode { OpenMode(rawValue: 0o10000000) }
    }

    /// The entries that the resolution of a path may pass through.
    package enum Resolution: Sendable {
        /// Anything: for a path that the user named.
        case free
        /// Only directories below the starting directory: no `..` that leaves it, and no symbolic link at all.
        case beneathWithoutLinks

        var flags: UInt64 {
            switch self {
            case .free: 0
            case .beneathWithoutLinks: 0x02 | 0x04 | 0x08  // NO_MAGICLINKS, NO_SYMLINKS, BENEATH
            }
        }
    }

    /// Opens a file below a directory. Never waits for the other end of a FIFO, which may be there in place of a file.
    ///
    /// System calls: openat2(2)
    package static func open(
        _ path: [UInt8], in directory: borrowing FileDescriptor, _ openMode: OpenMode, mode: UInt32 = 0,
        resolving resolution: Resolution = .beneathWithoutLinks
    ) throws(Errno) -> FileDescriptor {
        let number = directory.number
        let openMode = openMode.contains(.pathOnly) ? openMode : openMode.union(.nonBlocking)
        // EAGAIN: because of a rename elsewhere the kernel cannot be sure that the path stayed below; the call is to be
        // repeated.
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

    /// The reason why no file at all can be opened, where that is so: a filter of system calls (seccomp), or an old
    /// kernel.
    /// System calls: openat2(2)
    package static var refusalOfOpening: Errno? {
        do throws(Errno) {
            _ = try open(path: [UInt8(ascii: "/")], [.pathOnly, .directory])
            return nil
        } catch {
            return [.notPermitted, .noSystemCall].contains(error) ? error : nil
        }
    }

    /// Creates an empty file in memory, without a name. System calls: memfd_create(2)
    package static func inMemory() throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try check { clinux_memory_file() })
    }

    /// Creates a file in memory with a content, to be read from its beginning. System calls: memfd_create(2)
    package static func inMemory(_ content: [UInt8]) throws(Errno) -> FileDescriptor {
        let file = try inMemory()
        try file.writeAll(content)
        try file.seek(to: 0)
        return file
    }

    /// Returns a second descriptor of the same open file description. System calls: fcntl(2)
    package func duplicate() throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try check { fcntl(number, F_DUPFD_CLOEXEC, 3) })
    }

    /// Checks that this process may open that many further files. Errors: `tooManyFiles`, `tooManyFilesInSystem`.
    /// System calls: fcntl(F_DUPFD_CLOEXEC) and close(2), for each
    package func checkRoom(forFiles count: Int) throws(Errno) {
        let number = number
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        while copies.count < count {
            do throws(Errno) {
                copies.append(try check { fcntl(number, F_DUPFD_CLOEXEC, 3) })
            } catch {
                // Of a limit that is not above 3, the kernel says so in another way.
                throw error == .invalid ? Errno.tooManyFiles : error
            }
        }
    }

    /// Reads up to the end, or until there are `limit` bytes or more. With the size that the file has had a moment ago,
    /// one call is mostly enough: it asks for one byte more. System calls: statx(2) without `size`; read(2)
    package func readAll(size: UInt64? = nil, limit: Int = .max) throws(Errno) -> [UInt8] {
        let expected: Int
        if let size { expected = Int(clamping: size) } else { expected = Int(clamping: try status().size) }
        var content: [UInt8] = []
        var isAtEnd = false
        while !isAtEnd && content.count < limit {
            let missing = expected - content.count
            let room = max(4_096, min(missing, 1 << 20) + 1)
            let count = try append(to: &content, atMost: min(room, limit - content.count))
            // A file of exactly this size has no byte more. Anything else may have changed: then only 0 is the end.
            isAtEnd = count == 0 || (count == missing && count < room && content.count < limit)
        }
        return content
    }

    /// Appends what one call reads. System calls: read(2)
    private func append(to content: inout [UInt8], atMost room: Int) throws(Errno) -> Int {
        let number = number
        var found: Result<Int, Errno> = .success(0)
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            do throws(Errno) {
                count = try retryingOnInterrupt { unsafe readBytes(number, buffer.baseAddress, room) }
                found = .success(count)
            } catch {
                found = .failure(error)
            }
        }
        let count = try found.get()
        if content.isEmpty { content = piece } else { content += piece }
        return count
    }

    /// Returns whether the rest of the file is exactly `content`. Reads no more than that takes. System calls: read(2)
    package func holds(_ content: [UInt8]) throws(Errno) -> Bool {
        var rest = content[...]
        // Begins with a small chunk: most differences are near the beginning.
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = try read(into: &chunk)
            if count == 0 { return rest.isEmpty }
            guard rest.prefix(count) == chunk[..<count] else { return false }
            rest = rest.dropFirst(count)
            if chunk.count < 65_536 { chunk = [UInt8](repeating: 0, count: 65_536) }
        }
    }

    /// Returns the content of a regular file, and nothing for any other: a FIFO would wait. System calls: openat2(2),
    /// statx(2), read(2)
    package static func content(
        of path: [UInt8], in directory: borrowing FileDescriptor, limit: Int = .max
    ) throws(Errno) -> [UInt8] {
        let file = try FileDescriptor.open(path, in: directory, [.reading, .nonBlocking])
        return try file.status().isRegularFile ? file.readAll(limit: limit) : []
    }

    /// Creates a file for writing in place of one that is there. That one may be a hard link to a file elsewhere, which
    /// stays as it is. No other process may create the name meanwhile. System calls: unlinkat(2), openat2(2)
    package static func createAnew(
        _ name: [UInt8], in directory: borrowing FileDescriptor, _ mode: OpenMode = .writing
    ) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            try directory.unlink(name)
        } catch {
            if error != .noSuchEntry { throw error }
        }
        return try open(name, in: directory, [mode, .creating, .exclusively], mode: 0o600)
    }

    /// Reads `count` bytes at an offset, or fewer if the file ends before. System calls: pread(2)
    package func read(at offset: Int, count: Int) throws(Errno) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: count)
        let number = number
        var done = 0
        while done < count {
            let found = try retryingOnInterrupt {
                unsafe content.withUnsafeMutableBytes {
                    unsafe pread(number, $0.baseAddress.map { unsafe $0 + done }, count - done, offset + done)
                }
            }
            if found == 0 { return Array(content[..<done]) }
            done += found
        }
        return content
    }

    /// System calls: read(2)
    package func read(into chunk: inout [UInt8]) throws(Errno) -> Int {
        let number = number
        return try retryingOnInterrupt {
            unsafe chunk.withUnsafeMutableBytes { unsafe readBytes(number, $0.baseAddress, $0.count) }
        }
    }

    /// Writes all bytes, in as many calls as that takes. System calls: write(2)
    package func writeAll(_ content: [UInt8]) throws(Errno) {
        let number = number
        var done = 0
        while done < content.count {
            done += try retryingOnInterrupt {
                unsafe content.withUnsafeBytes {
                    unsafe writeBytes(number, $0.baseAddress.map { unsafe $0 + done }, $0.count - done)
                }
            }
        }
    }

    /// Writes all bytes, in as many calls as that takes. System calls: write(2)
    package func writeAll(_ bytes: Span<UInt8>) throws(Errno) {
        let number = number
        var done = 0
        while done < bytes.count {
            done += try retryingOnInterrupt {
                unsafe bytes.withUnsafeBytes {
                    unsafe writeBytes(number, $0.baseAddress.map { unsafe $0 + done }, $0.count - done)
                }
            }
        }
    }

    /// Sets the offset of the next read or write. System calls: lseek(2)
    package func seek(to offset: Int) throws(Errno) { _ = try check { lseek(number, off_t(offset), SEEK_SET) } }

    /// Writes all bytes over the beginning of the file; the bytes after them stay. System calls: pwrite(2)
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

    /// Lets the disk begin with the content, while other work is done before it is synchronized. A hint.
    /// System calls: sync_file_range(2)
    package func beginWriting() { _ = clinux_begin_writing(number) }

    /// Writes content and metadata to the disk. A failure is final: the kernel has dropped what it could not write.
    /// System calls: fsync(2)
    package func synchronize() throws(Errno) { _ = try retryingOnInterrupt { fsync(number) } }

    /// Writes the content, and the metadata that is needed to read it, to the disk. System calls: fdatasync(2)
    package func synchronizeData() throws(Errno) { _ = try retryingOnInterrupt { fdatasync(number) } }

    /// Writes everything on the file's file system to the disk: for files that cannot be opened.
    /// System calls: syncfs(2)
    package func synchronizeFileSystem() throws(Errno) {
        _ = try retryingOnInterrupt { clinux_sync_filesystem(number) }
    }

    /// System calls: fchmod(2)
    package func setMode(_ mode: UInt32) throws(Errno) { _ = try check { fchmod(number, mode) } }

    /// Sets the file's times to now, of which a process that watches its directory is notified.
    /// System calls: futimens(2)
    package func touch() throws(Errno) { _ = try check { futimens(number, nil) } }

    /// Sets the times of an item in this directory to now. A symbolic link at its end is not followed.
    /// System calls: utimensat(2)
    package func touch(entry: [UInt8]) throws(Errno) {
        let number = number
        _ = try check { unsafe withCString(entry) { unsafe utimensat(number, $0, nil, AT_SYMLINK_NOFOLLOW) } }
    }

    /// System calls: fchown(2)
    package func setOwner(_ owner: UInt32, group: UInt32) throws(Errno) {
        _ = try check { fchown(number, owner, group) }
    }

    /// Reserves space on the disk for the whole file, so that writing to a map of it cannot fail.
    /// System calls: fallocate(2)
    package func allocate(_ size: Int) throws(Errno) {
        _ = try retryingOnInterrupt { clinux_allocate(number, Int64(size)) }
    }

    /// Frees the disk blocks of a range; the file's size stays, and the range reads as zeros. Best effort.
    /// System calls: fallocate(FALLOC_FL_PUNCH_HOLE)
    package func freeRange(start: Int, length: Int) { _ = clinux_free_range(number, Int64(start), Int64(length)) }

    /// Returns the next range with content at or after an offset; nil where there is only a hole up to `limit`. With a
    /// file system that knows no holes, everything is content. Changes the offset of the next read or write. System
    /// calls: lseek(SEEK_DATA), lseek(SEEK_HOLE)
    package func nextContent(from offset: Int, upTo limit: Int) -> Range<Int>? {
        if offset >= limit { return nil }
        let found = clinux_next_content(number, Int64(offset))
        if found == -1 { return Errno.last == .noSuchDevice ? nil : offset..<limit }
        let start = max(offset, Int(found))
        if start >= limit { return nil }
        let end = Int(clinux_next_hole(number, Int64(start)))
        return start..<(end > start ? min(end, limit) : limit)
    }

    /// System calls: ftruncate(2)
    package func setSize(_ size: Int) throws(Errno) { _ = try retryingOnInterrupt { ftruncate(number, off_t(size)) } }

    /// Sets the flag by which a copy-on-write file system writes in place; a file system without the flag does not need
    /// it.
    /// System calls: ioctl(FS_IOC_SETFLAGS)
    package func avoidCopyOnWrite() { _ = clinux_set_nocow(number) }

    /// Returns the file system's magic number (`statfs.f_type`). System calls: fstatfs(2)
    package func fileSystemType() throws(Errno) -> Int {
        try retryingOnInterrupt { clinux_filesystem_type(number) }
    }

    /// Returns the number of bytes of the file system that this user may still fill, and of the files and directories
    /// that can still be made. System calls: fstatfs(2)
    package func freeSpace() throws(Errno) -> (bytes: UInt64, inodes: UInt64) {
        var (bytes, inodes): (UInt64, UInt64) = (0, 0)
        let number = number
        _ = try retryingOnInterrupt { unsafe clinux_free_space(number, &bytes, &inodes) }
        return (bytes, inodes)
    }
}
