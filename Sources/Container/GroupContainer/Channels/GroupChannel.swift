import GroupLocking

public import FoundationEssentials
import GroupBytes
import GroupLog
import GroupSystemCalls

/// An ordered queue of messages that all members of a container share: each listener gets every message.
///
/// A message that was posted is in the queue when its call returns. No message is lost or overwritten by another,
/// however many processes post at once, and whichever process is killed meanwhile. A listener has a name that outlives
/// its process. The listener gets every message that was posted since it first listened, in order, including those
/// posted while its process did not run, until it acknowledges them; messages that were not acknowledged when its
/// process ended come again. After a power cut the channel has everything that was posted before some moment; `durable`
/// guarantees that a message is on the disk.
///
/// A message is kept until all listeners have acknowledged it. Where there is no listener, the newest 1,000 messages
/// are kept, of 1 MiB in all (the last one always), for a listener that begins with the oldest. Limits: a message 16
/// MiB; all messages that are kept 1 GiB, each counted with 64 bytes and its poster's purpose; error `limitReached`,
/// which names the slowest listener. Posting makes no system call, unless a process waits for messages, or a segment of
/// the log is full.
public final class GroupChannel: Sendable {
    /// The name of the channel, which is a file name.
    public let name: String
    let container: Container
    let purpose: String
    private let opened = Guarded<ChannelStore?>(nil)

    /// Opens a channel of a container; the channel is created with its first message or listener. `purpose` names the
    /// poster for others, in at most 200 bytes; its default is the purpose that this process's coordinator was given,
    /// or the program's name. Errors: `invalidArgument` where the name is not valid; `damaged`, `newerFormat`,
    /// `noSpace`, `inputOutput`.
    public init(_ container: Container, name: String, purpose: String? = nil) throws(CoordinationError) {
        let opened = container.opened
        try opened.locating { () throws(CoordinationError) in
            try LogName.check(name, of: "channel", operation: "open channel")
        }
        self.container = container
        self.name = name
        let known = opened.memberTable.slot.flatMap { opened.memberTable.member(at: $0)?.purpose }
        self.purpose = String(decoding: (purpose ?? known ?? programName()).utf8.prefix(200), as: UTF8.self)
        _ = try opened.locating { () throws(CoordinationError) in try store(creating: false) }
    }

    func store(creating: Bool) throws(CoordinationError) -> ChannelStore? {
        try opened.withLock { (opened) throws(CoordinationError) in
            if let opened { return opened }
            opened = try container.opened.channel(name, creating: creating)
            return opened
        }
    }

    /// Returns the store for a write, and creates it where it does not exist.
    func writableStore(_ operation: String) throws(CoordinationError) -> ChannelStore {
        guard let store = try store(creating: true) else {
            throw container.opened.refusal(".group/channels/\(name)", operation)
        }
        try store.checkMayWrite(operation)
        return store
    }

    func record(_ step: ChannelRecord.Step) -> ChannelRecord {
        ChannelRecord(
            processIdentifier: processIdentifier(), time: wallNanoseconds(), purpose: purpose, step: step)
    }

    // MARK: Posting

    /// Posts bytes, which are in the queue of every listener when the call returns. Returns the message's number, which
    /// is the next one of the channel. Where the order of the channel's messages is decided elsewhere, the message is
    /// in the queues as soon as that is done, and the number is 0; `unavailable` where no program says where the
    /// messages go. Further errors: `limitReached`, `noSpace`, `notPermitted`, `damaged`; `notDurable` where the
    /// message was posted, but the disk did not confirm it. System calls: fdatasync(2), if durable, once for all
    /// callers that wait.
    @discardableResult
    public func post(bytes: [UInt8], durability: Durability = .relaxed) throws(CoordinationError) -> UInt64 {
        try append(bytes, durability: durability)
    }

