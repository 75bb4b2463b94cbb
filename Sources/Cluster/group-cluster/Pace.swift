/// The time at which the next piece of work may begin, for work that can take many changes at once.
///
/// Each piece of work costs something that slows the processes that make the changes, such as a sync of the disk. While
/// changes follow each other quickly, they are collected, and each piece of work takes more of them. After a pause,
/// work begins at once, even for several changes, as when a file is written and renamed into place.
struct Pace {
    /// Work with fewer changes is never followed by a wait.
    private let fewest: Int
    /// The average time between changes below which they follow each other quickly, in nanoseconds.
    private let quick: Int64
    /// The shortest and the longest wait after a piece of work, in nanoseconds. The wait doubles each time.
    private let waits: ClosedRange<Int64>
    private var wait: Int64 = 0
    private var last: Int64 = 0
    /// The time from which on the next piece of work may begin; a time in the past means at once.
    private(set) var next: Int64 = 0

    /// The pace of entries, each of which costs several syncs. A process that waits until each change has arrived
    /// elsewhere makes one change at a time, and is never slowed.
    static let sending = Pace(fewest: 2, quick: 8_000_000, waits: 5_000_000...50_000_000)
    /// The pace of rounds of looking at the disk, each of which costs a transaction of the state.
    static let looking = Pace(fewest: 1, quick: 2_000_000, waits: 1_000_000...8_000_000)

    private init(fewest: Int, quick: Int64, waits: ClosedRange<Int64>) {
        self.fewest = fewest
        self.quick = quick
        self.waits = waits
    }

    /// Notes that a piece of work is done.
    mutating func ended(changes: Int, at now: Int64) {
        let isQuick = changes >= max(fewest, 1) && (now - last) / Int64(changes) < quick
        wait = isQuick ? min(max(wait * 2, waits.lowerBound), waits.upperBound) : 0
        (last, next) = (now, now + wait)
    }
}
