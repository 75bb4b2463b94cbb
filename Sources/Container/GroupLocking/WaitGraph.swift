// Imports nothing: no file, clock or process.

/// The graph of waits among all members, built from what each has written into the member table. Requests that want
/// everything at once take their parts in one order and cannot block each other; requests that are made while something
/// is held can.
///
/// An *owner* is a request with those that were made under it, or the answer to a question with the requests that are
/// made for it. A request that asks waits for its answers, and each answer only for what its own requests want: the
/// answers to one request may wait for each other. A circle of owners, each waiting for the next, ends only when one of
/// them gives up: the owner whose wait began last. Each owner writes its wait, then draws its ticket, then writes the
/// ticket, then looks. So the owner with the last ticket of the circle sees all of it, and has to look again only where
/// a ticket may have been drawn and not written yet. (Wait-for graphs: Knapp, "Deadlock detection in distributed
/// databases", 1987; here the graph is in shared memory, so one look is enough.)
package struct WaitGraph: Sendable {
    /// A member's claim to one part of a request.
    package struct Claim: Equatable, Sendable {
        package enum Stage: UInt32, Sendable {
            /// Needed, and not requested from the kernel yet.
            case wanted = 1
            case held = 2
            /// In the kernel's queue for it.
            case queued = 3
            /// In front of that queue: it waits only for claims that hold a part of it.
            case atTurnstile = 4
        }

        /// The slot of the member that made the request.
        var member: Int
        /// The slot of the owner's member, and the owner's number within its member.
        var ownerSlot: Int
        var owner: UInt64
        /// Whether the request is part of an answer to a question; then the owner is that answer.
        var isOfAnswer = false
        /// The ticket that was drawn when the wait began, counted over all members; 0: not drawn yet, or not written
        /// yet.
        package var ticket: UInt64
        /// The claim's position among the nested requests of its process, which go one after the other; 0: not nested.
        var order: UInt64
        package var stage: Stage
        package var part: LockPlan.Part
    }

    /// A request with those that were made under it, or an answer to a question.
    package struct Owner: Hashable, Sendable {
        /// The slot of its member.
        package var slot: Int
        package var number: UInt64

        package init(slot: Int, number: UInt64) { (self.slot, self.number) = (slot, number) }
    }

    /// A question that waits for the answer that its presenter is making, to it or to another question.
    package struct QuestionWait: Equatable, Sendable {
        var owner: Owner
        /// The ticket that was drawn when the wait began; 0: not drawn yet, or not written yet.
        var ticket: UInt64
        var answer: Owner

        package init(owner: Owner, ticket: UInt64, answer: Owner) {
            self.owner = owner
            self.ticket = ticket
            self.answer = answer
        }
    }

    /// The claims, ascending by where their ranges begin.
    private let claims: [Claim]
    /// For each claim the furthest end of its range and of those before it.
    private let reach: [Int64]
    private let owners: [Owner: [Claim]]
    /// What each owner holds.
    private let held: [Owner: [LockRange]]
    /// The owners that wait while they, or the requests that they answer, may hold something.
    private let nested: Set<Owner>
    /// The claims that are in the kernel's queue for a whole directory.
    private let directories: [Claim]
    private let questions: [Owner: [QuestionWait]]

    init(_ claims: [Claim], _ questions: [QuestionWait] = []) {
        let claims = claims.sorted { $0.part.range.start < $1.part.range.start }
        self.claims = claims
        var furthest = Int64.min
        reach = claims.map { claim in
            furthest = max(furthest, claim.part.range.last)
            return furthest
        }
        owners = Dictionary(grouping: claims, by: Owner.init)
        held = owners.mapValues { $0.filter { $0.stage == .held }.map(\.part.range) }
        self.questions = Dictionary(grouping: questions, by: \.owner)
        let waiting = claims.filter { ($0.order > 0 || $0.isOfAnswer) && $0.stage != .held }
        nested = Set(waiting.map(Owner.init)).union(questions.map(\.owner))
        directories = claims.filter { $0.isInLine && $0.part.mode == .tree }
    }

    /// The comparisons that a search may still make. Members write their claims themselves: those of a thousand forged
    /// members, all of the same items, would take minutes. A circle that is not found ends with a deadline.
    private struct Effort {
        private var left = 2_000_000
        var isOver: Bool { left <= 0 }

        mutating func take(_ count: Int = 1) { left -= count }
    }

    /// The outlook of a wait.
    enum Outlook: Equatable, Sendable {
        /// The wait does not end unless this owner gives up: it is in a circle, and came last of all in it.
        case circle
        /// There may be a circle: a member of it may have drawn its ticket and not written it yet.
        case open
        case noCircle
    }

    /// Returns the outlook of an owner's wait; `noCircle` also where the search takes too long. Linear in the claims,
    /// times those that each of them overlaps, up to a limit.
    func outlook(of own: Owner, ticket: UInt64) -> Outlook {
        var effort = Effort()
        if isInCircle(own, before: ticket, withUndrawn: false, &effort) { return .circle }
        return isInCircle(own, before: ticket, withUndrawn: true, &effort) ? .open : .noCircle
    }

    /// Returns whether the owner is in a circle. A circle has a nested request in it: every other request takes its
    /// ranges in ascending order, and waits for no range below those that it holds. So the tickets of requests that are
    /// not nested, which may be in another order than that in which the turnstile was reached, make no circle.
    private func isInCircle(_ own: Owner, before ticket: UInt64, withUndrawn: Bool, _ effort: inout Effort) -> Bool {
        let start = Step(owner: own, isBehindNested: nested.contains(own))
        var seen: Set<Step> = []
        var open = [start]
        // Follows only claims that came earlier: in a circle with a later claim, that later owner gives up.
        while !effort.isOver, let next = open.popLast() {
            for blocker in blockers(of: next.owner, before: ticket, withUndrawn: withUndrawn, &effort) {
                if blocker == own {
                    if next.isBehindNested { return true }
                    continue
                }
                let step = Step(owner: blocker, isBehindNested: next.isBehindNested || nested.contains(blocker))
                if seen.insert(step).inserted { open.append(step) }
            }
        }
        return false
    }

    /// An owner on the path that is followed, and whether a nested request was met on that path.
    private struct Step: Hashable {
        var owner: Owner
        var isBehindNested: Bool
    }

    /// Returns the owners that block what an owner waits for.
    private func blockers(
        of owner: Owner, before limit: UInt64, withUndrawn: Bool, _ effort: inout Effort
    ) -> Set<Owner> {
        var found: Set<Owner> = []
        for wanted in owners[owner] ?? [] where wanted.stage != .held {
            if wanted.ticket == 0 && !withUndrawn || wanted.ticket > limit { continue }
            // Only a claim whose range overlaps the wanted one is in its way. All of them begin before its end.
            var number = countOfClaims(beginningUpTo: wanted.part.range.last)
            while number > 0, reach[number - 1] >= wanted.part.range.start, !effort.isOver {
                number -= 1
                effort.take()
                let other = claims[number]
                // No request waits for what is held around it.
                if Owner(other) == owner || !other.part.range.overlaps(wanted.part.range) { continue }
                if !found.contains(Owner(other)), isInTheWay(other, of: wanted, withUndrawn: withUndrawn, &effort) {
                    found.insert(Owner(other))
                }
            }
        }
        for wait in questions[owner] ?? [] {
            if wait.ticket == 0 && !withUndrawn || wait.ticket > limit { continue }
            found.insert(wait.answer)
        }
        return found
    }

    /// Returns how many claims begin at or before an offset. Cost: a binary search.
    private func countOfClaims(beginningUpTo offset: Int64) -> Int {
        var (low, high) = (0, claims.count)
        while low < high {
            let middle = (low + high) / 2
            if claims[middle].part.range.start <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func isInTheWay(
        _ other: Claim, of wanted: Claim, withUndrawn: Bool, _ effort: inout Effort
    ) -> Bool {
        if other.stage == .held { return other.part.excludes(wanted.part) }
        let isNestedBefore = other.member == wanted.member && other.order > 0 && other.order < wanted.order
        if isNestedBefore { return other.part.range.overlaps(wanted.part.range) }
        // Both are in the kernel's queue. A request that is not there yet looks again when it comes there.
        guard other.isInLine && wanted.isInLine else { return false }
        let meetsInFront = other.stage == .atTurnstile && other.part.range == wanted.part.range
        let isBefore = other.ticket == 0 ? withUndrawn : wanted.ticket == 0 || other.ticket < wanted.ticket
        guard isBefore || meetsInFront else { return false }
        // A claim at its turnstile waits, of the claims in the queue, only for those that hold a part of its range.
        if wanted.stage == .atTurnstile && other.part.range.length >= wanted.part.range.length { return false }
        let heldByWanted = held(by: wanted)
        effort.take(heldByWanted.count)
        return wanted.part.waitsBehind(other.part, holding: heldByWanted)
            && !isKept(other, notKeeping: wanted, withUndrawn: withUndrawn, &effort)
    }

    /// Returns whether a directory's turnstile keeps `other`, which is in the queue, from its own turnstile, and does
    /// not keep `wanted`.
    private func isKept(
        _ other: Claim, notKeeping wanted: Claim, withUndrawn: Bool, _ effort: inout Effort
    ) -> Bool {
        if other.stage == .atTurnstile { return false }
        let (heldByOther, heldByWanted) = (held(by: other), held(by: wanted))
        for gate in directories {
            if effort.isOver { return false }
            effort.take()
            let directory = gate.part.range
            let isBefore = gate.ticket == 0 ? !withUndrawn : gate.ticket < other.ticket
            guard isBefore, directory.contains(wanted.part.range), directory.length > wanted.part.range.length,
                Owner(gate) != Owner(wanted)
            else { continue }
            effort.take(heldByOther.count + heldByWanted.count)
            if other.part.standsBehind(directory, holding: heldByOther)
                && !wanted.part.standsBehind(directory, holding: heldByWanted)
            {
                return true
            }
        }
        return false
    }

    private func held(by claim: Claim) -> [LockRange] { held[Owner(claim)] ?? [] }
}

extension WaitGraph.Claim {
    /// Creates the claim of a request that is not part of an answer.
    init(
        member: Int, owner: UInt64, ticket: UInt64, order: UInt64, stage: Stage, part: LockPlan.Part
    ) {
        self.init(
            member: member, ownerSlot: member, owner: owner, ticket: ticket, order: order, stage: stage, part: part)
    }

    /// Whether the claim is in the kernel's queue, in front or behind.
    var isInLine: Bool { stage == .queued || stage == .atTurnstile }
}

extension WaitGraph.Owner {
    package init(_ claim: WaitGraph.Claim) { self.init(slot: claim.ownerSlot, number: claim.owner) }
}
