// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The order of the requests of one process: first come, first served, readers side by side. A request that has its
/// turn goes on to request the lock from the kernel, where it meets the other processes; the other requests wait here
/// and cost nothing but memory. Of the requests for the same item one at a time has its turn, so that at most one
/// thread waits in the kernel for that item.
///
/// Each range has a lane with its holders, the request in front, and the requests that wait behind. A request has its
/// turn when it is in front in all its lanes and no earlier request has a directory in common with it. The time is
/// constant for each part, except for requests of whole directories, which are compared with all other requests.
struct LockQueue: Sendable {
    struct Ticket: Hashable, Sendable {
        fileprivate let index: Int
        /// The number of the request, in the order in which requests came.
        let number: UInt64
    }

    private struct Request: Sendable {
        let ticket: Ticket
        let plan: LockPlan
        let concernsDirectory: Bool
        /// The number of lanes in which the request is not in front, plus the number of earlier requests that share a
        /// directory with it.
        var obstacles = 0
        var isHolding = false

        func onlyPart(heldWith ticket: Ticket) -> LockPlan.Part? {
            isHolding && self.ticket == ticket && plan.parts.count == 1 && !concernsDirectory ? plan.parts[0] : nil
        }

        func mode(at range: LockRange) -> LockMode? { plan.parts.first { $0.range == range }?.mode }
    }

    private var requests: [Request?] = []
    private var free: [Int] = []
    private var lanes = LockLanes()
    /// The requests of whole directories.
    private var directories: [Ticket] = []
    private var arrivals: UInt64 = 0

    /// Whether no request holds or waits, and nothing is kept of earlier requests.
    var isEmpty: Bool { lanes.isEmpty && directories.isEmpty && free.count == requests.count }

    /// Takes a turn in line. If `mayGo` is false, a later call of `recordGrant` or `end` returns the ticket when its
    /// turn comes.
    mutating func request(_ plan: LockPlan) -> (ticket: Ticket, mayGo: Bool) {
        arrivals += 1
        let ticket = Ticket(index: free.popLast() ?? requests.count, number: arrivals)
        var request = Request(
            ticket: ticket, plan: plan, concernsDirectory: plan.parts.contains { $0.mode == .tree })
        if request.concernsDirectory {
            for other in requests { if let other, Self.clash(other.plan, plan) { request.obstacles += 1 } }
            directories.append(ticket)
        } else {
            for other in directories where Self.clash(plan, requests[other.index]?.plan) { request.obstacles += 1 }
        }
        for part in plan.parts where part.mode != .tree {
            let isInFront = lanes.change(part.range.start) { $0.arrive(ticket, part.mode) }
            if !isInFront { request.obstacles += 1 }
        }
        if ticket.index == requests.count { requests.append(request) } else { requests[ticket.index] = request }
        return (ticket, request.obstacles == 0)
    }

    /// Grants a request for one item at once, if its range is neither held in a conflicting mode nor waited for, and no
    /// request of a whole directory is there. The caller requests the lock from the kernel afterwards. Returns nil if
    /// the request has to take its place in line.
    mutating func grantAtOnce(_ plan: LockPlan) -> Ticket? {
        guard directories.isEmpty, plan.parts.count == 1, let part = plan.parts.first, part.mode != .tree else {
            return nil
        }
        let isGranted = lanes.change(part.range.start) { lane in
            guard lane.front == nil, lane.peek == nil, lane.admits(part.mode) else { return false }
            lane.grant(part.mode)
            return true
        }
        if !isGranted { return nil }
        arrivals += 1
        let ticket = Ticket(index: free.popLast() ?? requests.count, number: arrivals)
        let request = Request(ticket: ticket, plan: plan, concernsDirectory: false, isHolding: true)
        if ticket.index == requests.count { requests.append(request) } else { requests[ticket.index] = request }
        return ticket
    }

    /// Records that the kernel has granted a request. Returns the tickets whose turn it is now.
    mutating func recordGrant(_ ticket: Ticket) -> [Ticket] {
        guard let request = self[ticket], !request.isHolding, request.obstacles == 0 else { return [] }
        requests[ticket.index]?.isHolding = true
        var next: [Ticket] = []
        for part in request.plan.parts where part.mode != .tree {
            update(part, &next) { $0.grant(part.mode) }
        }
        return next
    }

    /// Ends a request, whether it was granted, had its turn, or waited. Returns the tickets whose turn it is now.
    mutating func end(_ ticket: Ticket) -> [Ticket] {
        if let part = onlyPart(heldWith: ticket) {
            requests[ticket.index] = nil
            free.append(ticket.index)
            // The usual case: no request is behind or beside this one.
            let isAlone = lanes.change(part.range.start) { lane in
                lane.leave(ticket, part.mode, wasHolding: true)
                return lane.peek == nil
            }
            if isAlone { return [] }
            var next: [Ticket] = []
            update(part, &next) { _ in }
            return next
        }
        guard let request = self[ticket] else { return [] }
        requests[ticket.index] = nil
        free.append(ticket.index)
        var next: [Ticket] = []
        for part in request.plan.parts where part.mode != .tree {
            update(part, &next) { $0.leave(ticket, part.mode, wasHolding: request.isHolding) }
        }
        if request.concernsDirectory {
            directories.removeAll { $0 == ticket }
            for case let other? in requests { clear(request, from: other.ticket, &next) }
        } else {
            for other in directories { clear(request, from: other, &next) }
        }
        return next
    }

