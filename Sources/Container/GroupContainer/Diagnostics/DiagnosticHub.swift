import Dispatch
import GroupSystemCalls
import Synchronization

/// The latest events, for a consumer that may be slow: when there is no more room, the oldest is dropped and counted.
struct BoundedEvents<Event: Sendable>: Sendable {
    /// The next thing to hand over.
    enum Next {
        /// The number of events that were dropped before the others.
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

/// Hands a member's events to its listeners. Without listeners, which is the usual case, an event costs one load.
package final class DiagnosticHub: Sendable {
    private struct State: Sendable {
        var listeners: [ObjectIdentifier: DiagnosticQueue] = [:]
        /// Events from while the container was opened, when there could be no listener yet: for the first listener.
        var early: [Diagnostic] = []
    }

    private let state = Guarded(State())
    /// The number of listeners; one more while the container is opened.
    private let listenerCount = Atomic<Int>(1)
    private static let keptEarly = 64

    /// Records an event. To be called from any thread. The text is made only if there is a listener.
    package func report(
        _ code: Diagnostic.Code, item: String? = nil, count: Int = 1, _ text: @autoclosure () -> String
    ) {
        if listenerCount.load(ordering: .relaxed) == 0 { return }
        let event = Diagnostic(code: code, item: item, text: text(), count: count, timeNanoseconds: wallNanoseconds())
        let listeners = state.withLock { state in
            if state.listeners.isEmpty && state.early.count < Self.keptEarly { state.early.append(event) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.add(event) }
        // A command that sleeps until there is a change prints its diagnostics, too.
        if !listeners.isEmpty { Interruption.raise() }
    }

    /// Ends the time of opening: the container is open now.
    func finishOpening() { listenerCount.subtract(1, ordering: .relaxed) }

    func add(_ listener: DiagnosticQueue) {
        listenerCount.add(1, ordering: .relaxed)
        let early = state.withLock { state in
            state.listeners[ObjectIdentifier(listener)] = listener
            defer { state.early = [] }
            return state.early
        }
        for event in early { listener.add(event) }
    }

    func remove(_ listener: DiagnosticQueue) {
        listenerCount.subtract(1, ordering: .relaxed)
        _ = state.withLock { $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    }
}

/// The events that one listener has not taken yet. Safe for use from several threads.
final class DiagnosticQueue: FeedWaiter {
    private struct State: Sendable {
        var events = BoundedEvents<Diagnostic>(limit: DiagnosticQueue.limit)
        var waiter: CheckedContinuation<Void, Never>?
    }

    static let limit = 256
    private let state = Guarded(State())
    /// The signal for a listener that waits on a thread.
    private let signal = ThreadSignal()

    func add(_ event: Diagnostic) {
        let waiter = state.withLock { state in
            state.events.add(event)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
        signal.set()
        // A command reads events between others.
        Interruption.raise()
    }

    func take() -> Diagnostic? {
        switch state.withLock({ $0.events.next() }) {
        case .event(let event): event
        case .dropped(let count):
            Diagnostic(
                code: .eventsDropped, text: "\(count) events are missing here: they came faster than they were taken",
                count: count, timeNanoseconds: wallNanoseconds())
        case nil: nil
        }
    }

    var hasMore: Bool { state.withLock { !$0.events.isEmpty } }

    func wait(atMost limit: Int64?, since seen: Interruption, unless hasMore: () -> Bool) {
        signal.wait(nanoseconds: limit)
    }

    /// Returns when there may be an event, or when the task is cancelled.
    func wait(until moment: Int64?, unless hasMore: @escaping @Sendable () -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state -> Bool in
                    if !state.events.isEmpty || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}

/// A signal that any thread sets and one thread waits for. Each call of `set` ends one wait, also a later one.
final class ThreadSignal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func set() { semaphore.signal() }

    /// Waits for the signal. Returns false if it was not set in that time (nil: forever).
    @discardableResult
    func wait(nanoseconds: Int64?) -> Bool {
        guard let nanoseconds else {
            semaphore.wait()
            return true
        }
        return semaphore.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
    }
}
