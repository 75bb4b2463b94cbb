/// Whose turn it is among the requests of one process: first come, first served, readers side by side. Whoever has its
/// turn asks the kernel, where the other processes are; the others wait here and cost nothing but memory. Of those who
/// want the same item one at a time has its turn, so that one thread at most waits in the kernel for it.
///
/// Each block has a lane: who holds it, who is in front, who waits behind. A request has its turn when it is in front in
/// all its lanes, and nothing that came before it has a folder in common with it. Constant time for each part, but for
/// requests of whole folders, which are compared with all others.
struct LeaseQueue: Sendable {
    struct Ticket: Hashable, Sendable {
        fileprivate let index: Int
        /// Counts requests, in the order in which they came.
        let number: UInt64
    }

    private struct Request: Sendable {
        let ticket: Ticket
        let plan: LeasePlan
        let concernsFolder: Bool
        /// Lanes in which it is not in front, and earlier requests that share a folder with it.
        var obstacles = 0
        var isHolding = false
    }

    fileprivate struct Lane: Sendable {
        var readers = 0
        var hasWriter = false
        /// Who comes next: it asks the kernel, or waits for its turn in another lane.
        var front: Ticket?
        /// Who waits behind; those that were withdrawn are passed over when they come to the front.
        var waiting: [Ticket] = []
        var first = 0

        var isEmpty: Bool { readers == 0 && !hasWriter && front == nil && first == waiting.count }
    }

    private var requests: [Request?] = []
    private var free: [Int] = []
    private var lanes: [Int64: Lane] = [:]
    /// Those of whole folders.
    private var folders: [Ticket] = []
    private var arrivals: UInt64 = 0

    /// Nobody holds, nobody waits, and nothing is kept of those who did.
    var isEmpty: Bool { lanes.isEmpty && folders.isEmpty && free.count == requests.count }

    /// Takes a place in line. Whoever may not go is told later, by one of the other calls.
    mutating func request(_ plan: LeasePlan) -> (ticket: Ticket, mayGo: Bool) {
        arrivals += 1
        let ticket = Ticket(index: free.popLast() ?? requests.count, number: arrivals)
        var request = Request(
            ticket: ticket, plan: plan, concernsFolder: plan.parts.contains { $0.mode == .structural })
        if request.concernsFolder {
            for other in requests { if let other, Self.clash(other.plan, plan) { request.obstacles += 1 } }
            folders.append(ticket)
        } else {
            for other in folders where Self.clash(plan, requests[other.index]?.plan) { request.obstacles += 1 }
        }
        for part in plan.parts where part.mode != .structural {
            if !lanes[part.span.start, default: Lane()].arrive(ticket, part.mode) { request.obstacles += 1 }
        }
        if ticket.index == requests.count { requests.append(request) } else { requests[ticket.index] = request }
        return (ticket, request.obstacles == 0)
    }

    /// The kernel has granted it. Returns whose turn it is now.
    mutating func noteGrant(_ ticket: Ticket) -> [Ticket] {
        guard let request = self[ticket], !request.isHolding, request.obstacles == 0 else { return [] }
        requests[ticket.index]?.isHolding = true
        var next: [Ticket] = []
        for part in request.plan.parts where part.mode != .structural {
            change(part) { $0.grant(part.mode) }
            advance(part, &next)
        }
        return next
    }

    /// It is over, whether it was granted, had its turn, or waited. Returns whose turn it is now.
    mutating func end(_ ticket: Ticket) -> [Ticket] {
        guard let request = self[ticket] else { return [] }
        requests[ticket.index] = nil
        free.append(ticket.index)
        var next: [Ticket] = []
        for part in request.plan.parts where part.mode != .structural {
            change(part) { $0.leave(ticket, part.mode, wasHolding: request.isHolding) }
            advance(part, &next)
        }
        if request.concernsFolder {
            folders.removeAll { $0 == ticket }
            for case let other? in requests { clear(request, from: other.ticket, &next) }
        } else {
            for other in folders { clear(request, from: other, &next) }
        }
        return next
    }

    private subscript(_ ticket: Ticket) -> Request? {
        guard requests.indices.contains(ticket.index), let request = requests[ticket.index],
            request.ticket == ticket
        else { return nil }
        return request
    }

    /// Whether a folder that one of them wants as a whole has something of the other in it.
    private static func clash(_ one: LeasePlan, _ other: LeasePlan?) -> Bool {
        guard let other else { return false }
        return one.parts.contains { part in
            other.parts.contains {
                (part.mode == .structural || $0.mode == .structural) && part.span.overlaps($0.span)
            }
        }
    }

    private mutating func change(_ part: LeasePlan.Part, _ body: (inout Lane) -> Void) {
        body(&lanes[part.span.start, default: Lane()])
    }

    /// Lets the next in a lane come to the front.
    private mutating func advance(_ part: LeasePlan.Part, _ next: inout [Ticket]) {
        guard var lane = lanes[part.span.start] else { return }
        while lane.front == nil, let ticket = lane.peek {
            guard let request = self[ticket],
                let mode = request.plan.parts.first(where: { $0.span == part.span })?.mode
            else {
                lane.first += 1
                continue
            }
            if !lane.admits(mode) { break }
            lane.first += 1
            lane.front = ticket
            removeObstacle(from: ticket, &next)
        }
        lane.compact()
        lanes[part.span.start] = lane.isEmpty ? nil : lane
    }

    private mutating func clear(_ gone: Request, from ticket: Ticket, _ next: inout [Ticket]) {
        guard ticket.number > gone.ticket.number, Self.clash(gone.plan, self[ticket]?.plan) else { return }
        removeObstacle(from: ticket, &next)
    }

    private mutating func removeObstacle(from ticket: Ticket, _ next: inout [Ticket]) {
        requests[ticket.index]?.obstacles -= 1
        if requests[ticket.index]?.obstacles == 0 { next.append(ticket) }
    }
}

extension LeaseQueue.Lane {
    /// Whether one that comes to the front could share what is held.
    fileprivate func admits(_ mode: LeaseMode) -> Bool { !hasWriter && (readers == 0 || mode == .reading) }

    fileprivate var peek: LeaseQueue.Ticket? { first < waiting.count ? waiting[first] : nil }

    /// True: it is in front.
    fileprivate mutating func arrive(_ ticket: LeaseQueue.Ticket, _ mode: LeaseMode) -> Bool {
        if front == nil && first == waiting.count && admits(mode) {
            front = ticket
            return true
        }
        waiting.append(ticket)
        return false
    }

    fileprivate mutating func grant(_ mode: LeaseMode) {
        front = nil
        if mode == .reading { readers += 1 } else { hasWriter = true }
    }

    fileprivate mutating func leave(_ ticket: LeaseQueue.Ticket, _ mode: LeaseMode, wasHolding: Bool) {
        if wasHolding {
            if mode == .reading { readers -= 1 } else { hasWriter = false }
        } else if front == ticket {
            front = nil
        }
    }

    /// Forgets those that have passed; each is moved once at most for each that has passed.
    fileprivate mutating func compact() {
        if first > 16 && first > waiting.count / 2 {
            waiting.removeFirst(first)
            first = 0
        } else if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
    }
}
