import GroupBytes
import GroupLocking
import GroupSystemCalls

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

/// A lock on every byte of a container's lock file. No process can join the container as long as the object lives,
/// because joining needs byte 0 of that file. The lock is not granted while the container has members.
final class WholeContainerLock: Sendable {
    /// The locked file; nil where the container has no lock file.
    private let lock: FileDescriptor?

    /// Locks the container whose `.group` directory is `group`. Waits at most two seconds for processes that are just
    /// opening or leaving the container. Errors: `busy` if a member has the container open. System calls:
    /// fcntl(F_OFD_GETLK), fcntl(F_OFD_SETLK)
    init(_ group: borrowing FileDescriptor) throws(Errno) {
        if try Self.hasMember(group) { throw .busy }
        let lock = try Self.open("lock", in: group)
        let deadline = Deadline(after: .seconds(2))
        while let isFree = try lock?.tryLock(.exclusive, .all), !isFree {
            if deadline.isOver { throw .busy }
            if try Self.hasMember(group) { throw .busy }
            pause(nanoseconds: 2_000_000)
        }
        if try Self.hasMember(group) { throw .busy }
        self.lock = lock
    }

    /// Returns whether a process that may write has the container open.
    static func hasMember(_ group: borrowing FileDescriptor) throws(Errno) -> Bool {
        guard let memberTable = try open("members", in: group) else { return false }
        return try memberTable.conflict(with: .exclusive, .all) != nil
    }

    private static func open(_ name: String, in group: borrowing FileDescriptor) throws(Errno) -> FileDescriptor? {
        do throws(Errno) {
            return try FileDescriptor.open(Array(name.utf8), in: group, [.readingAndWriting, .nonBlocking])
        } catch {
            if error == .noSuchEntry { return nil }
            throw error
        }
    }

    /// Returns the members that have the container open.
    static func members(_ group: borrowing FileDescriptor, item: String) -> [CoordinationError.Holder] {
        guard let memberTable = try? MemberTable(onlyForReadingIn: group) else { return [] }
        var processes = ProcessTable()
        return memberTable.liveMembers().map { opened in
            CoordinationError.Holder(
                processes.process(of: opened), purpose: opened.purpose, sinceNanoseconds: opened.started, item: item,
                isWriting: true)
        }
    }
}
