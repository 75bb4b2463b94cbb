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

/// The pauses between the tries of work that fails. Each pause is twice as long as the one before, up to a bound. After
/// a longer time without a failure, the pauses are short again.
struct Backoff {
    /// The shortest and the longest pause, in nanoseconds.
    private let pauses: ClosedRange<Int64>
    private var pause: Int64 = 0
    /// The time of the next try; a time in the past means at once.
    private(set) var next: Int64 = 0

    /// The pauses of work that lacks room on the disk. They are long, since a try may write as much as there is room
    /// for.
    static let room = Backoff(pauses: 1_000_000_000...30_000_000_000)

    private init(pauses: ClosedRange<Int64>) { self.pauses = pauses }

    /// Notes a failure. All failures before the next try count as one. Returns whether this one has moved the next try.
    mutating func failed(at now: Int64) -> Bool {
        if now < next { return false }
        let isNew = pause == 0 || now - next > pauses.upperBound
        pause = isNew ? pauses.lowerBound : min(pause * 2, pauses.upperBound)
        next = now + pause
        return true
    }
}
