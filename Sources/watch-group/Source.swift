import GroupContainer

/// The source of the lines: each change, or settled changes. Exactly one of the two followers is set; the follower is
/// mutated in place, because it may hold much data.
struct Source: Sendable {
    private var each: ChangeFollower?
    private var settled: SettledFollower?
    private let end: Cursor

    init(_ follower: ChangeFollower, _ settling: WatchOptions.Debouncer?) {
        end = follower.cursor
        if let settling {
            settled = follower.settled(for: settling.quiet, atMost: settling.atMost)
        } else {
            each = follower
        }
    }

    /// The place from which a restart misses nothing that was not printed.
    var cursor: Cursor { settled?.cursor ?? each?.cursor ?? end }

    /// The place in the journal from which the follower reads on.
    var place: Cursor { settled?.place ?? each?.place ?? end }

    var bookmark: Change? { settled?.bookmark ?? each?.bookmark }

    mutating func next(timeout: Duration) throws(CoordinationError) -> Change? {
        if settled != nil { return try settled?.next(timeout: timeout) }
        return try each?.next(timeout: timeout)
    }
}
