/// The latest of what happened, for somebody who may be slow: the oldest goes where there is no more room, and is counted.
struct BoundedEvents<Event: Sendable>: Sendable {
    /// What is to be handed over next.
    enum Next {
        /// So many were dropped before the others.
        case dropped(Int)
        case event(Event)
    }

    private let limit: Int
    private var events: [Event] = []
    private var first = 0
    private var dropped = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    var isEmpty: Bool { dropped == 0 && first == events.count }

    mutating func add(_ event: Event) {
        if events.count - first == limit {
            first += 1
            dropped += 1
        }
        events.append(event)
        if first < limit { return }
        events.removeFirst(first)
        first = 0
    }

    mutating func next() -> Next? {
        if dropped > 0 {
            defer { dropped = 0 }
            return .dropped(dropped)
        }
        if first == events.count { return nil }
        defer { first += 1 }
        return .event(events[first])
    }
}
