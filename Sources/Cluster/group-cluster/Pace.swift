/// When a piece of work that has many changes at once begins: its cost, such as a sync of the disk, slows the processes that make the
/// changes. While changes follow each other quickly, they are collected, and the work has more of them. The work for a change after
/// a pause begins at once, also if there are several changes, as when a file is put at its place by a rename.
struct Pace {
    /// Work with fewer changes is never followed by a wait.
    private let fewest: Int
    /// Changes that are less apart than this on average, in nanoseconds, follow each other quickly.
    private let quick: Int64
    /// The wait between two pieces of work, in nanoseconds. The wait doubles each time.
    private let waits: ClosedRange<Int64>
    private var wait: Int64 = 0
    private var last: Int64 = 0
    /// The time from which on the next piece of work may begin; in the past for at once.
    private(set) var next: Int64 = 0

    /// For entries, each of which costs several syncs. A process that waits for each change to arrive elsewhere makes one at a time.
    static let sending = Pace(fewest: 2, quick: 8_000_000, waits: 5_000_000...50_000_000)
    /// For rounds of looking at the disk, each of which costs a transaction of the state.
    static let looking = Pace(fewest: 1, quick: 2_000_000, waits: 1_000_000...8_000_000)

    private init(fewest: Int, quick: Int64, waits: ClosedRange<Int64>) {
        (self.fewest, self.quick, self.waits) = (fewest, quick, waits)
    }

    /// Notes a piece of work.
    mutating func ended(changes: Int, at now: Int64) {
        let isQuick = changes >= max(fewest, 1) && (now - last) / Int64(changes) < quick
        wait = isQuick ? min(max(wait * 2, waits.lowerBound), waits.upperBound) : 0
        (last, next) = (now, now + wait)
    }
}
