// Imports nothing: no file, clock or process.

/// A place between two records of a log.
struct LogPosition: Hashable, Sendable {
    var file: UInt64
    /// Where the next record of that file begins.
    var offset: Int
    /// How many counted records lie before it, in all files.
    var sequence: UInt64
    /// Of the last committed record before it in its file; 0 where there is none.
    var checksum: UInt64

    static func start(of file: SegmentHeader) -> LogPosition {
        LogPosition(file: file.number, offset: SegmentHeader.size, sequence: file.base, checksum: 0)
    }
}

/// One committed record.
struct LogEntry: Sendable {
    var body: [UInt8]
    var isControl: Bool
    /// Right behind it; `position.sequence` is its own number, if it is counted.
    var position: LogPosition
}
