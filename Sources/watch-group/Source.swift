import GroupContainer

/// Where the lines come from: change by change, or as they settle. One of both is there; changed in its place, as it
/// may hold much.
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

    /// Where to begin again in order to miss nothing that was not printed.
    var cursor: Cursor { settled?.cursor ?? each?.cursor ?? end }

    /// Where it reads on in the journal.
    var place: Cursor { settled?.place ?? each?.place ?? end }

    var bookmark: Change? { settled?.bookmark ?? each?.bookmark }

    mutating func next(timeout: Duration) throws(CoordinationError) -> Change? {
        if settled != nil { return try settled?.next(timeout: timeout) }
        return try each?.next(timeout: timeout)
    }
}
