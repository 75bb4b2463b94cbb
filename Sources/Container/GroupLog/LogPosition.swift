// Imports nothing: no file, clock or process.

/// A point between two records of a log.
package struct LogPosition: Hashable, Sendable {
    /// The number of the segment.
    package var segment: UInt64
    /// The offset of the next record in that segment.
    package var offset: Int
    /// The number of counted records before it, in all segments.
    package var sequence: UInt64
    /// The checksum of the last committed record before it in its segment; 0 if there is none.
    package var checksum: UInt64

    package init(segment: UInt64, offset: Int, sequence: UInt64, checksum: UInt64) {
        self.segment = segment
        self.offset = offset
        self.sequence = sequence
        self.checksum = checksum
    }

    /// Returns the position before a segment's first record.
    package static func start(of header: SegmentHeader) -> LogPosition {
        LogPosition(segment: header.number, offset: SegmentHeader.size, sequence: header.base, checksum: 0)
    }
}

/// A committed record.
package struct LogEntry: Sendable {
    package var body: [UInt8]
    package var isControl: Bool
    /// The position right after the record; `position.sequence` is the record's own number, if it is counted.
    package var position: LogPosition
}
