import Dispatch
import SystemCalls

/// The one thread of a process that owns its inotify queue, for all containers whose steward it is. (libinotifytools
/// allows one instance a process, and no second thread.) It runs only while there is a steward, and waits only in
/// epoll.
final class Hub: Sendable {
    static let shared = Hub()

    private struct State: Sendable {
        var coming: [Stewardship] = []
        var leaving: [Stewardship] = []
        var poller: Poller?
    }
    private let state = Guarded(State())
    private static let queue = DispatchQueue(label: "group-container.hub")

    /// From any thread: this one was elected.
    func adopt(_ stewardship: Stewardship) { change { $0.coming.append(stewardship) } }

    /// From any thread: it resigns. Its lock is freed once the thread has let go of it.
    func dismiss(_ stewardship: Stewardship) { change { $0.leaving.append(stewardship) } }

    private func change(_ body: (inout State) -> Void) {
        let (poller, starts) = state.withLock { state -> (Poller?, Bool) in
            body(&state)
            if let poller = state.poller { return (poller, false) }
            state.poller = try? Poller()
            return (state.poller, true)
        }
        guard let poller else { return abandon() }
        if starts { Self.queue.async { self.run(poller) } } else { poller.wake() }
    }

    /// No descriptor is left for the hub itself: nobody shall hold an office that nobody serves.
    private func abandon() {
        let all = state.withLock { state in
            defer { (state.coming, state.leaving) = ([], []) }
            return state.coming
        }
        for stewardship in all { stewardship.resign(tryingAgain: true) }
    }

    private func run(_ poller: Poller) {
        let queue = try? InotifyQueue()
        if let queue { try? poller.add(queue.descriptor) }
        var stewards: [(stewardship: Stewardship, steward: Steward)] = []
        var mayHaveMore = false
        while true {
            let (coming, leaving) = state.withLock { state in
                defer { (state.coming, state.leaving) = ([], []) }
                return (state.coming, state.leaving)
            }
            for stewardship in coming where !leaving.contains(where: { $0 === stewardship }) {
                if let steward = begin(stewardship, queue) { stewards.append((stewardship, steward)) }
            }
            for stewardship in leaving {
                stewards.removeAll { $0.stewardship === stewardship }
                stewardship.resign(tryingAgain: false)
            }
            let isDone = state.withLock { state in
                let isDone = stewards.isEmpty && state.coming.isEmpty && state.leaving.isEmpty
                if isDone { state.poller = nil }
                return isDone
            }
            if isDone { return }
            let patience = mayHaveMore ? 0 : stewards.compactMap(\.steward.restlessness).min()
            let isReadable = (try? poller.wait(nanoseconds: patience)) ?? false
            for entry in stewards { entry.steward.hear() }
            let events = isReadable || mayHaveMore ? (try? queue?.drain(atMost: Self.slice)) : []
            mayHaveMore = (events?.count ?? 0) >= Self.slice
            stewards.removeAll { entry in
                if serve(entry.steward, events, more: mayHaveMore) { return false }
                entry.stewardship.resign(tryingAgain: true)
                return true
            }
        }
    }

    /// How many events are taken before they are looked at: a flood comes in pieces.
    private static let slice = 2_048

    private func begin(_ stewardship: Stewardship, _ queue: InotifyQueue?) -> Steward? {
        // It may have been dismissed before it came here.
        guard let term = stewardship.term else { return nil }
        do {
            let steward = try Steward(stewardship.member, term: term, queue)
            try steward.begin()
            return steward
        } catch {
            stewardship.resign(tryingAgain: true)
            return nil
        }
    }

    /// False: it cannot go on, or another one has taken over. Nil for events: they were lost.
    private func serve(_ steward: Steward, _ events: [InotifyEvent]?, more: Bool) -> Bool {
        do throws(CoordinationError) {
            if events?.contains(where: { $0.kinds.contains(.overflow) }) ?? true { steward.compareEverything() }
            try steward.serve((events ?? []).filter { steward.owns($0.watch) }, more: more)
            return !steward.isSuperseded
        } catch {
            return false
        }
    }
}
