// Imports nothing: no file, clock or process.

/// The graph of waits among all members, built from what each has written into the member table. Requests that want
/// everything at once take their parts in one order and cannot block each other; requests that are made while something
/// is held can.
///
/// An *owner* is a request with those that were made under it, or the answer to a question with the requests that are made
/// for it. A request that asks waits for its answers, and each answer only for what its own requests want: the answers to
/// one request may wait for each other. A circle of owners, each waiting for the next, ends only
/// when one of them gives up: the owner whose wait began last. Each owner writes its wait, then draws its ticket, then
/// writes the ticket, then looks. So the owner with the last ticket of the circle sees all of it, and has to look again
/// only where a ticket may have been drawn and not written yet. (Wait-for graphs: Knapp, "Deadlock detection in
/// distributed databases", 1987; here the graph is in shared memory, so one look is enough.)
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
        /// The claim's place among the nested requests of its process, which go one after the other; 0: not nested.
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
            (self.owner, self.ticket, self.answer) = (owner, ticket, answer)
        }
    }

    private let claims: [Claim]
    private let owners: [Owner: [Claim]]
    /// The claims that are in the kernel's queue for a whole directory.
    private let directories: [Claim]
    private let questions: [QuestionWait]

    init(_ claims: [Claim], _ questions: [QuestionWait] = []) {
        (self.claims, self.questions) = (claims, questions)
        owners = Dictionary(grouping: claims, by: Owner.init)
        directories = claims.filter { $0.isInLine && $0.part.mode == .tree }
    }

    /// The outlook of a wait.
    enum Outlook: Equatable, Sendable {
        /// The wait does not end unless this owner gives up: it is in a circle, and came last of all in it.
        case circle
        /// There may be a circle: a member of it may have drawn its ticket and not written it yet.
        case open
        case noCircle
    }

    /// Returns the outlook of an owner's wait. Quadratic in the number of claims.
    func outlook(of own: Owner, ticket: UInt64) -> Outlook {
        if isInCircle(own, before: ticket, withUndrawn: false) { return .circle }
        return isInCircle(own, before: ticket, withUndrawn: true) ? .open : .noCircle
    }

    /// Returns whether the owner is in a circle. A circle has a nested request in it: every other request takes its
    /// ranges in ascending order, and waits for no range below those that it holds. So the tickets of requests that are
    /// not nested, which may be in another order than that in which the turnstile was reached, make no circle.
    private func isInCircle(_ own: Owner, before ticket: UInt64, withUndrawn: Bool) -> Bool {
        let start = Step(owner: own, isBehindNested: isNested(own))
        var seen: Set<Step> = []
        var open = [start]
        // Follows only claims that came earlier: in a circle with a later claim, that later owner gives up.
        while let next = open.popLast() {
            for blocker in blockers(of: next.owner, before: ticket, withUndrawn: withUndrawn) {
                if blocker == own {
                    if next.isBehindNested { return true }
                    continue
                }
                let step = Step(owner: blocker, isBehindNested: next.isBehindNested || isNested(blocker))
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

    /// Returns whether an owner waits while it, or the request that it answers, may hold something.
    private func isNested(_ owner: Owner) -> Bool {
        questions.contains { $0.owner == owner }
            || owners[owner]?.contains { ($0.order > 0 || $0.isOfAnswer) && $0.stage != .held } ?? false
    }

    /// Returns the owners that block what an owner waits for.
    private func blockers(of owner: Owner, before limit: UInt64, withUndrawn: Bool) -> [Owner] {
        var found: [Owner] = []
        for wanted in owners[owner] ?? [] where wanted.stage != .held {
            if wanted.ticket == 0 && !withUndrawn || wanted.ticket > limit { continue }
            // No request waits for what is held around it.
            for other in claims
            where Owner(other) != owner && isInTheWay(other, of: wanted, withUndrawn: withUndrawn) {
                found.append(Owner(other))
            }
        }
        for wait in questions where wait.owner == owner {
            if wait.ticket == 0 && !withUndrawn || wait.ticket > limit { continue }
            found.append(wait.answer)
        }
        return found
    }

    private func isInTheWay(_ other: Claim, of wanted: Claim, withUndrawn: Bool) -> Bool {
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
        return wanted.part.waitsBehind(other.part, holding: held(by: wanted))
            && !isKept(other, notKeeping: wanted, withUndrawn: withUndrawn)
    }

    /// Returns whether a directory's turnstile keeps `other`, which is in the queue, from its own turnstile, and does
    /// not keep `wanted`.
    private func isKept(_ other: Claim, notKeeping wanted: Claim, withUndrawn: Bool) -> Bool {
        if other.stage == .atTurnstile { return false }
        return directories.contains { gate in
            let directory = gate.part.range
            let isBefore = gate.ticket == 0 ? !withUndrawn : gate.ticket < other.ticket
            guard isBefore, directory.contains(wanted.part.range), directory.length > wanted.part.range.length,
                Owner(gate) != Owner(wanted)
            else { return false }
            return other.part.standsBehind(directory, holding: held(by: other))
                && !wanted.part.standsBehind(directory, holding: held(by: wanted))
        }
    }

    private func held(by claim: Claim) -> some Sequence<LockRange> {
        (owners[Owner(claim)] ?? []).lazy.filter { $0.stage == .held }.map(\.part.range)
    }
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
    init(_ claim: WaitGraph.Claim) { self.init(slot: claim.ownerSlot, number: claim.owner) }
}
