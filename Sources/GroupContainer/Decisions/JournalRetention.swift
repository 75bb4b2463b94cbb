/// How much of the journal is kept. Who comes back with a cursor from before that gets a `rescan`.
public struct JournalRetention: Hashable, Sendable {
    /// In bytes: with more than that the oldest files are dropped. The newest one always stays. The journal's files are a
    /// sixteenth of it each, but at least 64 KiB and at most 4 MiB; a record, of a transaction with many items for
    /// instance, must fit into one.
    public var size: UInt64
    /// A file is dropped when its last change is longer ago than this, as soon as another file is made.
    public var age: Duration

    /// 64 MiB, for 400,000 changes or so, and 30 days.
    public static let standard = JournalRetention()

    /// Either of the two, or both.
    public init(size: UInt64 = 64 << 20, age: Duration = .seconds(30 * 24 * 3_600)) {
        (self.size, self.age) = (size, age)
    }

    /// What is known of a file of the journal.
    struct File: Equatable, Sendable {
        var number: UInt64
        /// What it takes on the disk, in bytes.
        var size: UInt64
        /// When the file after it was made, in nanoseconds since 1970; nil for the newest.
        var ended: Int64?
    }

    /// Which of the files, given from the oldest on, may go now.
    func dropped(of files: [File], now: Int64) -> [UInt64] {
        var rest = files.reduce(0) { $0 + $1.size }
        var dropped: [UInt64] = []
        for file in files.dropLast() {
            // A clock that jumps makes them stay longer, or go earlier; never the newest.
            let isOld = file.ended.map { Duration.nanoseconds(now - max(0, min($0, now))) > age } ?? false
            if rest <= size && !isOld { break }
            rest -= file.size
            dropped.append(file.number)
        }
        return dropped
    }

    /// How large a file is made: whole pages.
    var fileSize: Int { Int(min(max(size / 16, 64 << 10), 4 << 20) / 4_096 * 4_096) }
}
