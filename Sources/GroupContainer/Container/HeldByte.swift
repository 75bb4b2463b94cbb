import GroupSystemCalls

/// A byte of the lock file that this process has locked. It ends with the object, and with the process, however that
/// ends.
final class HeldByte: Sendable {
    private let member: Member
    private let handle: LockFile.Handle

    /// Tried, never waited for: nil where another one's lock is in the way.
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

    /// Whether anybody has locked it, in this process or another.
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
