import GroupBytes
import Dispatch
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The file that keeps a follower's cursor: written whole beside the file and renamed, at most 100 ms behind the lines.
/// The follower keeps the file's first byte locked, and locks that of a new file before the rename, so that only one
/// follower uses the file.
struct CursorFile {
    private final class Held: Sendable {
        let file: FileDescriptor

        init(_ file: consuming FileDescriptor) { self.file = file }
    }

    private let path: [UInt8]
    private var held: Held?
    /// True if the file did not exist.
    private var isNew = false
    private var written: Cursor?
    private var writtenAt: Int64 = 0
    private static let period: Int64 = 100_000_000

    init(path: [UInt8]) { self.path = path }

    /// The operation as error messages name it.
    static let operation = "keep the cursor in"

    /// How long to wait for a process that is ending and still has to write its cursor.
    private static let patience: Int64 = 1_000_000_000
    private static let first = ByteRange(start: 0, length: 1)

    /// Returns the cursor in the file; nil if the file does not exist or is empty. From here on no other process keeps
    /// a cursor in the file; a file that does not exist is claimed by the first write. A damaged file is an error, so
    /// that a lost cursor is not taken for a first start. Errors: `conflict` where another follower keeps its cursor in
    /// the file.
    mutating func claim() throws(CoordinationError) -> Cursor? {
        let content: [UInt8]
        do throws(Errno) {
            let file = try hold()
            // A FIFO holds no cursor, and reading from a FIFO would wait.
            let isRegular = try file.status().isRegularFile
            content = isRegular ? try file.readAll(limit: 4_096) : []
            held = Held(file)
            // mktemp(1) makes an empty file.
            if isRegular && content.isEmpty { return nil }
        } catch {
            if error == .noSuchEntry {
                isNew = true
                return nil
            }
            throw error == .tryAgain
                ? inUse : CoordinationError.unwritable(path, operation: "keep the cursor in", error)
        }
        let text = String(
            decoding: content.last == UInt8(ascii: "\n") ? content.dropLast() : content[...], as: UTF8.self)
        guard let cursor = Cursor(text) else { throw damaged }
        return cursor
    }

    /// Records a cursor; writes the file if that is due or the last write is long enough ago. A cursor in the middle of
    /// a snapshot is not written: a follower that starts again gets the snapshot from its beginning.
    mutating func note(_ cursor: Cursor, isDue: Bool) throws(CoordinationError) {
        let now = monotonicNanoseconds()
        if cursor == written || cursor.isInvalid || (!isDue && now - writtenAt < Self.period) { return }
        do throws(Errno) {
            held = Held(try WholeFile.writeHeld(Array("\(cursor)\n".utf8), at: path, isFirst: isNew))
        } catch {
            throw isNew && error == .exists
                ? inUse : CoordinationError.unwritable(path, operation: "keep the cursor in", error)
        }
        (written, writtenAt, isNew) = (cursor, now, false)
    }

    /// Returns how long until a cursor is due to be written, in nanoseconds; nil if it need not be.
    func wait(for cursor: Cursor) -> Int64? {
        if cursor == written || cursor.isInvalid { return nil }
        return max(0, writtenAt + Self.period - monotonicNanoseconds())
    }

    /// Returns the file that has the name, once this process holds the lock of its first byte. A file that this user
    /// may not write is returned without a lock. Error: EAGAIN.
    private func hold() throws(Errno) -> FileDescriptor {
        let end = monotonicNanoseconds() + Self.patience
        while true {
            let file: FileDescriptor
            do throws(Errno) {
                file = try FileDescriptor.open(path: path, [.readingAndWriting, .nonBlocking])
            } catch {
                if ![.accessDenied, .readOnly, .isADirectory].contains(error) { throw error }
                return try FileDescriptor.open(path: path, [.reading, .nonBlocking])
            }
            let status = try file.status()
            if !status.isRegularFile { return file }
            guard try wait(for: file, until: end) else { throw .tryAgain }
            // The file may have been replaced during the wait.
            if try FileDescriptor.open(path: path, .pathOnly).status().inode == status.inode { return file }
        }
    }

    /// Returns false if another process holds the lock until `end`.
    private func wait(for file: borrowing FileDescriptor, until end: Int64) throws(Errno) -> Bool {
        if try file.tryLock(.exclusive, Self.first) { return true }
        let (ended, outcome) = (DispatchSemaphore(value: 0), Guarded(LockWaiter.Outcome.cancelled))
        let waiter = try LockWaiter([LockWaiter.Step(.exclusive, Self.first)], on: file.number) { answer in
            outcome.withLock { $0 = answer }
            ended.signal()
        }
        let rest = max(0, end - monotonicNanoseconds())
        if ended.wait(timeout: .now() + .nanoseconds(Int(rest))) == .timedOut {
            waiter.cancel()
            ended.wait()
        }
        if case .failed(let errno) = outcome.withLock({ $0 }) { throw errno }
        return outcome.withLock { $0 } == .granted
    }

    private var inUse: CoordinationError {
        let inode = (try? FileDescriptor.open(path: path, .pathOnly).status().inode) ?? 0
        let process = OpenFiles.holder(ofInode: inode)
        let follower = process.map { "process \($0) (\(programName(ofProcess: $0)))" } ?? "another process"
        return CoordinationError(
            .conflict, operation: "keep the cursor in", item: printable(path),
            reason: "\(follower) keeps its cursor there",
            remedy: CoordinationError.Remedy(
                .endProcess, "end that process, or give each follower a file of its own", process: process))
    }

    private var damaged: CoordinationError {
        CoordinationError(
            .damaged, operation: "read the cursor from", item: printable(path),
            reason: "the file does not hold a cursor",
            remedy: .ofCommand("remove the file to begin at the place of --since"))
    }
}