    /// Posts a value as JSON; see `GroupMessage.decode(as:)`. (`post(bytes:)` posts bytes unchanged.) Errors:
    /// `invalidContent`, and those of `post(bytes:)`.
    @discardableResult
    public func post(json value: some Encodable, durability: Durability = .relaxed) throws(CoordinationError) -> UInt64
    {
        try append(Self.encode(value, for: name), durability: durability)
    }

    /// Posts a message without content. Otherwise as `post(bytes:)`.
    @discardableResult
    public func signal(durability: Durability = .relaxed) throws(CoordinationError) -> UInt64 {
        try append(nil, durability: durability)
    }

    private func append(_ content: [UInt8]?, durability: Durability) throws(CoordinationError) -> UInt64 {
        try container.opened.locating { () throws(CoordinationError) -> UInt64 in
            try container.opened.checkIsThere(for: "post", durability)
            let store = try writableStore("post")
            let count = content?.count ?? 0
            if count > ChannelLimits.message {
                throw CoordinationError(
                    .limitReached, operation: "post", item: name,
                    reason: "a message has at most \(ChannelLimits.message) bytes",
                    remedy: .init(.reduceSize, "write the content to an item, and post its path"))
            }
            let size = ChannelState.size(count, purpose)
            let mayBeRelayed = !Container.isOwnName(name)
            let end = try store.append(record(.post(content))) { (state) throws(CoordinationError) in
                if mayBeRelayed && state.relayed != nil { return false }
                // The first message of a channel that the service has not seen yet.
                if mayBeRelayed && state.last == 0 && ServiceRecord.relay(of: container) != nil { return false }
                try store.checkRoom(for: size, in: state)
                return true
            }
            guard let end else {
                try relay(content, durability)
                return 0
            }
            if durability == .durable { try store.synchronize(through: end) }
            return end.sequence
        }
    }

    // MARK: Listeners

    /// The position where a new listener begins.
    public enum Beginning: Sendable {
        /// The messages that are posted after this call.
        case now
        /// The oldest message that is kept, and all after it.
        case start
    }

    /// Listens under a name of 1 to 200 bytes, which outlives this process. A listener that exists already goes on
    /// after the messages that it has acknowledged, and `beginning` has no effect. Only one object at a time listens
    /// under a name, for as long as the object lives. The listener's existence is on the disk when the call returns.
    /// Errors: `conflict` where another object listens under that name; `invalidArgument`, `notPermitted`, `noSpace`,
    /// `damaged`, `notDurable`. System calls: fcntl(F_OFD_SETLK), fdatasync(2)
    public func listener(named listener: String, since beginning: Beginning = .now) throws(CoordinationError)
        -> GroupListener
    {
        try container.opened.locating { () throws(CoordinationError) -> GroupListener in
            let count = listener.utf8.count
            if count == 0 || count > ChannelLimits.name || listener.utf8.contains(0) {
                throw CoordinationError(
                    .invalidArgument, operation: "listen", item: listener,
                    reason: "a listener's name has 1 to \(ChannelLimits.name) bytes, and no NUL")
            }
            let store = try writableStore("listen")
            let right = try ListenerLock(to: name, as: listener, container.opened)
            let end = try store.append(record(.listen(listener, fromOldest: beginning == .start))) { _ in true }
            // Otherwise a message that is posted durably from now on might find no listener after a power cut.
            if let end { try store.synchronize(through: end) }
            return GroupListener(listener, of: self, try MessageFeed(store, listener: listener), right)
        }
    }

    /// A listener, as its channel has recorded it.
    public struct Listener: Hashable, Sendable {
        /// The name of the listener.
        public var name: String
        /// The number up to which the listener has acknowledged all messages.
        public var acknowledgedNumber: UInt64
        /// The number of messages that the listener has not acknowledged.
        public var waitingCount: Int
        /// The time when the oldest of these was posted; nil where there is none.
        public var waitingSince: Date? { waitingSinceNanoseconds.map { Date(nanoseconds: $0) } }
        /// The time when a process first listened under the name.
        public var since: Date { Date(nanoseconds: sinceNanoseconds) }
        /// The process that listened under the name last.
        public var author: Change.Author
        /// The time when that process began to listen.
        public var openedAt: Date { Date(nanoseconds: openedNanoseconds) }

