/// How an item is wanted.
enum LeaseMode: Int, Comparable, Sendable {
    /// Shared with other readers.
    case reading = 1
    /// Alone.
    case writing = 2
    /// A folder alone, with everything below it.
    case structural = 3

    static func < (left: LeaseMode, right: LeaseMode) -> Bool { left.rawValue < right.rawValue }
}

/// The ranges of one request in the order in which they are taken: ascending, none overlapping another, each in its
/// strongest mode. As every member keeps this order, two requests cannot wait for each other.
struct LeasePlan: Equatable, Sendable {
    struct Part: Hashable, Sendable {
        var span: LeaseSpan
        var mode: LeaseMode

        init(_ block: LeaseBlock, _ mode: LeaseMode) {
            (span, self.mode) = (mode == .structural ? block.interval : block.span, mode)
        }

        init(_ span: LeaseSpan, _ mode: LeaseMode) { (self.span, self.mode) = (span, mode) }

        /// Where those who wait for it announce themselves: readers apart, as nobody but a writer need let them go
        /// first.
        var wantBucket: Int { span.bucket + (mode == .reading ? MemberTableLayout.bucketCount / 2 : 0) }

        /// Whether not both can be held at a time.
        func excludes(_ other: Part) -> Bool {
            span.overlaps(other.span) && (mode != .reading || other.mode != .reading)
        }

        /// Whether who holds this has the other, too.
        func covers(_ other: Part) -> Bool { span.contains(other.span) && mode >= other.mode }
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

    init(_ wanted: [(block: LeaseBlock, mode: LeaseMode)]) { self.init(wanted.map(Part.init)) }

    init(_ part: Part) { parts = Parts(only: part, several: []) }

    init(_ wanted: [Part]) {
        var folded: [Part] = []
        // A wider one comes before what it contains: spans nest or lie apart.
        for part in wanted.sorted(by: { ($0.span.start, $1.span.length) < ($1.span.start, $0.span.length) }) {
            if let last = folded.last, last.span.overlaps(part.span) {
                folded[folded.count - 1].mode = max(last.mode, part.mode)
            } else {
                folded.append(part)
            }
        }
        parts = folded.count == 1 ? Parts(only: folded[0], several: []) : Parts(only: nil, several: folded)
    }

    func covers(_ part: Part) -> Bool { parts.contains { $0.covers(part) } }
}

extension LeasePlan.Part {
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
        case .reading: .shared(start: span.lock, length: 1)
        case .writing, .structural: .exclusive(start: span.start, length: span.length)
        }
    }

    /// To stand at the turnstile.
    var arrival: Step { .exclusive(start: span.turnstile, length: 1) }

    /// From the turnstile on. The turnstile is left to the next waiter as soon as the lock is there, so that the first
    /// waiter to come is in line before the lock is free again.
    var passage: [Step] {
        let rest: Step =
            switch mode {
            case .reading: .shared(start: span.lock, length: 1)
            case .writing: .exclusive(start: span.lock, length: span.length - 1)
            case .structural: .undivided(start: span.lock, length: span.length - 1)
            }
        return [rest, .release(start: span.turnstile, length: 1)]
    }

    /// Through the turnstile of a folder that somebody wants as a whole: who waits there is let in first.
    static func pass(_ gate: LeaseSpan) -> [Step] {
        [.exclusive(start: gate.turnstile, length: 1), .release(start: gate.turnstile, length: 1)]
    }
}

// MARK: - Who stands behind whom

extension LeasePlan.Part {
    /// Returns whether a request for this part stands behind the turnstile of a directory that somebody wants as a
    /// whole. A request that holds something in the directory does not: the directory's request waits for that. Both
    /// the way that a request takes and the wait graph ask this, so they cannot differ.
    ///
    ///     holds nothing in D    T(D) ── T(item) ── item
    ///     holds something in D          T(item) ── item        D's request: T(D) ── everybody in D has left ── D
    func standsBehind(_ directory: LeaseSpan, holding held: some Sequence<LeaseSpan>) -> Bool {
        directory.contains(span) && directory.length > span.length && !held.contains { $0.overlaps(directory) }
    }

    /// Returns whether a request in line for another part, which came before, keeps this one waiting, where the other
    /// is kept from its own turnstile by nobody who does not keep this one, too.
    func waitsBehind(_ other: LeasePlan.Part, holding held: some Sequence<LeaseSpan>) -> Bool {
        if !excludes(other) { return false }
        return other.span.length <= span.length || standsBehind(other.span, holding: held)
    }
}
