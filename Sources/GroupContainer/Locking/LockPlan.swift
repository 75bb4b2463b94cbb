// Imports nothing: no file, clock or process.

/// How an item is wanted.
enum LockMode: Int, Comparable, Sendable {
    /// Shared with other readers.
    case reading = 1
    /// Alone.
    case writing = 2
    /// A directory alone, with everything below it.
    case structural = 3

    static func < (left: LockMode, right: LockMode) -> Bool { left.rawValue < right.rawValue }
}

/// The ranges of one request in the order in which they are taken: ascending, none overlapping another, each in its
/// strongest mode. As every member keeps this order, two requests cannot wait for each other.
struct LockPlan: Equatable, Sendable {
    struct Part: Hashable, Sendable {
        var range: LockRange
        var mode: LockMode

        /// For an item; the mode `structural` is for everything below it, too.
        init(_ item: LockRange, _ mode: LockMode) {
            (range, self.mode) = (mode == .structural ? item.subtree : item, mode)
        }

        init(range: LockRange, mode: LockMode) { (self.range, self.mode) = (range, mode) }

        /// Where those who wait for it announce themselves: readers apart, as nobody but a writer need let them go
        /// first.
        var wantBucket: Int { range.bucket + (mode == .reading ? MemberTableLayout.bucketCount / 2 : 0) }

        /// Whether not both can be held at a time.
        func excludes(_ other: Part) -> Bool {
            range.overlaps(other.range) && (mode != .reading || other.mode != .reading)
        }

        /// Whether who holds this has the other, too.
        func covers(_ other: Part) -> Bool { range.contains(other.range) && mode >= other.mode }
    }

    /// The parts; a single one, which nearly all requests have, without an array.
    struct Parts: RandomAccessCollection, Equatable, Sendable {
        fileprivate let only: Part?
        fileprivate let several: [Part]

        var startIndex: Int { 0 }
        var endIndex: Int { only == nil ? several.count : 1 }
        subscript(index: Int) -> Part { only ?? several[index] }
    }

    let parts: Parts

    init(_ wanted: [(item: LockRange, mode: LockMode)]) { self.init(wanted.map { Part($0.item, $0.mode) }) }

    init(_ part: Part) { parts = Parts(only: part, several: []) }

    init(_ wanted: [Part]) {
        var folded: [Part] = []
        // A wider one comes before what it contains: ranges nest or lie apart.
        for part in wanted.sorted(by: { ($0.range.start, $1.range.length) < ($1.range.start, $0.range.length) }) {
            if let last = folded.last, last.range.overlaps(part.range) {
                folded[folded.count - 1].mode = max(last.mode, part.mode)
            } else {
                folded.append(part)
            }
        }
        parts = folded.count == 1 ? Parts(only: folded[0], several: []) : Parts(only: nil, several: folded)
    }

    func covers(_ part: Part) -> Bool { parts.contains { $0.covers(part) } }
}

extension LockPlan.Part {
    /// One call to the kernel.
    enum Step: Equatable, Sendable {
        case exclusive(start: Int64, length: Int64)
        case shared(start: Int64, length: Int64)
        case release(start: Int64, length: Int64)
        /// Exclusive, all of it or nothing: a waiter keeps nothing of it, so that a holder of something in the
        /// directory can ask for more in it. A request that holds nothing there stands behind the turnstile meanwhile.
        case undivided(start: Int64, length: Int64)
    }

    /// The whole of it in one call. Where nobody holds, and nobody waits at the turnstile, this is all there is.
    var whole: Step {
        switch mode {
        case .reading: .shared(start: range.sharedByte, length: 1)
        case .writing, .structural: .exclusive(start: range.start, length: range.length)
        }
    }

    /// To stand at the turnstile.
    var arrival: Step { .exclusive(start: range.turnstile, length: 1) }

    /// From the turnstile on. The turnstile is left to the next waiter as soon as the lock is there, so that the first
    /// waiter to come is in line before the lock is free again.
    var passage: [Step] {
        let rest: Step =
            switch mode {
            case .reading: .shared(start: range.sharedByte, length: 1)
            case .writing: .exclusive(start: range.sharedByte, length: range.length - 1)
            case .structural: .undivided(start: range.sharedByte, length: range.length - 1)
            }
        return [rest, .release(start: range.turnstile, length: 1)]
    }

    /// Through the turnstile of a directory that somebody wants as a whole: who waits there is let in first.
    static func pass(_ gate: LockRange) -> [Step] {
        [.exclusive(start: gate.turnstile, length: 1), .release(start: gate.turnstile, length: 1)]
    }
}

// MARK: - Who stands behind whom

extension LockPlan.Part {
    /// Returns whether a request for this part stands behind the turnstile of a directory that somebody wants as a
    /// whole. A request that holds something in the directory does not: the directory's request waits for that. Both
    /// the way that a request takes and the wait graph ask this, so they cannot differ.
    ///
    ///     holds nothing in D    T(D) ── T(item) ── item
    ///     holds something in D          T(item) ── item        D's request: T(D) ── everybody in D has left ── D
    func standsBehind(_ directory: LockRange, holding held: some Sequence<LockRange>) -> Bool {
        directory.contains(range) && directory.length > range.length && !held.contains { $0.overlaps(directory) }
    }

    /// Returns whether a request in line for another part, which came before, keeps this one waiting, where the other
    /// is kept from its own turnstile by nobody who does not keep this one, too.
    func waitsBehind(_ other: LockPlan.Part, holding held: some Sequence<LockRange>) -> Bool {
        if !excludes(other) { return false }
        return other.range.length <= range.length || standsBehind(other.range, holding: held)
    }
}

/// What becomes of one part of a request that is made under locks of the same task. Waiting for what it holds itself
/// would have no end.
enum Nesting: Equatable, Sendable {
    /// Nothing of it is held: it is asked for like any other.
    case independent
    /// It is held well enough: reading what one writes or reads oneself.
    case granted
    /// The item is held, but would be changed behind its holder's back, or shared where it is wanted alone.
    case refused

    /// A lock of the task: its ranges, and whether it names the item (or the directory that it lies in as a whole).
    /// Where it does not, two items share a range, and what is held of the range is enough.
    struct Held {
        var plan: LockPlan
        var namesItem: Bool
    }

    static func judge(_ part: LockPlan.Part, under held: [Held]) -> Nesting {
        let touching = held.filter { lock in lock.plan.parts.contains { $0.range.overlaps(part.range) } }
        if touching.isEmpty { return .independent }
        if part.mode == .reading { return touching.contains { $0.plan.covers(part) } ? .granted : .refused }
        return touching.allSatisfy { !$0.namesItem && $0.plan.covers(part) } ? .granted : .refused
    }
}
