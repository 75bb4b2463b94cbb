// Imports GroupBytes only: no file, clock or process.

package import GroupBytes

/// The mode of a lock.
package enum LockMode: Int, Comparable, Sendable {
    /// Shared with other readers.
    case shared = 1
    /// Exclusive.
    case exclusive = 2
    /// A directory, exclusive, with everything below it.
    case tree = 3

    package static func < (left: LockMode, right: LockMode) -> Bool { left.rawValue < right.rawValue }
}

/// The ranges of one request in the order in which they are taken: ascending, none overlapping another, each in its
/// strongest mode. Because every member keeps this order, two requests
/// cannot wait for each other, unless one of them is nested in an access that holds locks (see `WaitGraph`).
package struct LockPlan: Equatable, Sendable {
    package struct Part: Hashable, Sendable {
        package var range: LockRange
        package var mode: LockMode

        /// Creates the part for an item. The mode `tree` includes everything below the item.
        init(_ item: LockRange, _ mode: LockMode) {
            range = mode == .tree ? item.subtree : item
            self.mode = mode
        }

        init(range: LockRange, mode: LockMode) { (self.range, self.mode) = (range, mode) }

        /// The bucket in which waiters for this part announce themselves. Readers have a separate half, because only a
        /// request that excludes readers has to let them go first.
        var contendedBucket: Int { range.bucket + (mode == .shared ? MemberTableLayout.bucketCount / 2 : 0) }

        /// Returns whether the two parts cannot be held at the same time.
        package func excludes(_ other: Part) -> Bool {
            range.overlaps(other.range) && (mode != .shared || other.mode != .shared)
        }

        /// Returns whether a holder of this part has the other part, too.
        func covers(_ other: Part) -> Bool { range.contains(other.range) && mode >= other.mode }
    }

    /// The parts; nearly all requests have a single one.
    package let parts: Few<Part>

    init(_ wanted: [(item: LockRange, mode: LockMode)]) { self.init(wanted.map { Part($0.item, $0.mode) }) }

    init(_ part: Part) { parts = Few(part) }

    init(_ wanted: [Part]) {
        var folded: [Part] = []
        // A wider part comes before those it contains: ranges are nested or disjoint.
        for part in wanted.sorted(by: { ($0.range.start, $1.range.length) < ($1.range.start, $0.range.length) }) {
            if let last = folded.last, last.range.overlaps(part.range) {
                folded[folded.count - 1].mode = max(last.mode, part.mode)
            } else {
                folded.append(part)
            }
        }
        parts = Few(folded)
    }

    func covers(_ part: Part) -> Bool { parts.contains { $0.covers(part) } }
}

extension LockPlan.Part {
    /// One system call.
    package enum Step: Equatable, Sendable {
        case exclusive(start: Int64, length: Int64)
        case shared(start: Int64, length: Int64)
        case release(start: Int64, length: Int64)
        /// Exclusive, all of the range or nothing: a waiter keeps no piece of it, so that a holder of something in the
        /// directory can lock more in it. A request that holds nothing there waits behind the turnstile meanwhile.
        case undivided(start: Int64, length: Int64)
    }

    /// The step that takes the whole part in one system call. No other step is needed where the part is free and no
    /// request waits at the turnstile.
    var whole: Step {
        switch mode {
        case .shared: .shared(start: range.sharedByte, length: 1)
        case .exclusive, .tree: .exclusive(start: range.start, length: range.length)
        }
    }

    /// The step that takes the place at the turnstile.
    var arrival: Step { .exclusive(start: range.turnstile, length: 1) }

    /// The steps from the turnstile on. The turnstile is left to the next waiter as soon as the lock is there, so that
    /// the first waiter to come is in line before the lock is free again.
    var passage: [Step] {
        let rest: Step =
            switch mode {
            case .shared: .shared(start: range.sharedByte, length: 1)
            case .exclusive: .exclusive(start: range.sharedByte, length: range.length - 1)
            case .tree: .undivided(start: range.sharedByte, length: range.length - 1)
            }
        return [rest, .release(start: range.turnstile, length: 1)]
    }

    /// Returns the steps through the turnstile of a directory that another request wants as a whole: the requests that
    /// wait there are let in first.
    static func pass(_ gate: LockRange) -> [Step] {
        [.exclusive(start: gate.turnstile, length: 1), .release(start: gate.turnstile, length: 1)]
    }
}

// MARK: - Order of waiters

extension LockPlan.Part {
    /// Returns whether a request for this part waits behind the turnstile of a directory that another request wants as
    /// a whole. A request that holds something in the directory does not wait there: the directory's request waits for
    /// it. Both `LockAcquisition` and `WaitGraph` call this function, so they cannot differ.
    ///
    ///     holds nothing in D    T(D) ── T(item) ── item
    ///     holds something in D          T(item) ── item        D's request: T(D) ── all requests in D have left ── D
    func standsBehind(_ directory: LockRange, holding held: some Sequence<LockRange>) -> Bool {
        directory.contains(range) && directory.length > range.length && !held.contains { $0.overlaps(directory) }
    }

    /// Returns whether an earlier request in line for `other` keeps a request for this part waiting. This assumes that
    /// every turnstile that keeps the earlier request from its own turnstile keeps this request, too.
    func waitsBehind(_ other: LockPlan.Part, holding held: some Sequence<LockRange>) -> Bool {
        if !excludes(other) { return false }
        return other.range.length <= range.length || standsBehind(other.range, holding: held)
    }
}

/// The decision about one part of a request that is made under locks of the same task. A request that waited for a lock
/// of its own task would wait forever.
enum Nesting: Equatable, Sendable {
    /// Nothing of the part is held: it is requested like any other.
    case independent
    /// The locks that are held are enough, such as to read what the task itself writes or reads.
    case granted
    /// The item is held, but the part would change it behind its holder's back, or want it alone where the lock is
    /// shared.
    case refused

    /// A lock of the task: its ranges, and whether it names the item (or, as a whole, a directory that contains it).
    /// Where it does not name the item, two items share a range, and what is held of the range is enough.
    struct Held {
        var plan: LockPlan
        var namesItem: Bool
    }

    static func judge(_ part: LockPlan.Part, under held: [Held]) -> Nesting {
        let touching = held.filter { lock in lock.plan.parts.contains { $0.range.overlaps(part.range) } }
        if touching.isEmpty { return .independent }
        if part.mode == .shared { return touching.contains { $0.plan.covers(part) } ? .granted : .refused }
        return touching.allSatisfy { !$0.namesItem && $0.plan.covers(part) } ? .granted : .refused
    }
}
