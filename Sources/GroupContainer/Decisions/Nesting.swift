/// What becomes of one part of a request that is made under leases of the same task. Waiting for what it holds itself
/// would have no end.
enum Nesting: Equatable, Sendable {
    /// Nothing of it is held: it is asked for like any other.
    case independent
    /// It is held well enough: reading what one writes or reads oneself.
    case granted
    /// The item is held, but would be changed behind its holder's back, or shared where it is wanted alone.
    case refused

    /// A lease of the task: its ranges, and whether it names the item (or the folder that it lies in as a whole). Where
    /// it does not, two items have met in one block, and what is held of the block is enough.
    struct Held {
        var plan: LeasePlan
        var namesItem: Bool
    }

    static func judge(_ part: LeasePlan.Part, under held: [Held]) -> Nesting {
        let touching = held.filter { lease in lease.plan.parts.contains { $0.span.overlaps(part.span) } }
        if touching.isEmpty { return .independent }
        if part.mode == .reading { return touching.contains { $0.plan.covers(part) } ? .granted : .refused }
        return touching.allSatisfy { !$0.namesItem && $0.plan.covers(part) } ? .granted : .refused
    }
}