        /// The times in nanoseconds since 1970.
        package var waitingSinceNanoseconds: Int64?
        package var sinceNanoseconds: Int64
        package var openedNanoseconds: Int64
    }

    /// Returns the listeners, whether a process listens now or not, beginning with the one that is the furthest behind.
    /// Errors: `damaged`, and what else is wrong with the channel.
    public func listeners() throws(CoordinationError) -> [Listener] {
        try container.opened.locating { () throws(CoordinationError) -> [Listener] in
            guard let store = try store(creating: false) else { return [] }
            return try store.checkedRead(Self.listeners)
        }
    }

    static func listeners(in state: ChannelState) -> [Listener] {
        state.listeners.map { name, listener in
            let waiting = state.messages(behind: listener.acknowledged)
            return Listener(
                name: name, acknowledgedNumber: listener.acknowledged, waitingCount: waiting.count,
                author: Change.Author(processIdentifier: listener.processIdentifier, purpose: listener.purpose),
                waitingSinceNanoseconds: waiting.first?.time, sinceNanoseconds: listener.since,
                openedNanoseconds: listener.opened)
        }.sorted { ($0.acknowledgedNumber, $0.name) < ($1.acknowledgedNumber, $1.name) }
    }

    /// Removes a listener, and the messages that are kept only for it. A process that listens under that name gets the
    /// messages that were posted before, then `notFound`. Returns false where there is no such listener. Errors:
    /// `notPermitted`, `noSpace`, `damaged`.
    @discardableResult
    public func removeListener(named listener: String) throws(CoordinationError) -> Bool {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            guard let store = try store(creating: false) else { return false }
            try store.checkMayWrite("remove listener")
            return try store.append(record(.remove(listener))) { $0.listeners[listener] != nil } != nil
        }
    }
}

/// A channel as this member has opened it: the state of its log, without the content of the messages.
typealias ChannelStore = CompactedLog<ChannelState>

extension CompactedLog<ChannelState> {
    /// Opens the store of a channel; nil where it does not exist, unless it is to be created.
    static func open(_ opened: OpenContainer, channel: String, creating: Bool) throws(CoordinationError)
        -> ChannelStore?
    {
        let label = "channels/\(channel)"
        return try open(opened, channel, label: label, wakeLabel: label, creating: creating)
    }
}

extension OpenContainer {
    /// Returns this member's store of a channel; nil where the channel does not exist, unless it is to be created.
    func channel(_ name: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        try keep("channels/\(name)") { () throws(CoordinationError) in
            try ChannelStore.open(self, channel: name, creating: creating && !isReadOnly)
        }
    }
}

/// The limits of a channel and of what is posted to it.
package enum ChannelLimits {
    /// The largest message, in bytes.
    package static let message = 16 << 20
    /// The largest channel, in bytes of messages that a listener has not acknowledged.
    static let channel = 1 << 30
    /// The longest name of a listener, in bytes of UTF-8.
    static let name = 200
}

extension CompactedLog<ChannelState> {
    /// Appends a record if it is still needed; else returns nil. Returns the position after the record; its sequence
    /// number is the number of a message.
    func append(
        _ record: ChannelRecord, if isNeeded: (ChannelState) throws(CoordinationError) -> Bool
    ) throws(CoordinationError) -> LogPosition? {
        var attempt = AppendAttempt()
        defer { attempt.end() }
        return try append(record.encoded(), isControl: record.isControl, &attempt, if: isNeeded) {
            $0.apply(record, at: $1)
        }
    }

