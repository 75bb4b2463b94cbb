import Dispatch
import GroupSystemCalls

/// A follower for a program with an event loop of its own, such as one of poll(2), epoll(7) or GLib: its descriptor can
/// be read while there may be an element.
///
///     let follower = try PolledFollower(container.follow())
///     // In the loop, when follower.fileDescriptor can be read:
///     while let change = try follower.next() { show(change) }
///
/// Only `next()` ends the readiness, when it has returned nil: a loop that asks for a level (poll, epoll without
/// `EPOLLET`) may take one element at a time; another one takes elements until there are none. The descriptor is
/// closed with this object; the caller does not read from it. A thread sleeps for the descriptor as long as this
/// object lives; while nothing happens, it makes no system call. After fork(2), the child's copy is never ready.
public final class PolledFollower<Element: StreamElement>: Sendable {
    private let follower: Guarded<Follower<Element>>
    private let bell: Bell

    /// Takes a follower over. Error: `limitReached` where the process may have no further descriptor or thread. System
    /// calls: epoll_create1(2), eventfd(2), clone(2)
    public init(_ follower: consuming Follower<Element>) throws(CoordinationError) {
        do throws(Errno) { bell = try Bell() } catch {
            throw CoordinationError(error, operation: "follow", item: "the descriptor of a follower")
        }
        self.follower = Guarded(follower)
        do throws(Errno) { try bell.start() } catch {
            throw CoordinationError(error, operation: "follow", item: "the descriptor of a follower")
        }
    }

    deinit { bell.end() }

    /// The descriptor: ready to be read while `next()` may return an element.
    public var fileDescriptor: Int32 { bell.descriptor }

    /// Returns the next element; nil if there is none now. From any thread. Errors: those of `Follower.next(timeout:)`.
    public func next() throws(Element.Failure) -> Element? {
        try follower.withLock { (follower) throws(Element.Failure) in
            if let element = try follower.next(timeout: .zero) { return element }
            try follower.check()
            let feed = follower.feed
            bell.arm(.init(waiter: feed.waiter, due: feed.due, look: feed.look))
            return nil
        }
    }

    /// Waits for the next element, as `Follower.next(timeout:orUntil:)`. Blocks other calls meanwhile.
    public func next(timeout: Duration?, orUntil token: CancellationToken? = nil) throws(Element.Failure) -> Element? {
        try follower.withLock { (follower) throws(Element.Failure) in
            guard let token else { return try follower.next(timeout: timeout) }
            return try follower.next(timeout: timeout, orUntil: token)
        }
    }
}

extension PolledFollower<GroupMessage> {
    /// Takes the messages of a listener, each of which goes to one of its readers. See `init(_:)`.
    public convenience init(_ listener: GroupListener) throws(CoordinationError) { try self.init(listener.follower) }
}

extension PolledFollower where Element.Position == Cursor {
    /// The position behind what was returned: see `Follower.cursor`.
    public var cursor: Cursor { follower.withLock(\.cursor) }
}

/// What makes a descriptor ready when there is something to read.
///
///     armed ── the thread sees an element, or that the time has come ──▶ rung (the descriptor is ready)
///       ▲                                                                 │
///       └──────────── the reader has found nothing, and waits ────────────┘
///
/// The reader may find an element before the thread does; the thread then rings although there is nothing left.
final class Bell: Sendable {
    /// What the reader waits for.
    struct Watch: Sendable {
        var waiter: any FeedWaiter
        var due: Int64?
        var look: @Sendable () -> Bool

        var isOver: Bool { look() || due.map { $0 <= monotonicNanoseconds() } ?? false }
    }
    private enum State: Sendable {
        case rung
        /// What the thread has still to take.
        case armed(Watch?)
        case ended
    }

    private let poller: Poller
    private let state = Guarded(State.rung)
    private let armed = DispatchSemaphore(value: 0)

    var descriptor: Int32 { poller.descriptor }

    init() throws(Errno) { poller = try Poller() }

    /// Begins with a descriptor that is ready, so that a loop looks once.
    func start() throws(Errno) {
        try WorkThread.start { self.serve() }
        poller.wake()
    }

    /// Makes the descriptor not ready until the watch is over.
    func arm(_ watch: Watch) {
        let isNew = state.withLock { state in
            guard case .rung = state else { return false }
            poller.forgetWakes()
            state = .armed(watch)
            return true
        }
        if isNew { armed.signal() }
    }

    func end() {
        state.withLock { $0 = .ended }
        armed.signal()
        Interruption.raise()
    }

    private var hasEnded: Bool { state.withLock { if case .ended = $0 { true } else { false } } }

    private func serve() {
        while true {
            armed.wait()
            let watch: Watch? = state.withLock { state in
                guard case .armed(let watch?) = state else { return nil }
                state = .armed(nil)
                return watch
            }
            guard let watch, isOver(watch) else { return }
            state.withLock { state in
                guard case .armed = state else { return }
                state = .rung
                poller.wake()
            }
        }
    }

    /// Waits until a watch is over. Returns false after the end.
    private func isOver(_ watch: Watch) -> Bool {
        while true {
            let seen = Interruption.latest
            if hasEnded { return false }
            if watch.isOver { return true }
            let rest = watch.due.map { max(0, $0 - monotonicNanoseconds()) }
            watch.waiter.wait(atMost: rest, since: seen, unless: watch.look)
            // Without an interruption, the reader has to look: the container may have been removed.
            if Interruption.latest == seen { return !hasEnded }
        }
    }
}
