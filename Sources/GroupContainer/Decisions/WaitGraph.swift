/// Who waits for whom, among all members: found in what each has noted in the roster. Requests that ask for everything
/// at once take it in one order and cannot block each other; those made while something is held can.
///
/// A *chain* is a request with those that were made under it. A circle of chains, each waiting for the next, ends only
/// when one gives up: the one whose wait began last. Each notes its wait first, then draws its ticket, writes that, then
/// looks; so whoever has the last ticket of the circle sees all of it, and has to look again only where a ticket may have
/// been drawn that is not written yet. (Wait-for graphs: Knapp,
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
        /// When its wait began, counted over all members; 0: not drawn yet, or not written yet.
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

    /// What becomes of a wait.
    enum Outlook: Equatable, Sendable {
        /// It has no end unless it gives up: it is in a circle, and came last of all in it.
        case circle
        /// There may be one: somebody in it has drawn his ticket, perhaps, and not written it yet.
        case open
        case noCircle
    }

    /// Quadratic in the number of claims.
    func outlook(member: Int, chain: UInt64, ticket: UInt64) -> Outlook {
        let own = Chain(member: member, chain: chain)
        if isInCircle(own, before: ticket, withUndrawn: false) { return .circle }
        return isInCircle(own, before: ticket, withUndrawn: true) ? .open : .noCircle
    }

    private func isInCircle(_ own: Chain, before ticket: UInt64, withUndrawn: Bool) -> Bool {
        var seen: Set<Chain> = []
        var open = [own]
        // Only over those that came earlier: a circle with a later one in it is for that one to end.
        while let next = open.popLast() {
            for blocker in blockers(of: next, before: ticket, withUndrawn: withUndrawn) {
                if blocker == own { return true }
                if seen.insert(blocker).inserted { open.append(blocker) }
            }
        }
        return false
    }

    /// The chains that keep one from what it waits for.
    private func blockers(of chain: Chain, before limit: UInt64, withUndrawn: Bool) -> [Chain] {
        var found: [Chain] = []
        for wanted in claims where wanted.stage != .held && Chain(wanted) == chain {
            if wanted.ticket == 0 && !withUndrawn || wanted.ticket > limit { continue }
            for other in claims
            where Chain(other) != chain && isInTheWay(other, of: wanted, withUndrawn: withUndrawn) {
                found.append(Chain(other))
            }
        }
        return found
    }

    private func isInTheWay(_ other: Claim, of wanted: Claim, withUndrawn: Bool) -> Bool {
        if other.stage == .held { return other.part.excludes(wanted.part) }
        let isNestedBefore = other.member == wanted.member && other.order > 0 && other.order < wanted.order
        if isNestedBefore { return other.part.span.overlaps(wanted.part.span) }
        // In the kernel's line, first come, first served. A nested request tries to pass it by before it joins it.
        if wanted.order > 0 && wanted.stage != .queued { return false }
        let isBefore = other.ticket == 0 ? withUndrawn : wanted.ticket == 0 || other.ticket < wanted.ticket
        return other.stage == .queued && isBefore && other.part.excludes(wanted.part)
    }
}

extension WaitGraph.Chain {
    fileprivate init(_ claim: WaitGraph.Claim) { self.init(member: claim.member, chain: claim.chain) }
}
