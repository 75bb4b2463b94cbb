import GroupLog
import GroupSystemCalls

/// The state that the records of a log make, applied one after the other: what a `CompactedLog` keeps in memory.
protocol LogState: Sendable {
    /// Makes the state before the first record of a segment, with the sequence number that the log has reached there.
    init(last sequence: UInt64)

    /// Applies the body of a committed record. `sequence` is the record's own number if it is counted, else that of the
    /// last counted record before it. A body that only a newer version understands is kept.
    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool)

    /// Returns where the key stands in a record's body, if the record only sets one key; a later record that sets the
    /// same key makes it obsolete. `word` returns the eight bytes from an offset on, little-endian; those after the
    /// body may be read, too.
    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>?

    // MARK: Compacting

    /// Returns the bodies of records that make the same state, except for records that are carried one by one.
    func carriedBodies() -> [[UInt8]]

    /// Whether the segment has to be read for `carried`, because the memory does not hold everything that must be kept.
    var carriesRecords: Bool { get }

    /// Returns the body with which a record goes on in the next segment; nil if the record is left out.
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]?

    /// The diagnostic for a record that is damaged, and the meaning of leaving it out.
    static var damage: (code: Diagnostic.Code, meaning: String) { get }
}

extension LogState {
    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>? { nil }
    var carriesRecords: Bool { false }
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]? { nil }
}

/// A record that was read and is not applied yet, because the next one may make it obsolete.
struct HeldRecord {
    /// 0 if there is no record.
    private var offset = 0
    private var bodyCount = 0
    private var sequence: UInt64 = 0
    private var isControl = false
    /// The position of its key in the segment; empty if the record does more than set one key.
    private var key = 0..<0

    init() {}

    /// Holds a record that was checked.
    init<State: LogState>(
        _ offset: Int, _ bodyCount: Int, _ sequence: UInt64, _ isControl: Bool, _: State.Type, in map: SharedMap
    ) {
        self.offset = offset
        self.bodyCount = bodyCount
        self.sequence = sequence
        self.isControl = isControl
        let body = offset + 12
        if !isControl, let key = State.soleKey(ofBody: bodyCount, { map.word(at: body + $0) }) {
            self.key = body + key.lowerBound..<body + key.upperBound
        }
    }

    /// Holds the next record instead, and applies this one unless the next one sets the same key.
    mutating func follow<State: LogState>(with next: HeldRecord, of segment: Segment, _ state: inout State) {
        let isVoid =
            !key.isEmpty && key.count == next.key.count
            && segment.map.isEqual(key.lowerBound, next.key.lowerBound, count: key.count)
        if !isVoid { take(of: segment, &state) }
        self = next
    }

    mutating func take<State: LogState>(of segment: Segment, _ state: inout State) {
        if offset == 0 { return }
        state.apply(segment.bodyBytes(at: offset, count: bodyCount), at: sequence, isControl: isControl)
        offset = 0
    }
}
