import GroupSystemCalls

/// Follows the changes as they settle: see `ChangeFollower.settled(for:atMost:)`. Memory: linear in the paths that are
/// held back.
public struct SettledFollower: Sendable {
    private var follower: ChangeFollower
    private var desk: SettlingDesk
    private var ready: ArraySlice<Change> = []
    /// In front of what is ready.
    private var readyPlace: Cursor?

    init(_ follower: ChangeFollower, _ settling: Settling) {
        self.follower = follower
        desk = SettlingDesk(settling)
    }

    /// Where to begin again in order to miss nothing that was not returned. What was returned may come again with it:
    /// changes that overtook one that is held back.
    public var cursor: Cursor { readyPlace ?? desk.settling.place(end: follower.cursor) }

    /// A marker to hand on: complete up to `cursor`.
    public var bookmark: Change {
        Change(.bookmark, sequence: cursor.sequence, cursor: cursor, time: wallNanoseconds())
    }

    /// Where it reads on in the journal, whatever is still to be told.
    package var place: Cursor { follower.place }

    /// Nothing is held back.
    public var isSettled: Bool { ready.isEmpty && desk.settling.isEmpty }

    /// The next change; waits for it at most `timeout` (nil: for ever) and then returns nil. Errors: as
    /// `ChangeFollower.next(timeout:)`.
    public mutating func next(timeout: Duration? = nil) throws(CoordinationError) -> Change? {
        if ready.isEmpty { ready = try nextBatch(timeout: timeout)[...] }
        guard let change = ready.popFirst() else { return nil }
        readyPlace = ready.isEmpty ? nil : change.cursor
        return change
    }

    /// What settles together next, in the order in which it is to be applied; waits for it at most `timeout` (nil: for
    /// ever) and then returns nothing. The items of a snapshot come some thousand at a time.
    public mutating func nextBatch(timeout: Duration? = nil) throws(CoordinationError) -> [Change] {
        let deadline = Deadline(after: timeout)
        readyPlace = nil
        while true {
            let now = monotonicNanoseconds()
            let begin = follower.cursor
            if let batch = desk.release(at: now, end: begin, isBehind: true) { return batch }
            if let change = try follower.next(timeout: .zero) {
                desk.note(change, from: begin, behind: follower.cursor, at: monotonicNanoseconds())
                continue
            }
            if let batch = desk.release(at: now, end: begin, isBehind: false) { return batch }
            let wait = min(deadline.remaining ?? .max, desk.wait(from: now))
            if let change = try follower.next(timeout: wait == .max ? nil : .nanoseconds(wait)) {
                desk.note(change, from: begin, behind: follower.cursor, at: monotonicNanoseconds())
            } else if deadline.isOver && desk.wait(from: monotonicNanoseconds()) > 0 {
                return []
            }
        }
    }
}

/// What a settled follower, blocking or not, does with each change: hold it, or let it through.
struct SettlingDesk: Sendable {
    private(set) var settling: Settling
    private var passing: [Change] = []
    /// The place behind what passes.
    private var isPassing = false
    private var isInTransaction = false
    /// What is due is told together with what is a moment later: one batch, rather than one for each of what was changed
    /// together; and a look at all that is held back costs its length.
    private let slack: Int64

    /// So many items of a snapshot at a time.
    private static let mostPassing = 4_096

    init(_ settling: Settling) {
        slack = min(min(settling.quiet, settling.atMost) / 8, 20_000_000)
        self.settling = Settling(quiet: settling.quiet, atMost: settling.atMost - slack)
    }

    /// How long nothing can be due; `.max` where nothing is held back.
    func wait(from now: Int64) -> Int64 {
        if isPassing { return 0 }
        guard let due = settling.due else { return .max }
        return max(0, due.addingReportingOverflow(slack).overflow ? .max : due + slack - now)
    }

    /// Nil: nothing is to be told yet. For who `isBehind`, who has not read all that there was at that time, nothing is
    /// quiet: what is told is only what has waited for too long.
    mutating func release(at now: Int64, end: Cursor, isBehind: Bool) -> [Change]? {
        if isPassing {
            let batch = passing
            (passing, isPassing) = ([], false)
            return batch
        }
        if isInTransaction || settling.isEmpty || wait(from: now) > 0 { return nil }
        if isBehind, let overdue = settling.overdue, overdue > now - slack { return nil }
        let batch = settling.release(at: now, end: end)
        return batch.isEmpty ? nil : batch
    }

    mutating func note(_ change: Change, from begin: Cursor, behind end: Cursor, at now: Int64) {
        isInTransaction = change.transaction.map { $0.index + 1 < $0.count } ?? false
        if change.kind == .present || change.kind.isMarker {
            // Everything before it is told first.
            passing += settling.release(at: now, end: end, all: true) + [change]
            isPassing = change.kind != .present || passing.count >= Self.mostPassing
        } else {
            settling.note(change, from: begin, at: now)
        }
    }
}

extension ChangeFollower {
    /// One change a path once nothing happened to it for `quiet`, at the latest `atMost` (ten times `quiet`, if nil)
    /// after the first that is held back. What is created and removed meanwhile is not told, a file that is written ten
    /// times once, and one that is written under another name and renamed once, at its place. Applied in their order the
    /// changes make the same tree as all of them would. A change's sequence, author and time are those of the last that
    /// it stands for; it is part of no transaction; its cursor, and the follower's, are before everything that is still
    /// held back.
    public consuming func settled(for quiet: Duration, atMost: Duration? = nil) -> SettledFollower {
        SettledFollower(self, Settling(quiet, atMost))
    }
}

extension Settling {
    init(_ quiet: Duration, _ atMost: Duration?) {
        let quiet = Self.nanoseconds(quiet)
        let (tenfold, overflow) = quiet.multipliedReportingOverflow(by: 10)
        self.init(quiet: quiet, atMost: atMost.map(Self.nanoseconds) ?? (overflow ? .max : tenfold))
    }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || sumOverflow ? (seconds < 0 ? 0 : .max) : sum
    }
}