    /// Throws `limitReached` where the channel has no room for a message: a listener that does not acknowledge fills
    /// the channel for all.
    func checkRoom(for size: Int, in state: ChannelState) throws(CoordinationError) {
        guard let (name, listener) = state.slowest, state.size + size > ChannelLimits.channel else { return }
        let oldest = state.messages.first
        throw CoordinationError(
            .limitReached, operation: "post", item: log.name,
            reason:
                "the channel holds \(state.size) bytes, and the limit is \(ChannelLimits.channel); the slowest listener, "
                + "'\(name)' (\(listener.purpose), process \(listener.processIdentifier)), has not acknowledged "
                + "message \(oldest?.number ?? 0), of \(Self.moment(oldest?.time ?? 0)), and later ones",
            remedy: .init(.acknowledge, "acknowledge the messages, or remove the listener"))
    }

    /// Returns a time as text, such as `2026-01-31 10:00:00Z`.
    private static func moment(_ nanoseconds: Int64) -> String {
        let time = CalendarTime(secondsSince1970: nanoseconds / 1_000_000_000)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(time.year)-\(two(time.month))-\(two(time.day)) "
            + "\(two(time.hour)):\(two(time.minute)):\(two(time.second))Z"
    }
}

extension GroupChannel {
    /// Returns the number of the last message; 0 where none was posted.
    package func lastNumber() throws(CoordinationError) -> UInt64 {
        try container.opened.locating { () throws(CoordinationError) -> UInt64 in
            guard let store = try store(creating: false) else { return 0 }
            return try store.checkedRead { $0.last }
        }
    }

    /// Returns whether any process listens under that name now. System calls: fcntl(F_OFD_GETLK)
    public func isListening(_ listener: String) throws(CoordinationError) -> Bool {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            let opened = container.opened
            return try locking("read the locks of") { () throws(LockFileFailure) in
                try HeldByte.isHeld(
                    ContainerLock.listening(to: name, as: listener, key: opened.hashKey), opened.lockManager)
            }
        }
    }

    /// Waits, blocking, until a process listens under that name. Returns false when the time is over. Errors and system
    /// calls: as those of `waitForAcknowledgement`
    public func waitForListener(named listener: String, timeout: Duration? = nil) throws(CoordinationError) -> Bool {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            guard let store = try store(creating: true) else { return try isListening(listener) }
            let deadline = Deadline(after: timeout)
            var presence = RemovalCheck()
            while true {
                let position = store.position
                // A process that is about to listen for the first time has the lock already, but gets no message that
                // is posted before its record.
                let isRecorded = try store.checkedRead { $0.listeners[listener] != nil }
                if isRecorded, try isListening(listener) { return true }
                if deadline.isOver { return false }
                try presence.check(container.opened, "await listener")
                try translating(store.awaitRecord(behind: position, atMost: deadline.remaining, since: presence))
            }
        }
    }

    /// Waits, blocking, until a listener has acknowledged a message. Returns false when the time is over (nil: no
    /// limit), or where there is no such listener. Errors: as those of `GroupListener.next(timeout:)`.
    /// System calls: futex(FUTEX_WAIT)
    public func waitForAcknowledgement(
        of number: UInt64, by listener: String, timeout: Duration? = nil
    ) throws(CoordinationError) -> Bool {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            guard let store = try store(creating: false) else { return false }
            let deadline = Deadline(after: timeout)
            var presence = RemovalCheck()
            while true {
                // Read before the state, so that a change during the read ends the wait.
                let position = store.position
                let acknowledged = try store.checkedRead { $0.listeners[listener]?.acknowledged }
                guard let acknowledged else { return false }
                if acknowledged >= number { return true }
                if deadline.isOver { return false }
                try presence.check(container.opened, "await acknowledgement")
                try translating(store.awaitRecord(behind: position, atMost: deadline.remaining, since: presence))
            }
        }
    }
}
