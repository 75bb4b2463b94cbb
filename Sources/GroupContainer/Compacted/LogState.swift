import GroupSystemCalls

/// What the records of a log come to, taken one after the other: what a `CompactedLog` keeps in memory.
protocol LogState: Sendable {
    /// Before the first record of a file: the log has counted so many before it.
    init(last sequence: UInt64)

    /// The body of a committed record. `sequence` is its own number, if it is counted; else that of the last one before
    /// it. What only a newer version understands is kept.
    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool)

    /// Where the key stands in a record's body, if all that it does is to set one. A later one of the same key makes it
    /// void.
    /// `word` gives the eight bytes from an offset on, little-endian, those behind the body included.
    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>?

    // MARK: Compacting

    /// The bodies of records that make the same state, but for those that are carried one by one.
    func carriedBodies() -> [[UInt8]]

    /// Not everything that is to be kept is in memory: the file is to be read for `carried`.
    var carriesRecords: Bool { get }

    /// What a record of the file goes on as in the next one; nil: not at all.
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]?

    /// A record of it is not what was written: what that is called, and what it means where it is left out.
    static var damage: (code: Diagnostic.Code, meaning: String) { get }
}

extension LogState {
    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>? { nil }
    var carriesRecords: Bool { false }
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]? { nil }
}

/// A record that was read and is not taken yet, because the next one may make it void.
struct HeldRecord {
    /// 0: there is none.
    private var offset = 0
    private var bodyCount = 0
    private var sequence: UInt64 = 0
    private var isControl = false
    /// Where its key stands in the file; empty where it does more than to set one.
    private var key = 0..<0

    init() {}

    /// A record of a file that was checked.
    init<State: LogState>(
        _ offset: Int, _ bodyCount: Int, _ sequence: UInt64, _ isControl: Bool, _: State.Type, in map: SharedMap
    ) {
        (self.offset, self.bodyCount, self.sequence, self.isControl) = (offset, bodyCount, sequence, isControl)
        let body = offset + 12
        if !isControl, let key = State.soleKey(ofBody: bodyCount, { map.word(at: body + $0) }) {
            self.key = body + key.lowerBound..<body + key.upperBound
        }
    }

    /// The next one is there.
    mutating func follow<State: LogState>(with next: HeldRecord, of file: Segment, _ state: inout State) {
        let isVoid =
            !key.isEmpty && key.count == next.key.count
            && file.map.isEqual(key.lowerBound, next.key.lowerBound, count: key.count)
        if !isVoid { take(of: file, &state) }
        self = next
    }

    mutating func take<State: LogState>(of file: Segment, _ state: inout State) {
        if offset == 0 { return }
        state.apply(file.bodyBytes(at: offset, count: bodyCount), at: sequence, isControl: isControl)
        offset = 0
    }
}
