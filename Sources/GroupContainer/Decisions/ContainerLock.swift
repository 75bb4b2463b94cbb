/// What locks on a container's own files mean to others; `docs/format.md` has the ranges.
package enum ContainerLock {
    /// Whether anybody ever waits for a lock that begins there: so it is with items' locks, and with what is done to
    /// join or to repair. What only says that somebody is there is tried, and waited for by nobody. On any other file:
    /// yes.
    package static func keepsOthersWaiting(path: [UInt8], start: Int64) -> Bool {
        if ends(path, "/.group/lock") { return start == LockRange.opening || start >= LockRange.all.first }
        if ends(path, "/.group/members") {
            return start < Int64(MemberTableLayout.slots)
                || (start - Int64(MemberTableLayout.slots)) % Int64(MemberTableLayout.slotBytes) != 0
        }
        return true
    }

    /// Whether it is the file of a container's item locks.
    package static func isOnItemLocks(path: [UInt8]) -> Bool { ends(path, "/.group/lock") }

    private static func ends(_ path: [UInt8], _ name: String) -> Bool {
        path.suffix(name.utf8.count).elementsEqual(name.utf8)
    }
}
