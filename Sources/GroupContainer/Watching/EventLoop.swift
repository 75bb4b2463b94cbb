import Dispatch
import GroupSystemCalls

/// The one thread of a process that owns its inotify queue, for all containers whose leader it is. (libinotifytools
/// allows one instance a process, and no second thread.) It runs only while there is a leader, and waits only in
/// epoll.
final class EventLoop: Sendable {
    static let shared = EventLoop()

    private struct State: Sendable {
        var coming: [LeaderElection] = []
        var leaving: [LeaderElection] = []
        var poller: Poller?
    }
    private let state = Guarded(State())
    private static let queue = DispatchQueue(label: "group-container.hub")

    /// From any thread: this one was elected.
    func adopt(_ election: LeaderElection) { change { $0.coming.append(election) } }

    /// From any thread: it resigns. Its lock is freed once the thread has let go of it.
    func dismiss(_ election: LeaderElection) { change { $0.leaving.append(election) } }

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

    /// No descriptor is left for the event loop itself: nobody shall hold an office that nobody serves.
    private func abandon() {
        let all = state.withLock { state in
            defer { (state.coming, state.leaving) = ([], []) }
            return state.coming
        }
        for election in all { election.resign(tryingAgain: true) }
    }

    private func run(_ poller: Poller) {
        let queue = try? InotifyQueue()
        if let queue { try? poller.add(queue.descriptor) }
        var leaders: [(election: LeaderElection, leader: Leader)] = []
        var backlog = Backlog()
        while true {
            let (coming, leaving) = state.withLock { state in
                defer { (state.coming, state.leaving) = ([], []) }
                return (state.coming, state.leaving)
            }
            for election in coming where !leaving.contains(where: { $0 === election }) {
                if let leader = begin(election, queue) { leaders.append((election, leader)) }
            }
            for election in leaving {
                leaders.removeAll { $0.election === election }
                election.resign(tryingAgain: false)
                election.member.diagnostics.tell(
                    .leadershipEnded, "nobody follows here any more; another follower watches, if there is one")
            }
            let isDone = state.withLock { state in
                let isDone = leaders.isEmpty && state.coming.isEmpty && state.leaving.isEmpty
                if isDone { state.poller = nil }
                return isDone
            }
            if isDone { return }
            let patience = backlog.isEmpty ? leaders.compactMap(\.leader.timeUntilNextWork).min() : 0
            let isReadable = (try? poller.wait(nanoseconds: patience)) ?? false
            for entry in leaders { entry.leader.hear() }
            if (isReadable || backlog.mayHaveMore) && backlog.hasRoom {
                backlog.add(try? queue?.drain(atMost: Backlog.limit))
            }
            let slice = backlog.next()
            leaders.removeAll { entry in
                if serve(entry.leader, slice, more: !backlog.isEmpty) { return false }
                entry.election.resign(tryingAgain: true)
                return true
            }
        }
    }

    private func begin(_ election: LeaderElection, _ queue: InotifyQueue?) -> Leader? {
        // It may have been dismissed before it came here.
        guard let term = election.term else { return nil }
        do {
            let leader = try Leader(election.member, term: term, queue)
            try leader.begin()
            return leader
        } catch {
            tell(error, of: election.member)
            election.resign(tryingAgain: true)
            return nil
        }
    }

    /// False: it cannot go on, or another one has taken over.
    private func serve(_ leader: Leader, _ slice: Backlog.Slice, more: Bool) -> Bool {
        do throws(CoordinationError) {
            if slice.isIncomplete { leader.compareEverything() }
            try leader.serve(slice.events.filter { leader.owns($0.watch) }, more: more)
            if leader.isSuperseded {
                leader.member.diagnostics.tell(
                    .leadershipSuperseded, "another process watches now: this one did not answer for too long")
            }
            return !leader.isSuperseded
        } catch {
            tell(error, of: leader.member)
            return false
        }
    }

    private func tell(_ error: CoordinationError, of member: Member) {
        member.diagnostics.tell(
            .leadershipFailed, item: error.item, "watching ended, and is tried again: \(error)")
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
