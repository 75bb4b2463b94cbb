/// The lanes of a lock queue, one for each range that anybody of the process holds or wants.
struct LockLanes: Sendable {
    struct Lane: Sendable {
        var readers = 0
        var hasWriter = false
        /// Who comes next: it asks the kernel, or waits for its turn in another lane.
        var front: LockQueue.Ticket?
        /// Who waits behind; those that were withdrawn are passed over when they come to the front.
        var waiting: [LockQueue.Ticket] = []
        var first = 0

        var isEmpty: Bool { readers == 0 && !hasWriter && front == nil && first == waiting.count }
    }

    private var lanes: [Int64: Lane] = [:]

    var isEmpty: Bool { lanes.isEmpty }

    /// Changes the lane of a range; one that is empty afterwards is not kept.
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
    /// Whether one that comes to the front could share what is held.
    func admits(_ mode: LockMode) -> Bool { !hasWriter && (readers == 0 || mode == .reading) }

    var peek: LockQueue.Ticket? { first < waiting.count ? waiting[first] : nil }

    /// True: it is in front.
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
        if mode == .reading { readers += 1 } else { hasWriter = true }
    }

    mutating func leave(_ ticket: LockQueue.Ticket, _ mode: LockMode, wasHolding: Bool) {
        if wasHolding {
            if mode == .reading { readers -= 1 } else { hasWriter = false }
        } else if front == ticket {
            front = nil
        }
    }

    /// Lets the next one come to the front, if it could share what is held. `mode` says how one wants the range, or nil
    /// for one that was withdrawn.
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

    /// Forgets those that have passed; each is moved once at most for each that has passed.
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
