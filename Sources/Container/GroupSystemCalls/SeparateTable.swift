import CGroupLinux
import Synchronization

/// Threads with a descriptor table other than the process's, to open and close files that the process may also have
/// open.
///
/// A lock that was set by `fcntl(F_SETLK)`, as SQLite sets them, belongs to a descriptor table and an inode, and is
/// released when *any* descriptor of the inode is closed in that table. So a library may not open and close a file that
/// the program around it may have locked. Closing a descriptor in another table does not affect the lock. A program
/// that sets no such lock says so, and spares itself two switches between threads for each file.
package enum SeparateTable {
    private static let isSpared = Atomic(false)
    private static let isNeeded = Atomic(false)
    /// How many calls of `within` use this process's table now.
    private static let sparedCalls = Atomic(0)

    /// Notes that no code of this process locks files by `fcntl(F_SETLK)`: files are opened in its own table, until
    /// `endSparing`. Does nothing after that.
    package static func spare() {
        isSpared.store(true, ordering: .sequentiallyConsistent)
        if isNeeded.load(ordering: .sequentiallyConsistent) { isSpared.store(false, ordering: .sequentiallyConsistent) }
    }

    /// Notes that code of this process is about to lock files by `fcntl(F_SETLK)`, as SQLite does: no file is opened in
    /// its own table any more. Returns when none is open there.
    package static func endSparing() {
        isNeeded.store(true, ordering: .sequentiallyConsistent)
        isSpared.store(false, ordering: .sequentiallyConsistent)
        while sparedCalls.load(ordering: .sequentiallyConsistent) > 0 { pause(nanoseconds: 100_000) }
    }

    /// Whether a call may use this process's table; then `leaveOwnTable` follows. It is counted before the look, so that
    /// `endSparing` waits for it, or it sees that sparing has ended.
    private static func enterOwnTable() -> Bool {
        if !isSpared.load(ordering: .relaxed) { return false }
        sparedCalls.add(1, ordering: .sequentiallyConsistent)
        if isSpared.load(ordering: .sequentiallyConsistent) { return true }
        leaveOwnTable()
        return false
    }

    private static func leaveOwnTable() { sparedCalls.subtract(1, ordering: .sequentiallyConsistent) }

    private final class Reader: Sendable {
        let end: FileDescriptor
        /// The threads of a forked child's parent do not exist in the child.
        let forkGeneration = GroupSystemCalls.forkGeneration

        init() throws(Errno) {
            var number: Int32 = -1
            let error = unsafe clinux_reader_start(&number)
            if error != 0 { throw Errno(error) }
            let end = FileDescriptor(owning: number)
            try end.closeInForkedChild()
            self.end = end
        }

        deinit { end.forgetInForkedChild() }
    }

    private static let idle = Guarded([Reader]())
    /// The number of threads that are kept for later calls: two, for a program that does two things at once.
    private static let kept = 2

    private static func take() throws(Errno) -> Reader {
        let found = idle.withLock { idle in
            idle.removeAll { $0.forkGeneration != GroupSystemCalls.forkGeneration }
            return idle.popLast()
        }
        if let found { return found }
        return try Reader()
    }

    private static func run(_ directories: [Int32], _ body: (Int32, Int32) -> Void) throws(Errno) {
        let reader = try take()
        let error = withoutActuallyEscaping(body) { body in
            var body = body
            return unsafe withUnsafeMutablePointer(to: &body) { context in
                unsafe clinux_reader_run(
                    reader.end.number, directories, Int32(directories.count),
                    { context, directory, other in
                        unsafe context?.assumingMemoryBound(to: ((Int32, Int32) -> Void).self).pointee(directory, other)
                    }, context)
            }
        }
        if error != 0 { throw Errno(error) }
        idle.withLock { if $0.count < kept { $0.append(reader) } }
    }

    /// Runs `body` on such a thread while this one waits, or here if that is spared. `body` gets a descriptor of the
    /// directory, and must use no other one from outside: their numbers are not those of its table. No descriptor that
    /// it opens may leave it.
    /// System calls: sendmsg(2), recv(2); on the other thread recvmsg(2), close(2), send(2)
    package static func within<Answer>(
        _ directory: borrowing FileDescriptor, _ body: (borrowing FileDescriptor) throws(Errno) -> Answer
    ) throws(Errno) -> Answer {
        if enterOwnTable() {
            defer { leaveOwnTable() }
            return try body(directory)
        }
        var answer = Result<Answer, Errno>.failure(.inputOutput)
        try run([directory.number]) { number, _ in
            let directory = FileDescriptor(owning: number)
            answer = Result { () throws(Errno) in try body(directory) }
        }
        return try answer.get()
    }

    /// Runs `body` on such a thread with two directories.
    package static func within<Answer>(
        _ directory: borrowing FileDescriptor, _ other: borrowing FileDescriptor,
        _ body: (borrowing FileDescriptor, borrowing FileDescriptor) throws(Errno) -> Answer
    ) throws(Errno) -> Answer {
        if enterOwnTable() {
            defer { leaveOwnTable() }
            return try body(directory, other)
        }
        var answer = Result<Answer, Errno>.failure(.inputOutput)
        try run([directory.number, other.number]) { number, otherNumber in
            let directory = FileDescriptor(owning: number)
            let other = FileDescriptor(owning: otherNumber)
            answer = Result { () throws(Errno) in try body(directory, other) }
        }
        return try answer.get()
    }
}
