import GroupSystemCalls

/// The file `.group/lock` and a pool of descriptors for it. Each request borrows one: a byte lock belongs to the open
/// file description, and if two tasks shared one, the first task's unlock would drop the second task's lock.
final class LockFile: Sendable {
    /// One open file description of the lock file.
    final class Handle: Sendable {
        let descriptor: FileDescriptor
        /// Whether the descriptor is without permission to write; the kernel sets only shared locks then.
        let isOnlyForReading: Bool

        init(_ descriptor: consuming FileDescriptor, isOnlyForReading: Bool) throws(Errno) {
            try descriptor.closeInForkedChild()
            self.descriptor = descriptor
            self.isOnlyForReading = isOnlyForReading
        }

        deinit { descriptor.forgetInForkedChild() }
    }

    static let name = Array("lock".utf8)
    private static let kept = 16

    private let directory: ContainerDirectories
    let inode: UInt64
    private let isOnlyForReading: Bool
    private let idle = Guarded([Handle]())

    init(in directory: ContainerDirectories, creating: Bool, isOnlyForReading: Bool) throws(CoordinationError) {
        self.directory = directory
        self.isOnlyForReading = isOnlyForReading
        // If this process becomes the leader and is killed, its locks end at once.
        InotifyNumber.keep()
        let access: FileDescriptor.OpenMode =
            isOnlyForReading
            ? [.reading, .nonBlocking] : creating ? [.readingAndWriting, .creating] : .readingAndWriting
        let isRegular: Bool
        do throws(Errno) {
            let descriptor = try FileDescriptor.open(Self.name, in: directory.group, access, mode: 0o600)
            let status = try descriptor.status()
            inode = status.inode
            isRegular = status.isRegularFile
            if creating && status.owner == effectiveUser() { try descriptor.setMode(directory.fileMode) }
            let handle = try Handle(descriptor, isOnlyForReading: isOnlyForReading)
            idle.withLock { $0.append(handle) }
        } catch {
            if error == .noSuchEntry {
                throw .damaged(".group/lock", operation: "open", "the lock file is missing")
            }
            throw CoordinationError(error, item: ".group/lock", operation: "open")
        }
        if !isRegular { throw .damaged(".group/lock", operation: "open", "it is not a regular file") }
    }

    func borrow() throws(CoordinationError) -> Handle {
        if let handle = idle.withLock({ $0.popLast() }) { return handle }
        let (descriptor, found): (Handle, UInt64)
        do throws(Errno) {
            let file = try FileDescriptor.open(
                Self.name, in: directory.group, isOnlyForReading ? [.reading, .nonBlocking] : .readingAndWriting)
            found = try file.status().inode
            descriptor = try Handle(file, isOnlyForReading: isOnlyForReading)
        } catch {
            if error == .noSuchEntry {
                throw .damaged(".group/lock", operation: "open", "the lock file was removed while members are alive")
            }
            throw CoordinationError(error, item: ".group/lock", operation: "open")
        }
        // Locks on another file would exclude no member.
        if found != inode {
            throw .damaged(".group/lock", operation: "open", "the lock file was replaced while members are alive")
        }
        return descriptor
    }

    /// Unlocks everything that the handle holds; the handle stays borrowed.
    func unlock(_ handle: Handle) { _ = try? handle.descriptor.tryLock(.none, .all) }

    /// Unlocks everything that the handle holds, and gives the handle back to the pool.
    func giveBack(_ handle: Handle) {
        guard (try? handle.descriptor.tryLock(.none, .all)) != nil else { return }
        giveBackUnlocked(handle)
    }

    /// Gives back a handle that holds no lock.
    func giveBackUnlocked(_ handle: Handle) {
        idle.withLock { if $0.count < Self.kept { $0.append(handle) } }
    }

    /// Checks that two open file descriptions of the lock file exclude each other: all locks rely on that. Error:
    /// `unsupportedFileSystem`
    func probe() throws(CoordinationError) {
        let (one, two) = (try borrow(), try borrow())
        defer {
            giveBack(one)
            giveBack(two)
        }
        let byte = ByteRange(start: 1, length: 1)
        let excludes = try translating(".group/lock", "lock") { () throws(Errno) in
            if try !one.descriptor.tryLock(.exclusive, byte) { return false }
            return try !two.descriptor.tryLock(.exclusive, byte)
        }
        if !excludes {
            throw CoordinationError(
                .unsupportedFileSystem, item: ".group/lock", operation: "lock", cause: "byte locks do not exclude here",
                advice: "put the container on a local file system: ext4, xfs, btrfs, tmpfs")
        }
    }
}

/// A byte of the lock file that this process has locked. The lock ends with the object, and with the process, however
/// the process ends.
final class HeldByte: Sendable {
    private let member: Member
    private let handle: LockFile.Handle

    /// Tries to lock the byte and never waits. Returns nil if a lock of another handle is in the way.
    init?(
        _ offset: Int64, _ lock: ByteLock, _ member: Member, operation: String
    ) throws(CoordinationError) {
        self.member = member
        handle = try member.lockFile.borrow()
        let isMine: Bool
        do throws(Errno) {
            isMine = try handle.descriptor.tryLock(lock, ByteRange(start: offset, length: 1))
        } catch {
            throw CoordinationError(error, item: ".group/lock", operation: operation)
        }
        if !isMine {
            member.lockFile.giveBack(handle)
            return nil
        }
    }

    /// Returns whether this process or another has locked the byte.
    static func isHeld(_ offset: Int64, _ member: Member, operation: String) throws(CoordinationError) -> Bool {
        let handle = try member.lockFile.borrow()
        defer { member.lockFile.giveBackUnlocked(handle) }
        do throws(Errno) {
            return try handle.descriptor.conflict(with: .exclusive, ByteRange(start: offset, length: 1)) != nil
        } catch {
            throw CoordinationError(error, item: ".group/lock", operation: operation)
        }
    }

    deinit {
        // A child that only forked must not touch its parent's lock.
        if member.lockManager.forkGeneration == GroupSystemCalls.forkGeneration { member.lockFile.giveBack(handle) }
    }
}
