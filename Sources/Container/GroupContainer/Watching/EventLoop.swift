import Dispatch
import GroupLocking
import GroupSystemCalls

/// The one thread of a process that owns its inotify queue, for all containers of which the process is the leader.
/// (libinotifytools allows one instance per process, and no second thread.) The thread runs only while the process
/// leads a container, and waits only in epoll.
final class EventLoop: Sendable {
    static let shared = EventLoop()

    private struct State: Sendable {
        var coming: [LeaderElection] = []
        var leaving: [LeaderElection] = []
        var poller: Poller?
    }
    private let state = Guarded(State())
    private let turn = DispatchSemaphore(value: 1)

    /// Serves an elected member as leader. To be called from any thread.
    func adopt(_ election: LeaderElection) { change { $0.coming.append(election) } }

    /// Has a member resign. Its lock is released once the thread has let go of it. To be called from any thread.
    func dismiss(_ election: LeaderElection) { change { $0.leaving.append(election) } }

    /// Has the thread look for work, if it runs. To be called from any thread.
    func wake() { state.withLock { $0.poller?.wake() } }

    private func change(_ body: (inout State) -> Void) {
        do throws(Errno) {
            let (poller, isNew) = try state.withLock { (state) throws(Errno) -> (Poller, Bool) in
                body(&state)
                if let poller = state.poller { return (poller, false) }
                let poller = try Poller()
                state.poller = poller
                return (poller, true)
            }
            // Not Dispatch, which would block this thread for as long as the process may start no other one.
            if isNew { try WorkThread.start { self.run(poller) } } else { poller.wake() }
        } catch {
            abandon(error)
        }
    }

    /// Has all leaders resign: there is no descriptor or no thread for the event loop, and a member must not be the
    /// leader without a thread that does its work.
    private func abandon(_ error: Errno) {
        let all = state.withLock { state in
            defer { state = State() }
            return state
        }
        for election in all.leaving { election.resign(tryingAgain: false) }
        for election in all.coming {
            election.resign(tryingAgain: true)
            election.noteShortage(error)
        }
    }

    /// A run begins when the one before has ended: there is one inotify queue, and one deferral of stops.
    private func run(_ poller: Poller) {
        turn.wait()
        serveLeaders(poller)
        turn.signal()
    }

    private func serveLeaders(_ poller: Poller) {
        var queue = Self.makeQueue(poller)
        var nextQueue = Self.nextQueue
        let mounts = MountTable()
        if let mounts { try? poller.add(mounts.file.number, for: .urgent) }
        if let stop = StopRequest.deferStop() { try? poller.add(stop) }
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
                election.container.diagnostics.report(
                    .leadershipEnded,
                    "this process has no follower any more; another one with a follower watches, if there is one")
            }
            let isDone = state.withLock { state in
                let isDone = leaders.isEmpty && state.coming.isEmpty && state.leaving.isEmpty
                if isDone { state.poller = nil }
                return isDone
            }
            if isDone {
                // A member that is elected from now on begins another run, which defers stops again.
                return StopRequest.endDeferral()
            }
            if case .failure = queue, monotonicNanoseconds() > nextQueue {
                (queue, nextQueue) = (Self.makeQueue(poller), Self.nextQueue)
                if case .success(let queue) = queue { for entry in leaders { entry.leader.adopt(queue) } }
            }
            let patience = backlog.isEmpty ? leaders.compactMap(\.leader.timeUntilNextWork).min() : 0
            let ready = (try? poller.ready(nanoseconds: patience)) ?? []
            if StopRequest.isPending {
                // A leader that is stopped reports nothing: another member is to watch meanwhile.
                for entry in leaders { entry.election.resign(tryingAgain: true) }
                leaders = []
                StopRequest.stop()
                continue
            }
            for entry in leaders { entry.leader.readProbe() }
            if let mounts, ready.contains(where: { $0.descriptor == mounts.file.number }) {
                for entry in leaders { entry.leader.noteMounts() }
            }
            if case .success(let queue) = queue {
                let isReadable = ready.contains { $0.descriptor == queue.descriptor }
                if (isReadable || backlog.mayHaveMore) && backlog.hasRoom {
                    backlog.add(try? queue.drain(atMost: Backlog.limit))
                }
            }
            let slice = backlog.next()
            leaders.removeAll { entry in
                if serve(entry.leader, entry.election, slice, more: !backlog.isEmpty) { return false }
                let isGone = entry.leader.container.isGone
                // Readers that sleep look whether the container is still there.
                entry.leader.container.memberTable.noteRemoval()
                entry.election.resign(tryingAgain: !isGone)
                return true
            }
        }
    }

    /// The time of the next attempt, where the kernel gives no queue: leaders without one look four times a second.
    private static var nextQueue: Int64 { monotonicNanoseconds() + 5_000_000_000 }

    private static func makeQueue(_ poller: Poller) -> Result<InotifyQueue, Errno> {
        Result { () throws(Errno) in
            let queue = try InotifyQueue()
            try poller.add(queue.descriptor, for: .input)
            return queue
        }
    }

    private func begin(_ election: LeaderElection, _ queue: Result<InotifyQueue, Errno>) -> Leader? {
        // The member may have been dismissed before this thread came to it.
        guard let term = election.term else { return nil }
        do {
            let leader = try Leader(election.container, term: term, queue)
            try leader.begin()
            election.noteShortage(nil)
            return leader
        } catch {
            report(error, of: election)
            election.resign(tryingAgain: true)
            return nil
        }
    }

    /// Serves a leader. Returns false if the leader cannot go on, or if another member has taken over.
    private func serve(
        _ leader: Leader, _ election: LeaderElection, _ slice: Backlog.Slice, more: Bool
    ) -> Bool {
        do throws(CoordinationError) {
            if slice.isIncomplete { leader.compareEverything() }
            try leader.serve(slice.events.filter { leader.owns($0.watch) }, more: more)
            if leader.isSuperseded {
                leader.container.diagnostics.report(
                    .leadershipSuperseded, "another process watches now: this one did not reply for too long")
            }
            return !leader.isSuperseded
        } catch {
            report(error, of: election)
            return false
        }
    }

    private func report(_ error: CoordinationError, of election: LeaderElection) {
        election.noteFailure(error)
        election.container.diagnostics.report(
            .leadershipFailed, item: error.item, "watching ended, and is tried again: \(error)")
    }
}

/// The kernel's table of mounts, which is ready as `urgent` after each mount and unmount: one may hide a container.
private final class MountTable {
    let file: FileDescriptor

    init?() {
        guard let file = try? FileDescriptor.open(path: Array("/proc/self/mountinfo".utf8), [.reading]) else {
            return nil
        }
        self.file = file
    }
}

/// Events that were read and not yet processed. The kernel keeps few events and then drops them, so they are read as
/// soon as they arrive, and processed in slices.
private struct Backlog {
    struct Slice {
        var events: ArraySlice<InotifyEvent>
        /// Whether events before these were lost.
        var isIncomplete: Bool
    }

    /// The number of events that are read at a time. `most` is the number above which no more are read: the kernel may
    /// drop events then.
    static let limit = 65_536
    private static let most = 1 << 20
    private static let slice = 1_024

    private var events: [InotifyEvent] = []
    private var position = 0
    private var isIncomplete = false
    private(set) var mayHaveMore = false

    var isEmpty: Bool { position == events.count && !mayHaveMore }
    /// Whether more events may be read. Above the limit the kernel drops events and reports that, and memory stays
    /// bounded.
    var hasRoom: Bool { events.count - position < Self.most }

    /// Adds the events that were read. Nil means that reading failed, so that some may be lost.
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
