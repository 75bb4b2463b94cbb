/// When "complete up to here" is to be said: as soon as all that was there has been told, at the beginning and after the
/// place was lost; then each time that something happened, once it has been quiet for a while.
struct Bookmarks: Equatable, Sendable {
    private var said: UInt64?
    static let quiet: Int64 = 100_000_000

    /// Nothing more is ready; `sequence` is the last of what was told or passed over, `idle` how long no line came.
    mutating func isDue(at sequence: UInt64, idle: Int64) -> Bool {
        if sequence == said || (said != nil && idle < Self.quiet) { return false }
        said = sequence
        return true
    }

    /// A snapshot said it.
    mutating func noteBookmark(at sequence: UInt64) { said = sequence }

    mutating func noteRescan() { said = nil }
}