    /// Returns the part of a held request for one item that concerns no lane but its own, or nil.
    private func onlyPart(heldWith ticket: Ticket) -> LockPlan.Part? {
        guard directories.isEmpty, requests.indices.contains(ticket.index) else { return nil }
        return requests[ticket.index]?.onlyPart(heldWith: ticket)
    }

    private subscript(_ ticket: Ticket) -> Request? { Self.request(ticket, in: requests) }

    private static func request(_ ticket: Ticket, in requests: [Request?]) -> Request? {
        guard requests.indices.contains(ticket.index), let request = requests[ticket.index],
            request.ticket == ticket
        else { return nil }
        return request
    }

    /// Returns whether a directory that one of the plans wants as a whole overlaps a part of the other plan.
    private static func clash(_ one: LockPlan, _ other: LockPlan?) -> Bool {
        guard let other else { return false }
        return one.parts.contains { part in
            other.parts.contains {
                (part.mode == .tree || $0.mode == .tree) && part.range.overlaps($0.range)
            }
        }
    }

    /// Changes a lane, then lets the next request in the lane come to the front.
    private mutating func update(
        _ part: LockPlan.Part, _ next: inout [Ticket], _ body: (inout LockLanes.Lane) -> Void
    ) {
        if let front = Self.update(&lanes, part.range, body, requests) { removeObstacle(from: front, &next) }
    }

    /// A separate static function, so that no reference to `requests` is left when they are changed: the array would be
    /// copied.
    private static func update(
        _ lanes: inout LockLanes, _ range: LockRange, _ body: (inout LockLanes.Lane) -> Void, _ requests: [Request?]
    ) -> Ticket? {
        lanes.change(range.start) { lane in
            body(&lane)
            return lane.advance { request($0, in: requests)?.mode(at: range) }
        }
    }

    private mutating func clear(_ ended: Request, from ticket: Ticket, _ next: inout [Ticket]) {
        guard ticket.number > ended.ticket.number, Self.clash(ended.plan, self[ticket]?.plan) else { return }
        removeObstacle(from: ticket, &next)
    }

    private mutating func removeObstacle(from ticket: Ticket, _ next: inout [Ticket]) {
        requests[ticket.index]?.obstacles -= 1
        if requests[ticket.index]?.obstacles == 0 { next.append(ticket) }
    }
}

/// The lanes of a lock queue, one for each range that a request of the process holds or wants.
struct LockLanes: Sendable {
    struct Lane: Sendable {
        var readers = 0
        var hasWriter = false
        /// The request that comes next: it is requesting the lock from the kernel, or waits for its turn in another
        /// lane.
        var front: LockQueue.Ticket?
        /// The requests that wait behind. A withdrawn request is skipped when it comes to the front.
        var waiting: [LockQueue.Ticket] = []
        var first = 0

        var isEmpty: Bool { readers == 0 && !hasWriter && front == nil && first == waiting.count }
    }

    private var lanes: [Int64: Lane] = [:]

    var isEmpty: Bool { lanes.isEmpty }

    /// Changes the lane of a range. A lane that is empty afterwards is removed.
    mutating func change<Answer>(_ start: Int64, _ body: (inout Lane) -> Answer) -> Answer {
        guard let index = lanes.index(forKey: start) else {
            var lane = Lane()
            let answer = body(&lane)
            if !lane.isEmpty { lanes[start] = lane }
            return answer
        }
        let answer = body(&lanes.values[index])
        if lanes.values[index].isEmpty { lanes.remove(at: index) }
        return answer
    }
}

extension LockLanes.Lane {
    /// Returns whether a request that comes to the front could share the range with its holders.
    func admits(_ mode: LockMode) -> Bool { !hasWriter && (readers == 0 || mode == .shared) }

    var peek: LockQueue.Ticket? { first < waiting.count ? waiting[first] : nil }

    /// Adds a request to the lane. Returns true if the request is in front.
    mutating func arrive(_ ticket: LockQueue.Ticket, _ mode: LockMode) -> Bool {
        if front == nil && first == waiting.count && admits(mode) {
            front = ticket
            return true
        }
        waiting.append(ticket)
        return false
    }

    mutating func grant(_ mode: LockMode) {
        front = nil
        if mode == .shared { readers += 1 } else { hasWriter = true }
    }

    mutating func leave(_ ticket: LockQueue.Ticket, _ mode: LockMode, wasHolding: Bool) {
        if wasHolding {
            if mode == .shared { readers -= 1 } else { hasWriter = false }
        } else if front == ticket {
            front = nil
        }
    }

    /// Lets the next request come to the front if it could share the range with its holders. `mode` returns how a
    /// request wants the range, or nil for a withdrawn request.
    mutating func advance(_ mode: (LockQueue.Ticket) -> LockMode?) -> LockQueue.Ticket? {
        while front == nil, let ticket = peek {
            guard let mode = mode(ticket) else {
                first += 1
                continue
            }
            if !admits(mode) { break }
            first += 1
            front = ticket
            compact()
            return ticket
        }
        compact()
        return nil
    }

    /// Removes the requests that have passed. Each remaining request is moved at most once for each request that has
    /// passed.
    private mutating func compact() {
        if first == 0 { return }
        if first > 16 && first > waiting.count / 2 {
            waiting.removeFirst(first)
            first = 0
        } else if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
    }
}
