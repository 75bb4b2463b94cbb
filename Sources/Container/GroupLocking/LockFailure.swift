package import GroupSystemCalls

/// The reason why a lock was not granted.
package enum LockFailure: Error {
    /// The deadline passed; the holders are those that were in the way then.
    case timedOut([LockHolder])
    /// The task was cancelled.
    case cancelled
    /// The calling code holds a lock on the item already, so the request would wait for itself.
    case heldByCaller(path: [UInt8]?)
    /// The calling thread keeps a lock on the item between calls, so the request would wait for itself.
    case keptByCaller(path: [UInt8]?, [LockHolder])
    /// A holder waits, directly or through others, for what the calling code holds.
    case deadlock([LockHolder])
    /// The kernel refused to lock, or no thread could be started for the wait.
    case system(Errno)
    /// The lock file is not the one that the other members use, or cannot be opened.
    case lockFile(LockFileFailure)
}

/// The reason why the lock file cannot be used.
package enum LockFileFailure: Error, Equatable {
    case missing
    /// The lock file was removed while members are alive.
    case removed
    /// Another file has the lock file's name while members are alive: locks on it would exclude no member.
    case replaced
    case notRegular
    /// Byte locks of two open file descriptions do not exclude each other on this file system.
    case doesNotExclude
    case system(Errno)
}

/// A member that holds a lock.
package struct LockHolder: Sendable {
    package var process: MemberProcess
    package var purpose: String
    /// Nanoseconds since 1970.
    package var since: Int64
    /// The item's path, cut after 87 bytes.
    package var path: String
    package var mode: LockMode
    /// The number that its member has drawn.
    package var nonce: UInt64

    init(_ lock: MemberTable.PublishedLock, in table: inout ProcessTable) {
        process = table.process(of: lock.member)
        purpose = lock.purpose
        since = lock.since
        path = lock.path
        mode = lock.claim.part.mode
        nonce = lock.member.nonce
    }
}
