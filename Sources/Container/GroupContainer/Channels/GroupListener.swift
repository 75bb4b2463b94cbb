import GroupLocking
import GroupLog
package import GroupSystemCalls

/// A listener of a channel: see `GroupChannel.listener(named:since:)`. Each message is delivered once. A message that
/// is not acknowledged is delivered again to the next listener of the same name, in whatever process. Several tasks or
/// threads may take messages from one listener: each message goes to one of them.
public final class GroupListener: Sendable {
    /// The name of the listener, which outlives the process.
    public let name: String
    private let channel: GroupChannel
    private let feed: ListenerFeed

    init(_ name: String, of channel: GroupChannel, _ messages: MessageFeed, _ right: ListenerLock) {
        self.name = name
        self.channel = channel
        feed = ListenerFeed(messages, of: channel.container, right)
    }

    /// Returns the next message, after a wait of at most `timeout` (nil: no limit); nil when the time is over. Errors:
    /// `damaged`, once, where messages are gone, and the next call goes on; `notFound` where the listener, or the
    /// container, was removed. System calls: futex(FUTEX_WAIT), only where there is nothing to read.
    public func next(timeout: Duration? = nil) throws(CoordinationError) -> GroupMessage? {
        var follower = follower
        return try follower.next(timeout: timeout)
    }

    var follower: Follower<GroupMessage> { Follower(feed) }

    /// The form of `next(timeout:)` that waits only once: see `Follower.next(timeout:since:)`.
    package func next(timeout: Duration?, since seen: Interruption) throws(CoordinationError) -> GroupMessage? {
        var follower = Follower(feed)
        return try follower.next(timeout: timeout, since: seen)
    }

    /// The messages from the listener's position on, without end. After a `break`, another loop goes on there. A task
    /// that is cancelled takes no message. Errors: those of `next(timeout:)`.
    public var messages: FollowerSequence<GroupMessage> { FollowerSequence(.success(feed)) }

    /// Acknowledges all messages up to a number, including those that were not delivered yet: they are not delivered
    /// again, and need not be kept for this listener. Errors: `invalidArgument` where no such message was posted;
    /// `notFound` where the listener was removed; `noSpace`, `damaged`; `notDurable` where the messages are
    /// acknowledged, but the disk did not confirm it.
    public func acknowledge(upTo number: UInt64, durability: Durability = .relaxed) throws(CoordinationError) {
        try channel.container.opened.locating { () throws(CoordinationError) in
            try write(acknowledgementUpTo: number, durability)
        }
    }

    private func write(
        acknowledgementUpTo number: UInt64, _ durability: Durability
    ) throws(CoordinationError) {
        let (channel, name, store) = (channel, name, feed.store)
        try store.checkMayWrite("acknowledge")
        let record = channel.record(.acknowledge(name, upTo: number))
        let end = try store.append(record) { (state) throws(CoordinationError) in
            guard let listener = state.listeners[name] else {
                throw CoordinationError(
                    .notFound, operation: "acknowledge", item: "\(channel.name)/\(name)",
                    reason: "the listener was removed", remedy: .listenAgain)
            }
            if number > state.last {
                throw CoordinationError(
                    .invalidArgument, operation: "acknowledge", item: "\(channel.name)/\(name)",
                    reason: "there is no message \(number) yet: the last one is \(state.last)")
            }
            return number > listener.acknowledged
        }
        feed.pass(number)
        guard durability == .durable else { return }
        if let end { return try store.synchronize(through: end) }
        try store.synchronize(through: try translating(store.log.end()))
    }
}

/// A listener's messages, for several tasks and threads: each message goes to one of them.
private final class ListenerFeed: Feed {
    typealias Element = GroupMessage

    private struct State: Sendable {
        var messages: MessageFeed
        var presence = RemovalCheck()
    }

    let store: ChannelStore
    private let state: Guarded<State>
    /// Held so that the process stays a member as long as messages are awaited.
    private let container: Container
    private let right: ListenerLock

    init(_ messages: MessageFeed, of container: Container, _ right: ListenerLock) {
        store = messages.store
        self.container = container
        self.right = right
        state = Guarded(State(messages: messages))
    }

    func next() throws(CoordinationError) -> GroupMessage? {
        try store.checkNotForked("listen")
        return try state.withLock { (state) throws(CoordinationError) in try state.messages.next() }
    }

    func pass(_ number: UInt64) { state.withLock { $0.messages.pass(number) } }

    func check() throws(CoordinationError) {
        try state.withLock { (state) throws(CoordinationError) in try state.presence.check(container.opened, "listen") }
    }

    var hasMore: Bool { state.withLock { $0.messages.hasMore } }
    /// Does not keep the right: the name is free as soon as the listener is gone, also where a waiter still has this.
    var look: @Sendable () -> Bool {
        let state = state
        return { state.withLock { $0.messages.hasMore } }
    }
    var waiter: any FeedWaiter { store.waiter.since(removals: state.withLock(\.presence.removals)) }
    var isShared: Bool { true }
}

extension GroupMessage: StreamElement {
    /// The error with which listening fails.
    public typealias Failure = CoordinationError
    /// A listener's position is what it has acknowledged: there is no other one.
    public typealias Position = Void
}

/// The right to listen to a channel under a name. The kernel ends it with its process, however the process ends.
final class ListenerLock: Sendable {
    private let byte: HeldByte
    /// Keeps this process a member.
    private let opened: OpenContainer

    /// Takes the right. Error: `conflict` where another object has it.
    init(to channel: String, as name: String, _ opened: OpenContainer) throws(CoordinationError) {
        if let readOnly = opened.readOnly { throw readOnly.error("\(channel)/\(name)", "listen") }
        let offset = ContainerLock.listening(to: channel, as: name, key: opened.hashKey)
        let byte = try locking("listen") { () throws(LockFileFailure) in
            try HeldByte(offset, .exclusive, opened.lockManager)
        }
        guard let byte else {
            let other = OpeningProcess(ofLockFile: opened.lockFile.inode, byte: offset)
            throw CoordinationError(
                .conflict, operation: "listen", item: "\(channel)/\(name)",
                reason: "\(other?.description ?? "another process") listens under that name",
                remedy: .init(
                    .chooseListener,
                    "wait until that process ends, or listen under another name: each name gets all messages"))
        }
        self.byte = byte
        self.opened = opened
    }
}
