/// Who waits for whom, among all members: found in what each has noted in the roster. Requests that ask for everything
/// at once take it in one order and cannot block each other; those made while something is held can.
///
/// A *chain* is a request with those that were made under it. A circle of chains, each waiting for the next, ends only
/// when one gives up: the one whose wait began last. Each notes its wait first, then draws its ticket, then looks; so
/// whoever has the last ticket of the circle sees all of it, and nobody has to look again. (Wait-for graphs: Knapp,
/// "Deadlock detection in distributed databases", 1987; here the graph is in shared memory, so one look is enough.)
struct WaitGraph: Sendable {
    /// One part of a request.
    struct Claim: Equatable, Sendable {
        enum Stage: UInt32, Sendable {
            /// Needed, and not asked of the kernel yet.
            case wanted = 1
            case held = 2
            /// In the kernel's line for it.
            case queued = 3
        }

        /// The member's slot, and the chain's number in it.
        var member: Int
        var chain: UInt64
        /// When its wait began, counted over all members; 0: not drawn yet, so later than any.
        var ticket: UInt64
        /// Its place among the nested requests of its process, which go one after the other; 0: not nested.
        var order: UInt64
        var stage: Stage
        var part: LeasePlan.Part
    }

    fileprivate struct Chain: Hashable {
        var member: Int
        var chain: UInt64
    }

    private let claims: [Claim]

    init(_ claims: [Claim]) { self.claims = claims }

    /// Whether this chain's wait has no end unless it gives up: it is in a circle, and came last of all in it. Quadratic
    /// in the number of claims.
    func mustGiveUp(member: Int, chain: UInt64, ticket: UInt64) -> Bool {
        let own = Chain(member: member, chain: chain)
        var seen: Set<Chain> = []
        var open = [own]
        // Only over those that came earlier: a circle with a later one in it is for that one to end.
        while let next = open.popLast() {
            for blocker in blockers(of: next, before: ticket) {
                if blocker == own { return true }
                if seen.insert(blocker).inserted { open.append(blocker) }
            }
        }
        return false
    }

    /// The chains that keep one from what it waits for.
    private func blockers(of chain: Chain, before limit: UInt64) -> [Chain] {
        var found: [Chain] = []
        for wanted in claims where wanted.stage != .held && Chain(wanted) == chain {
            if wanted.ticket == 0 || wanted.ticket > limit { continue }
            for other in claims where Chain(other) != chain && isInTheWay(other, of: wanted) {
                found.append(Chain(other))
            }
        }
        return found
    }

    private func isInTheWay(_ other: Claim, of wanted: Claim) -> Bool {
        if other.stage == .held { return other.part.excludes(wanted.part) }
        let isNestedBefore = other.member == wanted.member && other.order > 0 && other.order < wanted.order
        if isNestedBefore { return other.part.span.overlaps(wanted.part.span) }
        // In the kernel's line, first come, first served. A nested request tries to pass it by before it joins it.
        if wanted.order > 0 && wanted.stage != .queued { return false }
        return other.stage == .queued && other.ticket != 0 && other.ticket < wanted.ticket
            && other.part.excludes(wanted.part)
    }
}

extension WaitGraph.Chain {
    fileprivate init(_ claim: WaitGraph.Claim) { self.init(member: claim.member, chain: claim.chain) }
}
