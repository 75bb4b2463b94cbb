import GroupLocking
import GroupSystemCalls

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
