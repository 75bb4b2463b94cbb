// Imports nothing: no file, clock or process.

/// A place between two records of a log.
struct LogPosition: Hashable, Sendable {
    var file: UInt64
    /// The offset of the next record in that segment.
    var offset: Int
    /// The number of counted records before it, in all segments.
    var sequence: UInt64
    /// The checksum of the last committed record before it in its segment; 0 if there is none.
    var checksum: UInt64

    static func start(of file: SegmentHeader) -> LogPosition {
        LogPosition(file: file.number, offset: SegmentHeader.size, sequence: file.base, checksum: 0)
    }
}

/// A committed record.
struct LogEntry: Sendable {
    var body: [UInt8]
    var isControl: Bool
    /// The position right after the record; `position.sequence` is the record's own number, if it is counted.
    var position: LogPosition
}
