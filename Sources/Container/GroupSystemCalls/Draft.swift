/// A file that gets its name when it is whole, outside of any container. Until then it is beside that name, and is
/// removed with this value.
///
/// A process that is killed leaves its draft. So the names of drafts are few, and a process holds a lock on its own:
/// the next draft with the same label replaces one that nobody holds.
package struct Draft: ~Copyable {
    /// The file, for reading and writing. The lock on its first byte lasts as long as a descriptor of it is open.
    package let file: FileDescriptor
    /// The name of the draft in its directory.
    package let name: [UInt8]
    private let directory: FileDescriptor
    private var isPublished = false

    private static let mark = ByteRange(start: 0, length: 1)
    /// The drafts with one label at a time whose names are known. Others, if there are any, have random names.
    private static let most = 16

    /// Creates an empty draft in a directory. `label` is the part of its name that drafts of other files do not have.
    /// System calls: openat2(2), fcntl(F_OFD_SETLK), statx(2); unlinkat(2) for a draft that was left
    package init(
        _ label: [UInt8], in directory: consuming FileDescriptor, mode: UInt32 = 0o600
    ) throws(Errno) {
        let stem = [UInt8(ascii: ".")] + label.prefix(200) + Array(".group-draft".utf8)
        var number: UInt64 = 0
        while true {
            let name = number == 0 ? stem : stem + Array("-\(number)".utf8)
            if let file = try Self.make(name, in: directory, mode) {
                self.file = file
                self.name = name
                self.directory = directory
                return
            }
            number = number < Self.most ? number + 1 : randomWord()
        }
    }

    deinit { if !isPublished { try? directory.unlink(name) } }

    /// Gives the file its name. System calls: renameat2(2)
    package mutating func publish(as final: [UInt8], replacing: Bool = true) throws(Errno) {
        try directory.rename(name, to: final, in: directory, replacing: replacing)
        isPublished = true
    }

    /// Returns nil if another process has the name.
    private static func make(
        _ name: [UInt8], in directory: borrowing FileDescriptor, _ mode: UInt32
    ) throws(Errno) -> FileDescriptor? {
        if let file = try create(name, in: directory, mode) { return file }
        removeAbandoned(name, in: directory)
        return try create(name, in: directory, mode)
    }

    private static func create(
        _ name: [UInt8], in directory: borrowing FileDescriptor, _ mode: UInt32
    ) throws(Errno) -> FileDescriptor? {
        let file: FileDescriptor
        do throws(Errno) {
            file = try FileDescriptor.open(
                name, in: directory, [.readingAndWriting, .creating, .exclusively], mode: mode)
        } catch {
            if error == .exists { return nil }
            throw error
        }
        // Before the lock, another process may have taken the file for abandoned. On a file system without locks, nobody
        // removes a draft.
        if (try? file.tryLock(.exclusive, mark)) == false { return nil }
        if try isThere(file, name, in: directory) { return file }
        return nil
    }

    private static func removeAbandoned(_ name: [UInt8], in directory: borrowing FileDescriptor) {
        guard let file = try? FileDescriptor.open(name, in: directory, .writing),
            (try? file.status().isRegularFile) == true, (try? file.tryLock(.exclusive, mark)) == true,
            (try? isThere(file, name, in: directory)) == true
        else { return }
        // The name stays that of this file while the lock is held.
        try? directory.unlink(name)
    }

    private static func isThere(
        _ file: borrowing FileDescriptor, _ name: [UInt8], in directory: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        let status = try file.status()
        return try directory.statusIfPresent(of: name)?.inode == status.inode
    }
}
