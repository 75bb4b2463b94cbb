import GroupLocking
import GroupSystemCalls

extension ContainerStatus {
    /// The comparisons of locks that a status may take: members write their locks themselves, and may be a thousand.
    private static let effort = 2_000_000
    /// The blockers that are given for a lock.
    private static let mostBlockers = 32
    /// The processes that are looked up between a waiting member's process and a member above it.
    private static let mostGenerations = 16

    /// Fills in what keeps each waiting lock waiting: the locks that are held and exclude it; where there is none, the
    /// earlier requests in line. `published` has the locks of each member in the order of `members`.
    mutating func findBlockers(_ published: [[MemberTable.PublishedLock]]) {
        let places = published.enumerated().flatMap { member, locks in
            locks.indices.map { Lock.Blocker(member: member, lock: $0) }
        }
        let waiting = places.filter { members[$0.member].locks[$0.lock].isWaiting }
        if waiting.isEmpty { return }
        // Many members wait for the same item: each range is compared with each other one, and not each lock.
        let placesOfRange = Dictionary(grouping: places) { published[$0.member][$0.lock].claim.part.range }
        var overlapping: [LockRange: [Lock.Blocker]] = [:]
        var left = Self.effort
        for place in waiting where left > 0 {
            let wanted = published[place.member][place.lock]
            let range = wanted.claim.part.range
            if overlapping[range] == nil {
                left -= placesOfRange.count
                overlapping[range] = placesOfRange.filter { $0.key.overlaps(range) }.flatMap(\.value)
                    .sorted { ($0.member, $0.lock) < ($1.member, $1.lock) }
            }
            let others = overlapping[range] ?? []
            left -= others.count
            let inTheWay = others.filter { other in
                let lock = published[other.member][other.lock]
                return lock.owner != wanted.owner && lock.claim.part.excludes(wanted.claim.part)
            }
            let held = inTheWay.filter { !members[$0.member].locks[$0.lock].isWaiting }
            let earlier = { (other: Lock.Blocker) in
                published[other.member][other.lock].claim.ticket < wanted.claim.ticket
            }
            let blockers = held.isEmpty ? inTheWay.filter { $0.member != place.member && earlier($0) } : held
            members[place.member].locks[place.lock].blockers = Array(blockers.prefix(Self.mostBlockers))
        }
        findAncestors(of: Set(waiting.map(\.member)))
    }

    /// Fills in the member above each of these: a command that holds a lock while the program that it started waits for
    /// one. Reads /proc/PID/stat of the processes in between.
    private mutating func findAncestors(of waiting: Set<Int>) {
        let here = members.indices.filter { members[$0].pidNamespace == nil }
        let numbers = Dictionary(here.map { (members[$0].processIdentifier, $0) }) { first, _ in first }
        for member in waiting.prefix(64) where members[member].pidNamespace == nil {
            var process = members[member].processIdentifier
            for _ in 0..<Self.mostGenerations {
                guard let parent = ProcessView(of: process)?.parent, parent > 1 else { break }
                process = parent
                guard let above = numbers[parent] else { continue }
                members[member].ancestor = above
                break
            }
        }
    }
}
