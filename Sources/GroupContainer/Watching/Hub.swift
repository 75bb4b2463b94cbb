import Dispatch
import GroupSystemCalls

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
        var backlog = Backlog()
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
                stewardship.member.diagnostics.tell(
                    .stewardshipEnded, "nobody follows here any more; another follower watches, if there is one")
            }
            let isDone = state.withLock { state in
                let isDone = stewards.isEmpty && state.coming.isEmpty && state.leaving.isEmpty
                if isDone { state.poller = nil }
                return isDone
            }
            if isDone { return }
            let patience = backlog.isEmpty ? stewards.compactMap(\.steward.restlessness).min() : 0
            let isReadable = (try? poller.wait(nanoseconds: patience)) ?? false
            for entry in stewards { entry.steward.hear() }
            if (isReadable || backlog.mayHaveMore) && backlog.hasRoom {
                backlog.add(try? queue?.drain(atMost: Backlog.limit))
            }
            let slice = backlog.next()
            stewards.removeAll { entry in
                if serve(entry.steward, slice, more: !backlog.isEmpty) { return false }
                entry.stewardship.resign(tryingAgain: true)
                return true
            }
        }
    }

    private func begin(_ stewardship: Stewardship, _ queue: InotifyQueue?) -> Steward? {
        // It may have been dismissed before it came here.
        guard let term = stewardship.term else { return nil }
        do {
            let steward = try Steward(stewardship.member, term: term, queue)
            try steward.begin()
            return steward
        } catch {
            tell(error, of: stewardship.member)
            stewardship.resign(tryingAgain: true)
            return nil
        }
    }

    /// False: it cannot go on, or another one has taken over.
    private func serve(_ steward: Steward, _ slice: Backlog.Slice, more: Bool) -> Bool {
        do throws(CoordinationError) {
            if slice.isIncomplete { steward.compareEverything() }
            try steward.serve(slice.events.filter { steward.owns($0.watch) }, more: more)
            if steward.isSuperseded {
                steward.member.diagnostics.tell(
                    .stewardshipSuperseded, "another process watches now: this one did not answer for too long")
            }
            return !steward.isSuperseded
        } catch {
            tell(error, of: steward.member)
            return false
        }
    }

    private func tell(_ error: CoordinationError, of member: Member) {
        member.diagnostics.tell(
            .stewardshipFailed, item: error.item, "watching ended, and is tried again: \(error)")
    }
}

/// Events that were read and are still to be looked at. The kernel keeps few and then drops them, so they are read as
/// soon as they come, and worked off in slices.
private struct Backlog {
    struct Slice {
        var events: ArraySlice<InotifyEvent>
        /// Some were lost before these.
        var isIncomplete: Bool
    }

    /// How many are read at a time, and how many are kept at most: then the kernel may drop what comes.
    static let limit = 65_536
    private static let most = 1 << 20
    private static let slice = 1_024

    private var events: [InotifyEvent] = []
    private var position = 0
    private var isIncomplete = false
    private(set) var mayHaveMore = false

    var isEmpty: Bool { position == events.count && !mayHaveMore }
    /// Rather the kernel's mark that events are missing than no end of memory.
    var hasRoom: Bool { events.count - position < Self.most }

    /// Nil: reading failed, so that some may be lost.
    mutating func add(_ read: [InotifyEvent]?) {
        mayHaveMore = (read?.count ?? 0) >= Self.limit
        guard let read, !read.contains(where: { $0.kinds.contains(.overflow) }) else {
            isIncomplete = true
            events += read ?? []
            return
        }
        events += read
    }

    mutating func next() -> Slice {
        let end = min(position + Self.slice, events.count)
        defer {
            position = end
            if position == events.count { (events, position) = ([], 0) }
            isIncomplete = false
        }
        return Slice(events: events[position..<end], isIncomplete: isIncomplete)
    }
}
