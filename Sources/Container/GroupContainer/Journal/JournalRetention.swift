import GroupLog

/// The limits of the journal. A follower with a cursor from before what is kept gets a `rescan`.
public struct JournalRetention: Hashable, Sendable {
    /// The size of the journal in bytes: above it, the oldest files are dropped. The newest file always stays. Each
    /// file of the journal is a sixteenth of the size, but at least 64 KiB and at most 4 MiB; a record, for instance of
    /// a transaction with many items, must fit into one file.
    public var size: UInt64
    /// The age at which a file is dropped, counted from its last change; it is dropped as soon as another file is
    /// created.
    public var age: Duration

    /// 64 MiB, for about 400,000 changes, and 30 days.
    public static let standard = JournalRetention()

    /// Makes a retention with a size in bytes, an age, or both.
    public init(size: UInt64 = 64 << 20, age: Duration = .seconds(30 * 24 * 3_600)) {
        self.size = size
        self.age = age
    }

    /// Returns which of the segments, given from the oldest on, may be dropped now.
    func dropped(of segments: [KeptSegment], now: Int64) -> [UInt64] {
        var rest = segments.reduce(0) { $0 + $1.size }
        var dropped: [UInt64] = []
        for segment in segments.dropLast() {
            // A clock that jumps makes segments stay longer, or go earlier; the newest always stays.
            let isOld = segment.ended.map { Duration.nanoseconds(now - max(0, min($0, now))) > age } ?? false
            if rest <= size && !isOld { break }
            rest -= segment.size
            dropped.append(segment.number)
        }
        return dropped
    }

    /// The size of a segment in bytes: whole pages.
    var segmentSize: Int { Int(min(max(size / 16, 64 << 10), UInt64(Self.largestSegment)) / 4_096 * 4_096) }
    /// The size of the largest segment of a journal, in bytes.
    static let largestSegment = 4 << 20
}
