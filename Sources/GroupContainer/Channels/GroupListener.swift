import GroupSystemCalls

/// A listener of a channel: see `GroupChannel.listener(named:from:)`. Each message is given once; what is not
/// acknowledged is given again to the next one that listens under its name, in whatever process. Several tasks or
/// threads may take from it: each message goes to one of them.
public final class GroupListener: Sendable {
    /// It outlives the process.
    public let name: String
    private let channel: GroupChannel
    private let reader: Guarded<MessageFeed>
    private let store: ChannelStore
    private let right: ListenerLock
    /// Of all who take from it.
    private let presence = Guarded(PresenceCheck())

    init(_ name: String, of channel: GroupChannel, _ reader: MessageFeed, _ right: ListenerLock) {
        (self.name, self.channel, self.right, store) = (name, channel, right, reader.store)
        self.reader = Guarded(reader)
    }

    /// The next message. Waits for it at most `timeout` (nil: for ever) and then returns nil. Errors: `damaged`, once,
    /// where messages are gone, and then it goes on; `notFound` where the listener, or the container, was removed.
    /// System calls: futex(FUTEX_WAIT), only where there is nothing to read.
    public func next(timeout: Duration? = nil) throws(CoordinationError) -> GroupMessage? {
        let deadline = Deadline(after: timeout)
        while true {
            if let message = try take() { return message }
            if deadline.isOver { return nil }
            try checkPresence()
            store.memberTable.awaitWake(on: store.wakeWord, atMost: deadline.remaining) { hasMore }
        }
    }

    /// What comes, without end, from where it stands; also what comes again after a `break`.
    public var messages: Messages { Messages(listener: self) }

    /// A listener's messages.
    public struct Messages: AsyncSequence, Sendable {
        /// One message.
        public typealias Element = GroupMessage

        fileprivate let listener: GroupListener

        /// Goes on where the listener stands.
        public func makeAsyncIterator() -> Iterator { Iterator(listener: listener) }

        /// Takes from its listener.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let listener: GroupListener

            /// The next message; nil when the task is cancelled. Errors: those of `GroupListener.next(timeout:)`.
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

    /// It is done with all messages up to this one: they do not come again, and need not be kept for it. Also with
    /// those that were not given yet. Errors: `invalidArgument` where no such message was posted; `notFound` where the
    /// listener was removed; `noSpace`, `damaged`; `notDurable` where it is done, but the disk did not confirm it.
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
        // Who waits for it to be done.
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

/// The right to listen to a channel under a name. It ends with its process, however that ends.
final class ListenerLock: Sendable {
    private let byte: HeldByte

    /// Error: `conflict` where somebody has it.
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
