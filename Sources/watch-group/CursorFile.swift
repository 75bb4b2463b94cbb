import Dispatch
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The file that keeps a follower's place: written whole beside it and renamed, at most 100 ms behind the lines. Its
/// first byte is locked meanwhile, the next file's before that has its name: it is one follower's.
struct CursorFile {
    private final class Held: Sendable {
        let file: FileDescriptor

        init(_ file: consuming FileDescriptor) { self.file = file }
    }

    private let path: [UInt8]
    private var held: Held?
    /// There was none.
    private var isNew = false
    private var written: Cursor?
    private var writtenAt: Int64 = 0
    private static let period: Int64 = 100_000_000

    init(path: [UInt8]) { self.path = path }

    /// What it is for, in errors.
    static let operation = "keep the cursor in"

    /// For one that ends and has still its place to write.
    private static let patience: Int64 = 1_000_000_000
    private static let first = ByteRange(start: 0, length: 1)

    /// The place that it holds; nil where there is none, or an empty one. From here on nobody else keeps a place in it.
    /// Damaged: a typed error, so that nobody takes the loss of a place for a new beginning. Errors: `conflict` where
    /// another follower keeps its own there
    mutating func claim() throws(CoordinationError) -> Cursor? {
        let content: [UInt8]
        do throws(Errno) {
            let file = try hold()
            // A FIFO holds no cursor, and reading it would wait.
            let isRegular = try file.status().isRegularFile
            content = isRegular ? try file.readAll(limit: 4_096) : []
            held = Held(file)
            // As mktemp(1) makes one.
            if isRegular && content.isEmpty { return nil }
        } catch {
            if error == .noSuchEntry {
                isNew = true
                return nil
            }
            throw error == .tryAgain ? inUse : CoordinationError.cursorFile(path, error)
        }
        let text = String(
            decoding: content.last == UInt8(ascii: "\n") ? content.dropLast() : content[...], as: UTF8.self)
        guard let cursor = Cursor(text) else { throw CoordinationError.damagedCursorFile(path) }
        return cursor
    }

    /// Notes a place; writes it if that is due or the last time is long enough ago. Not in the middle of a snapshot:
    /// who comes back gets that from its beginning.
    mutating func note(_ cursor: Cursor, isDue: Bool) throws(CoordinationError) {
        let now = monotonicNanoseconds()
        if cursor == written || cursor.isNowhere || (!isDue && now - writtenAt < Self.period) { return }
        do throws(Errno) {
            held = Held(try WholeFile.writeHeld(Array("\(cursor)\n".utf8), at: path, isFirst: isNew))
        } catch {
            throw isNew && error == .exists ? inUse : CoordinationError.cursorFile(path, error)
        }
        (written, writtenAt, isNew) = (cursor, now, false)
    }

    /// The file that has the name once its byte is ours. One that this user may not write is nobody's. Error: EAGAIN
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
            // It was replaced while this one waited.
            if try FileDescriptor.open(path: path, .placeOnly).status().inode == status.inode { return file }
        }
    }

    /// False: another one has it all the time.
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
        let inode = (try? FileDescriptor.open(path: path, .placeOnly).status().inode) ?? 0
        return .cursorFileInUse(path, by: OpenFiles.holderOfFirstByte(ofInode: inode))
    }
}
