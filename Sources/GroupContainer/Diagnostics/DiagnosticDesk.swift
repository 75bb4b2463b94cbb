import Synchronization
import GroupSystemCalls

/// Where a member says what happens to it. Nobody listens, mostly: then it costs one load.
final class DiagnosticDesk: Sendable {
    private struct State: Sendable {
        var listeners: [ObjectIdentifier: DiagnosticQueue] = [:]
        /// What happened while the container was opened, when nobody could listen yet: for the first who does.
        var early: [Diagnostic] = []
    }

    private let state = Guarded(State())
    /// Listeners; one more while the container is opened.
    private let heard = Atomic<Int>(1)
    private static let keptEarly = 64

    /// From any thread. The text is made only where somebody listens.
    func tell(_ code: Diagnostic.Code, item: String? = nil, count: Int = 1, _ text: @autoclosure () -> String) {
        if heard.load(ordering: .relaxed) == 0 { return }
        let event = Diagnostic(code: code, item: item, text: text(), count: count, time: wallNanoseconds())
        let listeners = state.withLock { state in
            if state.listeners.isEmpty && state.early.count < Self.keptEarly { state.early.append(event) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.add(event) }
    }

    /// The container is open now.
    func finishOpening() { heard.subtract(1, ordering: .relaxed) }

    func add(_ listener: DiagnosticQueue) {
        heard.add(1, ordering: .relaxed)
        let early = state.withLock { state in
            state.listeners[ObjectIdentifier(listener)] = listener
            defer { state.early = [] }
            return state.early
        }
        for event in early { listener.add(event) }
    }

    func remove(_ listener: DiagnosticQueue) {
        heard.subtract(1, ordering: .relaxed)
        _ = state.withLock { $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    }
}

/// What one listener has not taken yet. Guards itself.
final class DiagnosticQueue: Sendable {
    private struct State: Sendable {
        var events = BoundedEvents<Diagnostic>(limit: DiagnosticQueue.limit)
        var waiter: CheckedContinuation<Void, Never>?
    }

    static let limit = 256
    private let state = Guarded(State())
    /// For who waits on a thread.
    private let bell = Bell()

    func add(_ event: Diagnostic) {
        let waiter = state.withLock { state in
            state.events.add(event)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
        bell.ring()
    }

    func take() -> Diagnostic? {
        switch state.withLock({ $0.events.next() }) {
        case .event(let event): event
        case .dropped(let count):
            Diagnostic(
                code: .eventsDropped, text: "\(count) events are missing here: they came faster than they were taken",
                count: count, time: wallNanoseconds())
        case nil: nil
        }
    }

    /// Nil when the time is over.
    func take(until deadline: Deadline) -> Diagnostic? {
        while true {
            if let event = take() { return event }
            // Waiting for no time at all takes the kernel's timers some.
            if deadline.isOver { return nil }
            if !bell.wait(nanoseconds: deadline.remaining) && deadline.isOver { return take() }
        }
    }

    /// Returns when there may be one, or the task is cancelled.
    func wait() async {
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
