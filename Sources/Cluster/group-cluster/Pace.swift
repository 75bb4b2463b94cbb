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

/// The pauses between the tries of work that fails. Each pause is twice as long as the one before, up to a bound; after
/// a longer time without a failure the pauses are short again.
struct Backoff {
    /// In nanoseconds.
    private let pauses: ClosedRange<Int64>
    private var pause: Int64 = 0
    /// The time of the next try; in the past for at once.
    private(set) var next: Int64 = 0

    /// For work that lacks room on the disk. A try may write as much as there is room for.
    static let room = Backoff(pauses: 1_000_000_000...30_000_000_000)

    private init(pauses: ClosedRange<Int64>) { self.pauses = pauses }

    /// Notes a failure. Failures before the next try count as one. Returns whether this one has moved the next try.
    mutating func failed(at now: Int64) -> Bool {
        if now < next { return false }
        let isNew = pause == 0 || now - next > pauses.upperBound
        pause = isNew ? pauses.lowerBound : min(pause * 2, pauses.upperBound)
        next = now + pause
        return true
    }
}
