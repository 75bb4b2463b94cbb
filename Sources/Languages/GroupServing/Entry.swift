import GroupCommandLine
import GroupContainer
import GroupSystemCalls
import Widgets

/// A request of a client, as long as it is not answered, or as long as something is there that it has left.
final class Entry: Sendable {
    /// What a request has left.
    enum Held: Sendable {
        case nothing
        case locks(HeldLocks)
        case refresh(HeldRefresh)
        case stream(Stream)
        case listener(GroupListener, Stream)
    }
    private enum Phase { case queued, begun, answered }
    private struct State: Sendable {
        var phase = Phase.queued
        var held = Held.nothing
        var hasEnded = false
        /// What waits for the end.
        var waiting: [@Sendable () -> Void] = []
    }

    let operation: Operation
    let lane: Lane
    /// The request whose lock or refresh this one names.
    let holder: Entry?
    /// Who keeps the lock: a `lock` that names another one is requested by the one that keeps that.
    let caller: UInt64
    let token = CancellationToken()
    private let state = Guarded(State())

    init(_ operation: Operation, _ lane: Lane, holder: Entry?) {
        self.operation = operation
        self.lane = lane
        self.holder = holder
        caller = holder?.caller ?? Caller.newNumber()
    }

    var held: Held {
        get { state.withLock(\.held) }
        set { state.withLock { $0.held = newValue } }
    }

    var isHeld: Bool { if case .nothing = held { false } else { true } }

    /// The locks, where the request has left some.
    var locks: HeldLocks? { if case .locks(let locks) = held { locks } else { nil } }

    /// The stream, where the request has left one.
    var stream: Stream? {
        switch held {
        case .stream(let stream), .listener(_, let stream): stream
        case .nothing, .locks, .refresh: nil
        }
    }

    /// Notes that the request is being done. Returns false if it was answered.
    func begin() -> Bool {
        state.withLock { state in
            if state.phase == .queued { state.phase = .begun }
            return state.phase == .begun
        }
    }

    /// Notes that the request is answered, if it has not begun. Returns whether that is so.
    func skip() -> Bool {
        state.withLock { state in
            guard state.phase == .queued else { return false }
            state.phase = .answered
            return true
        }
    }

    func noteAnswer() { state.withLock { $0.phase = .answered } }

    /// Ends the locks or the refresh, in the lane.
    func release() {
        switch held {
        case .locks(let locks): try? locks.unlock()
        case .refresh(let refresh): try? refresh.fail()
        case .nothing, .stream, .listener: return
        }
        held = .nothing
    }

    /// Notes that nothing is left, and that the last line was written.
    func noteEnd() {
        let works = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for work in works { work() }
    }

    /// Runs work when the end has been noted; now, if it has.
    func whenEnded(_ work: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.waiting.append(work) }
            return state.hasEnded
        }
        if hasEnded { work() }
    }
}
