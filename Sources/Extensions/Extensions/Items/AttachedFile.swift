package import GroupContainer
import GroupSystemCalls

/// A regular file that is open for reading, and is closed with the last reference.
public final class AttachedFile: Sendable {
    let file: FileDescriptor

    /// The number of the descriptor, valid as long as this object lives. Close-on-exec; its offset is its own.
    public var descriptor: Int32 { file.number }

    private init(owning file: consuming FileDescriptor, label: String) throws(AttachmentError) {
        let isRegular: Bool
        do throws(Errno) {
            isRegular = try file.status().isRegularFile
        } catch {
            throw AttachmentError.file(label, reason: "\(error)")
        }
        if !isRegular { throw AttachmentError.file(label, reason: "it is not a regular file") }
        self.file = file
    }

    /// Opens the file at a path, for reading only. Errors: `file`, also for what is not a regular file.
    /// System calls: openat2(2), statx(2)
    public convenience init(path: String) throws(AttachmentError) {
        try self.init(opening: Array(path.utf8), label: "'\(path)'")
    }

    /// Opens the file of a descriptor once more, for reading only, with an offset of its own. The descriptor stays the
    /// caller's. Errors: `file`, also for what is not a regular file. System calls: openat2(2), statx(2)
    public convenience init(reopening descriptor: Int32) throws(AttachmentError) {
        try self.init(opening: Array("/proc/self/fd/\(descriptor)".utf8), label: "descriptor \(descriptor)")
    }

    private convenience init(opening path: [UInt8], label: String) throws(AttachmentError) {
        let file: FileDescriptor
        do throws(Errno) {
            file = try FileDescriptor.open(path: path, [.reading, .nonBlocking])
        } catch {
            throw AttachmentError.file(label, reason: "\(error)")
        }
        try self.init(owning: file, label: label)
    }

    /// Takes over a descriptor that this process has inherited. Errors: `file`; the descriptor is left as it is if it
    /// was not inherited. System calls: fcntl(2), statx(2)
    package convenience init(inherited number: Int32) throws(AttachmentError) {
        let label = "descriptor \(number)"
        let file: FileDescriptor
        do throws(Errno) {
            file = try FileDescriptor.inherited(number)
        } catch {
            throw AttachmentError.file(label, reason: "it was not inherited for reading")
        }
        try self.init(owning: file, label: label)
    }

    /// Creates a file in memory. Errors: `file`. System calls: memfd_create(2), write(2), openat2(2)
    convenience init(holding content: [UInt8]) throws(AttachmentError) {
        let memory: FileDescriptor
        do throws(Errno) {
            memory = try Self.memory(holding: content)
        } catch {
            throw AttachmentError.file("a file in memory", reason: "\(error)")
        }
        try self.init(reopening: memory.number)
    }

    private static func memory(holding content: [UInt8]) throws(Errno) -> FileDescriptor {
        let memory = try FileDescriptor.inMemory()
        try memory.writeAll(content)
        return memory
    }

    /// Opens an item of a container, whose lock the caller holds, without following symbolic links.
    /// Errors: `file`. System calls: openat2(2), statx(2)
    convenience init(item path: [UInt8], below root: [UInt8], label: String) throws(AttachmentError) {
        let file: FileDescriptor
        do throws(Errno) {
            let directory = try FileDescriptor.open(path: root, [.pathOnly, .directory])
            file = try FileDescriptor.open(path, in: directory, .reading)
        } catch {
            throw AttachmentError.file(label, reason: "\(error)")
        }
        try self.init(owning: file, label: label)
    }

    /// Opens an item of a container that is not changed any more, without a lock and without following symbolic links;
    /// nil where there is no item. Errors: `file`. System calls: openat2(2), statx(2)
    package static func unchanging(
        _ path: [UInt8], below root: [UInt8], label: String
    ) throws(AttachmentError) -> AttachedFile? {
        let file: FileDescriptor
        do throws(Errno) {
            let directory = try FileDescriptor.open(path: root, [.pathOnly, .directory])
            file = try FileDescriptor.open(path, in: directory, [.reading, .nonBlocking])
        } catch {
            if error == .noSuchEntry { return nil }
            throw AttachmentError.file(label, reason: "\(error)")
        }
        return try AttachedFile(owning: file, label: label)
    }

    /// Returns the size of the file, in bytes. Errors: `file`. System calls: statx(2)
    package func size() throws(AttachmentError) -> UInt64 {
        do throws(Errno) {
            return try file.status().size
        } catch {
            throw AttachmentError.file("descriptor \(file.number)", reason: "\(error)")
        }
    }

    /// Copies the whole file into an item that is being written. Errors: `file`; those of `ItemWriter.write(_:)`.
    /// System calls: openat2(2), ioctl(FICLONE), copy_file_range(2), read(2), write(2)
    package func copy(to writer: inout ItemWriter) throws {
        let own: FileDescriptor
        do throws(Errno) {
            own = try FileDescriptor.open(path: Array("/proc/self/fd/\(file.number)".utf8), .reading)
        } catch {
            throw AttachmentError.file("descriptor \(file.number)", reason: "\(error)")
        }
        try writer.write(contentOf: own)
    }

    /// Reads the whole file, from its beginning. Errors: `file`; `tooLarge`. System calls: openat2(2), read(2)
    package func read(limit: Int) throws(AttachmentError) -> [UInt8] {
        let content: [UInt8]
        do throws(Errno) {
            let own = try FileDescriptor.open(path: Array("/proc/self/fd/\(file.number)".utf8), .reading)
            content = try own.readAll(limit: limit == .max ? .max : limit + 1)
        } catch {
            throw AttachmentError.file("descriptor \(file.number)", reason: "\(error)")
        }
        if content.count > limit { throw .tooLarge(limit: limit) }
        return content
    }
}

extension AttachedFile: Equatable {
    /// Returns whether both are one object.
    public static func == (left: AttachedFile, right: AttachedFile) -> Bool { left === right }
}
