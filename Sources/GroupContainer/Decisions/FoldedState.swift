/// What the records of a log come to, taken one after the other: what a `FoldedLog` keeps in memory.
protocol FoldedState: Sendable {
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

extension FoldedState {
    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>? { nil }
    var carriesRecords: Bool { false }
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]? { nil }
}
