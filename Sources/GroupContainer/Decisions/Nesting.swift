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
