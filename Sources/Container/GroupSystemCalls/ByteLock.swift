import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A range of a file's bytes.
package struct ByteRange: Equatable, Hashable, Sendable {
    package var start: Int64
    package var length: Int64

    package init(start: Int64, length: Int64) {
        self.start = start
        self.length = length
    }

    /// Every byte that a file could have.
    package static let all = ByteRange(start: 0, length: 0)
}

/// The way in which a range is locked.
package enum ByteLock: Sendable {
    case shared, exclusive, none

    var type: Int32 {
        switch self {
        case .shared: Int32(F_RDLCK)
        case .exclusive: Int32(F_WRLCK)
        case .none: Int32(F_UNLCK)
        }
    }
}

extension FileDescriptor {
    /// Sets the lock of this open file description on a range, without waiting. Returns false where another lock
    /// conflicts.
    /// System calls: fcntl(F_OFD_SETLK)
    package func tryLock(_ lock: ByteLock, _ range: ByteRange) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try check { clinux_lock_try(number, range.start, range.length, lock.type) }
            return true
        } catch {
            if error.code == EAGAIN || error.code == EACCES { return false }
            throw error
        }
    }

    /// Returns the first lock of another open file description that keeps `lock` from being set.
    /// System calls: fcntl(F_OFD_GETLK)
    package func conflict(with lock: ByteLock, _ range: ByteRange) throws(Errno) -> ByteRange? {
        var found = ByteRange(start: 0, length: 0)
        let number = number
        let answer = try check {
            unsafe clinux_lock_conflict(number, range.start, range.length, lock.type, &found.start, &found.length)
        }
        return answer == 1 ? found : nil
    }

    /// Returns the process that has locked a byte of the range by `fcntl(F_SETLK)`; nil where there is none that this
    /// one can name. System calls: fcntl(F_OFD_GETLK)
    package func lockOwner(_ range: ByteRange) throws(Errno) -> Int32? {
        var owner: Int32 = 0
        let number = number
        let answer = try check { unsafe clinux_lock_owner(number, range.start, range.length, &owner) }
        return answer == 1 ? owner : nil
    }

    /// Closes this descriptor in each child that forks without exec, where it would prolong its parent's locks.
    package func closeInForkedChild() throws(Errno) { _ = try check { clinux_fork_close_in_child(number) } }

    /// Ends the effect of `closeInForkedChild`; to be called before the descriptor is closed.
    package func forgetInForkedChild() { clinux_fork_forget(number) }
}

/// A number that changes in a forked child: a file that was opened under another generation belongs to the parent.
package var forkGeneration: UInt32 { clinux_fork_generation() }
