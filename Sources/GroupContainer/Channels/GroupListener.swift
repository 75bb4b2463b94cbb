import GroupSystemCalls

/// A listener of a channel: see `GroupChannel.listener(named:from:)`. Each message is delivered once. A message that is
/// not acknowledged is delivered again to the next listener of the same name, in whatever process. Several tasks or
/// threads may take messages from one listener: each message goes to one of them.
public final class GroupListener: Sendable {
    /// The name of the listener, which outlives the process.
    public let name: String
    private let channel: GroupChannel
    private let reader: Guarded<MessageFeed>
    private let store: ChannelStore
    private let right: ListenerLock
    /// Shared by all tasks and threads that take messages.
    private let presence = Guarded(PresenceCheck())

    init(_ name: String, of channel: GroupChannel, _ reader: MessageFeed, _ right: ListenerLock) {
        (self.name, self.channel, self.right, store) = (name, channel, right, reader.store)
        self.reader = Guarded(reader)
    }

    /// Returns the next message, after a wait of at most `timeout` (nil: no limit); nil when the time is over. Errors:
    /// `damaged`, once, where messages are gone, and the next call goes on; `notFound` where the listener, or the
    /// container, was removed. System calls: futex(FUTEX_WAIT), only where there is nothing to read.
    public func next(timeout: Duration? = nil) throws(CoordinationError) -> GroupMessage? {
        let deadline = Deadline(after: timeout)
        while true {
            if let message = try take() { return message }
            if deadline.isOver { return nil }
            try checkPresence()
            store.memberTable.awaitWake(on: store.wakeWord, atMost: deadline.remaining) { hasMore }
        }
    }

    /// The messages from the listener's place on, without end. After a `break`, another loop goes on there.
    public var messages: Messages { Messages(listener: self) }

    /// A listener's messages.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = GroupMessage

        fileprivate let listener: GroupListener

        /// Returns an iterator that goes on at the listener's place.
        public func makeAsyncIterator() -> Iterator { Iterator(listener: listener) }

        /// An iterator that takes messages from its listener.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let listener: GroupListener

            /// Returns the next message, or nil when the task is cancelled. Errors: those of
            /// `GroupListener.next(timeout:)`.
            public mutating func next() async throws(CoordinationError) -> GroupMessage? {
                while true {
                    if Task.isCancelled { return nil }
                    if let message = try listener.take() { return message }
                    try listener.checkPresence()
                    await listener.store.sleeper.wait { [listener] in listener.hasMore }
                }
            }
        }
    }

    /// Acknowledges all messages up to a number, including those that were not delivered yet: they are not delivered
    /// again, and need not be kept for this listener. Errors: `invalidArgument` where no such message was posted;
    /// `notFound` where the listener was removed; `noSpace`, `damaged`; `notDurable` where the messages are
    /// acknowledged, but the disk did not confirm it.
    public func acknowledge(upTo number: UInt64, _ durability: Durability = .relaxed) throws(CoordinationError) {
        try store.checkMayWrite("acknowledge")
        let (channel, name) = (channel, name)
        let record = channel.record(.acknowledge(name, upTo: number))
        let place = try store.append(record) { (state) throws(CoordinationError) in
            guard let listener = state.listeners[name] else {
                throw CoordinationError(
                    .notFound, item: "\(channel.name)/\(name)", operation: "acknowledge",
                    cause: "the listener was removed", advice: "listen anew, and it begins anew")
            }
            if number > state.last {
                throw CoordinationError(
                    .invalidArgument, item: "\(channel.name)/\(name)", operation: "acknowledge",
                    cause: "the last message is \(state.last), so there is no message \(number) yet")
            }
            return number > listener.acknowledged
        }
        reader.withLock { $0.pass(number) }
        // Wakes the processes that wait for the acknowledgement.
        if place != nil { store.wake() }
        guard durability == .durable else { return }
        if let place { return try store.synchronize(through: place) }
        try store.synchronize(through: try store.log.end())
    }

    private func checkPresence() throws(CoordinationError) {
        try presence.withLock { (presence) throws(CoordinationError) in
            try presence.check(channel.container.member, "listen")
        }
    }

    private var hasMore: Bool { reader.withLock { $0.hasMore } }

    private func take() throws(CoordinationError) -> GroupMessage? {
        try store.checkNotForked("listen")
        return try reader.withLock { (reader) throws(CoordinationError) in try reader.next() }
    }
}

/// The right to listen to a channel under a name. The kernel ends it with its process, however the process ends.
final class ListenerLock: Sendable {
    private let byte: HeldByte

    /// Takes the right. Error: `conflict` where another object has it.
    init(to channel: String, as name: String, _ member: Member) throws(CoordinationError) {
        let offset = LockRange.listening(to: channel, as: name, key: member.hashKey)
        guard let byte = try HeldByte(offset, .exclusive, member, operation: "listen") else {
            throw CoordinationError(
                .conflict, item: "\(channel)/\(name)", operation: "listen",
                cause: "somebody listens under that name already",
                advice: "wait for its end, or listen under another name, which gets all messages, too")
        }
        self.byte = byte
    }
}
