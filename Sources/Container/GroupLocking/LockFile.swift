package import GroupSystemCalls

/// The file `.group/lock` and a pool of descriptors for it. Each request borrows one: a byte lock belongs to the open
/// file description, and if two tasks shared one, the first task's unlock would drop the second task's lock.
package final class LockFile: Sendable {
    /// One open file description of the lock file.
    package final class Handle: Sendable {
        package let descriptor: FileDescriptor
        /// Whether the descriptor is without permission to write; the kernel sets only shared locks then.
        let isOnlyForReading: Bool

        init(_ descriptor: consuming FileDescriptor, isOnlyForReading: Bool) throws(Errno) {
            try descriptor.closeInForkedChild()
            self.descriptor = descriptor
            self.isOnlyForReading = isOnlyForReading
        }

        deinit { descriptor.forgetInForkedChild() }
    }

    package static let name = Array("lock".utf8)
    private static let kept = 16

    /// Opens the file by its name.
    package typealias Opener = @Sendable (FileDescriptor.OpenMode) throws(Errno) -> FileDescriptor

    private let open: Opener
    package let inode: UInt64
    private let isOnlyForReading: Bool
    private let idle = Guarded([Handle]())

    /// Opens the lock file, or creates it with `fileMode`.
    package init(
        creating: Bool, fileMode: UInt32, isOnlyForReading: Bool, _ open: @escaping Opener
    ) throws(LockFileFailure) {
        self.open = open
        self.isOnlyForReading = isOnlyForReading
        // If this process becomes the leader and is killed, its locks end at once.
        InotifyNumber.keep()
        let mode: FileDescriptor.OpenMode =
            isOnlyForReading
            ? [.reading, .nonBlocking] : creating ? [.readingAndWriting, .creating] : .readingAndWriting
        let isRegular: Bool
        do throws(Errno) {
            let descriptor = try open(mode)
            let status = try descriptor.status()
            inode = status.inode
            isRegular = status.isRegularFile
            if creating && status.owner == effectiveUser() { try descriptor.setMode(fileMode) }
            let handle = try Handle(descriptor, isOnlyForReading: isOnlyForReading)
            idle.withLock { $0.append(handle) }
        } catch {
            throw error == .noSuchEntry ? .missing : .system(error)
        }
        if !isRegular { throw .notRegular }
    }

    package func borrow() throws(LockFileFailure) -> Handle {
        if let handle = idle.withLock({ $0.popLast() }) { return handle }
        let (descriptor, found): (Handle, UInt64)
        do throws(Errno) {
            let file = try open(isOnlyForReading ? [.reading, .nonBlocking] : .readingAndWriting)
            found = try file.status().inode
            descriptor = try Handle(file, isOnlyForReading: isOnlyForReading)
        } catch {
            throw error == .noSuchEntry ? .removed : .system(error)
        }
        // Locks on another file would exclude no member.
        if found != inode { throw .replaced }
        return descriptor
    }

    /// Unlocks everything that the handle holds; the handle stays borrowed.
    func unlock(_ handle: Handle) { _ = try? handle.descriptor.tryLock(.none, .all) }

    /// Unlocks everything that the handle holds, and gives the handle back to the pool.
    package func giveBack(_ handle: Handle) {
        guard (try? handle.descriptor.tryLock(.none, .all)) != nil else { return }
        giveBackUnlocked(handle)
    }

    /// Gives back a handle that holds no lock.
    package func giveBackUnlocked(_ handle: Handle) {
        idle.withLock { if $0.count < Self.kept { $0.append(handle) } }
    }

    /// Checks that two open file descriptions of the lock file exclude each other: all locks rely on that. Error:
    /// `doesNotExclude`
    package func probe() throws(LockFileFailure) {
        let (one, two) = (try borrow(), try borrow())
        defer {
            giveBack(one)
            giveBack(two)
        }
        let byte = ByteRange(start: 1, length: 1)
        do throws(Errno) {
            let isLocked = try one.descriptor.tryLock(.exclusive, byte)
            let isLockedTwice = try two.descriptor.tryLock(.exclusive, byte)
            if isLocked && !isLockedTwice { return }
        } catch {
            throw .system(error)
        }
        throw .doesNotExclude
    }
}

/// A byte of the lock file that this process has locked. The lock ends with the object, and with the process, however
/// the process ends.
package final class HeldByte: Sendable {
    private let lockManager: LockManager
    private let handle: LockFile.Handle

    /// Tries to lock the byte and never waits. Returns nil if a lock of another handle is in the way.
    package init?(_ offset: Int64, _ lock: ByteLock, _ lockManager: LockManager) throws(LockFileFailure) {
        self.lockManager = lockManager
        handle = try lockManager.lockFile.borrow()
        let isMine: Bool
        do throws(Errno) {
            isMine = try handle.descriptor.tryLock(lock, ByteRange(start: offset, length: 1))
        } catch {
            throw .system(error)
        }
        if !isMine {
            lockManager.lockFile.giveBack(handle)
            return nil
        }
    }

    /// Returns whether this process or another has locked the byte.
    package static func isHeld(_ offset: Int64, _ lockManager: LockManager) throws(LockFileFailure) -> Bool {
        let handle = try lockManager.lockFile.borrow()
        defer { lockManager.lockFile.giveBackUnlocked(handle) }
        do throws(Errno) {
            return try handle.descriptor.conflict(with: .exclusive, ByteRange(start: offset, length: 1)) != nil
        } catch {
            throw .system(error)
        }
    }

    deinit {
        // A child that only forked must not touch its parent's lock.
        if lockManager.forkGeneration == GroupSystemCalls.forkGeneration { lockManager.lockFile.giveBack(handle) }
    }
}
