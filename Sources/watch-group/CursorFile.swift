import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The file that keeps a follower's place: written whole beside it and renamed, at most 100 ms behind the lines.
struct CursorFile {
    private let path: [UInt8]
    private var written: Cursor?
    private var writtenAt: Int64 = 0
    private static let period: Int64 = 100_000_000

    init(path: [UInt8]) { self.path = path }

    /// Nil where there is none. Damaged: a typed error, so that nobody takes the loss of a place for a new beginning.
    func read() throws(CoordinationError) -> Cursor? {
        let content: [UInt8]
        do throws(Errno) {
            let file = try FileDescriptor.open(path: path, [.reading, .nonBlocking])
            // A FIFO holds no cursor, and reading it would wait.
            content = try file.status().isRegularFile ? file.readAll(limit: 4_096) : []
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError.cursorFile(path, error)
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
            try WholeFile.write(Array("\(cursor)\n".utf8), at: path)
        } catch {
            throw CoordinationError.cursorFile(path, error)
        }
        (written, writtenAt) = (cursor, now)
    }
}
