import GroupBytes
import GroupLocking

/// The bytes of the lock file that are below those of the items, and the meaning of the container's locks for other
/// processes; `docs/reference/format.md` has the ranges.
package enum ContainerLock {
    /// Held while a process opens the container, or repairs one of its own files.
    static let opening: Int64 = 0
    /// Held by the process that writes the checkpoint and removes old files of the journal.
    static let keeping: Int64 = 2
    /// Held by the process that has used up the reserve: see `OpenContainer.keepReserve`.
    static let removing: Int64 = 3

    /// Held by the candidate that probes the leader while nothing happens: see `Deputy`.
    static let deputy: Int64 = 4

    /// Held while a presenter's entry is written or freed.
    static let presenting: Int64 = 5

    /// Each held by the one program that does some work for the whole container: see `SoleProcess`.
    static let services: ClosedRange<Int64> = 6...15

    /// The queue of candidates for the term after this one; the leader of this term holds it.
    static func election(term: UInt64) -> Int64 { 4_096 + Int64(term % 1_024) }
    /// Held by the leader of a term and by no other process: the leader is alive as long as the byte is held.
    static func leadership(term: UInt64) -> Int64 { 8_192 + Int64(term % 1_024) }

    /// Held by the one process that listens to a channel under a name. Two names share a byte once in 2⁶¹; then the
    /// second one is refused.
    static func listening(to channel: String, as name: String, key: SipHash) -> Int64 {
        1 << 61 + Int64(key.hash("\(channel)/\(name)".utf8) >> 3)
    }

    /// Held, as a shared lock, by all processes that are present under a name.
    static func presence(of name: String, key: SipHash) -> Int64 {
        1 << 60 + Int64(key.hash("presence/\(name)".utf8) >> 4)
    }

    /// Held, as a shared lock, by all processes that have a database open.
    static func database(_ location: ItemLocation, key: SipHash) -> Int64 {
        1 << 59 + Int64(key.hash(location.bytes) >> 5)
    }

    /// Returns whether a process ever waits for a lock that begins at `start`. Processes wait for locks on items, and
    /// for those that are taken to join or to repair. A lock that only shows that a process is there is tried and never
    /// waited for. For any other file the result is true.
    package static func keepsOthersWaiting(path: [UInt8], start: Int64) -> Bool {
        if ends(path, "/.group/lock") { return start == opening || start == presenting || start >= LockRange.all.first }
        if ends(path, "/.group/members") {
            return start < Int64(MemberTableLayout.slots)
                || (start - Int64(MemberTableLayout.slots)) % Int64(MemberTableLayout.slotBytes) != 0
        }
        // Each connection of SQLite has this lock, shared, and a process that wants more only tries.
        if ends(path, "-shm") { return start != DatabaseCommit.openLock }
        return true
    }

    /// Returns whether the path is that of the file of a container's item locks.
    package static func isOnItemLocks(path: [UInt8]) -> Bool { ends(path, "/.group/lock") }

    private static func ends(_ path: [UInt8], _ name: String) -> Bool {
        path.suffix(name.utf8.count).elementsEqual(name.utf8)
    }
}
