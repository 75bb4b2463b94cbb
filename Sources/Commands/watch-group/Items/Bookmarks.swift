/// Decides when a bookmark ("complete up to here") is due: as soon as all changes that were there have been printed, at
/// the start and after a rescan; later, after new changes, once no line has come for `quiet`.
struct Bookmarks: Equatable, Sendable {
    private var printed: UInt64?
    static let quiet: Int64 = 100_000_000

    /// Returns whether a bookmark is due now that no change is ready. `sequence` is that of the last change that was
    /// printed or filtered out, `idle` the time since the last line.
    mutating func isDue(at sequence: UInt64, idle: Int64) -> Bool {
        guard wait(at: sequence, idle: idle) == 0 else { return false }
        printed = sequence
        return true
    }

    /// Returns how long until a bookmark is due, in nanoseconds: 0 if it is; nil if there is nothing new to confirm.
    func wait(at sequence: UInt64, idle: Int64) -> Int64? {
        if sequence == printed { return nil }
        return printed == nil ? 0 : max(0, Self.quiet - idle)
    }

    /// Records a bookmark that a snapshot ended with.
    mutating func noteBookmark(at sequence: UInt64) { printed = sequence }

    mutating func noteRescan() { printed = nil }
}
