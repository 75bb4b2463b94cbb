import GroupSystemCalls

/// An ordered queue of messages that all members of a container share: each listener gets every message.
///
/// A message that was posted is in the queue when its call returns; no message is lost or overwritten by another,
/// however many processes post at once, and whichever process is killed meanwhile. A listener has a name that outlives
/// its process. The listener gets every message that was posted since it was first there, in order, also those from
/// while it was away, until it acknowledges them; what was not acknowledged when its process ended comes again. After a
/// power cut the channel has what was posted up to some moment; `durable` says that a message is on the disk.
///
/// A message is kept until all listeners have acknowledged it. Where there is no listener, the newest 1,000 messages
/// are kept, of 1 MiB in all (the last one always), for a listener that begins with the oldest. Limits: a message 16
/// MiB; all that are kept, 1 GiB, each counted with 64 bytes and its poster's purpose; error `limitReached`, which
/// names the slowest listener. Posting makes no system call, unless somebody waits for messages, or a file of the log
/// is full.
public final class GroupChannel: Sendable {
    /// Its name: a file name.
    public let name: String
    let container: Container
    private let purpose: String
    private let opened = Guarded<ChannelStore?>(nil)

    /// A channel of a container; it comes into being with its first message or listener. `purpose` is what others are
    /// told of who posted; without it, what this process's coordinator said, or the program's name; 200 bytes of it.
    /// Errors: `invalidArgument` where the name is none; `damaged`, `newerFormat`, `noSpace`, `inputOutput`.
    public init(_ container: Container, name: String, purpose: String? = nil) throws(CoordinationError) {
        try LogName.check(name, of: "channel", operation: "open channel")
        (self.container, self.name) = (container, name)
        let member = container.member
        let known = member.memberTable.slot.flatMap { member.memberTable.member(at: $0)?.purpose }
        self.purpose = String(decoding: (purpose ?? known ?? programName()).utf8.prefix(200), as: UTF8.self)
        _ = try store(creating: false)
    }

    func store(creating: Bool) throws(CoordinationError) -> ChannelStore? {
        try opened.withLock { (opened) throws(CoordinationError) in
            if let opened { return opened }
            opened = try container.member.channel(name, creating: creating)
            return opened
        }
    }

    /// For who is going to write.
    func writableStore(_ operation: String) throws(CoordinationError) -> ChannelStore {
        guard let store = try store(creating: true) else {
            throw container.member.refusal(".group/channels/\(name)", operation)
        }
        try store.checkMayWrite(operation)
        return store
    }

    func record(_ step: ChannelRecord.Step) -> ChannelRecord {
        ChannelRecord(
            processIdentifier: processIdentifier(), time: wallNanoseconds(), purpose: purpose, step: step)
    }

    // MARK: Posting

    /// Posts bytes. They are in the queue of every listener when it returns. The message's number: the next one of the
    /// channel. Errors: `limitReached`, `noSpace`, `notPermitted`, `damaged`; `notDurable` where it was posted, but the
    /// disk did not confirm it. System calls: fdatasync(2), once for all who wait, if durable
    @discardableResult
    public func post(bytes: [UInt8], _ durability: Durability = .relaxed) throws(CoordinationError) -> UInt64 {
        try append(bytes, durability)
    }

    /// Posts a value as JSON (bytes as they are: `post(bytes:)`); see `GroupMessage.decode(as:)`. Errors:
    /// `invalidContent`, and those of `post(bytes:)`.
    @discardableResult
    public func post(_ value: some Encodable, _ durability: Durability = .relaxed) throws(CoordinationError) -> UInt64 {
        try append(Self.encode(value, for: name), durability)
    }

    /// Posts a message that says nothing but that it came. As `post(bytes:)`.
    @discardableResult
    public func signal(_ durability: Durability = .relaxed) throws(CoordinationError) -> UInt64 {
        try append(nil, durability)
    }

    private func append(_ content: [UInt8]?, _ durability: Durability) throws(CoordinationError) -> UInt64 {
        let store = try writableStore("post")
        let count = content?.count ?? 0
        if count > ChannelLimits.message {
            throw CoordinationError(
                .limitReached, item: name, operation: "post",
                cause: "a message has at most \(ChannelLimits.message) bytes",
                advice: "write it to a file of the container, and post its path")
        }
        let size = ChannelState.size(count, purpose)
        let place = try store.append(record(.post(content))) { (state) throws(CoordinationError) in
            try store.checkRoom(for: size, in: state)
            return true
        }
        store.wake()
        guard let place else { return 0 }
        if durability == .durable { try store.synchronize(through: place) }
        return place.sequence
    }

    // MARK: Listeners

    /// Where a listener begins that is there for the first time.
    public enum Beginning: Sendable {
        /// With what is posted after this call.
        case now
        /// With the oldest message that is kept.
        case oldest
    }

    /// Listens under a name of 1 to 200 bytes, which outlives this process. Where it was there before, it goes on
    /// behind what it has acknowledged, and `beginning` says nothing. One at a time listens under a name, as long as
    /// the object lives. That it is there is on the disk when it returns. Errors: `conflict` where another one listens
    /// under that name; `invalidArgument`, `notPermitted`, `noSpace`, `damaged`, `notDurable`. System calls:
    /// fcntl(F_OFD_SETLK), fdatasync(2)
    public func listener(named listener: String, from beginning: Beginning = .now) throws(CoordinationError)
        -> GroupListener
    {
        let count = listener.utf8.count
        if count == 0 || count > ChannelLimits.name || listener.utf8.contains(0) {
            throw CoordinationError(
                .invalidArgument, item: listener, operation: "listen",
                cause: "a listener's name has 1 to \(ChannelLimits.name) bytes, and no NUL")
        }
        let store = try writableStore("listen")
        let right = try ListenerLock(to: name, as: listener, container.member)
        let place = try store.append(record(.listen(listener, fromOldest: beginning == .oldest))) { _ in true }
        // Else what is posted durably from now on might find nobody after a power cut.
        if let place { try store.synchronize(through: place) }
        // Who waits for it to be there.
        store.wake()
        return GroupListener(listener, of: self, try MessageFeed(store, listener: listener), right)
    }

    /// A listener, as far as it is known.
    public struct Listener: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// It is done with all messages up to this one.
        public var acknowledged: UInt64
        /// How many messages it has not acknowledged.
        public var waitingCount: Int
        /// When the oldest of these was posted, in nanoseconds since 1970; nil where there is none.
        public var waitingSince: Int64?
        /// When it was there first, in nanoseconds since 1970.
        public var since: Int64
        /// Who listened under that name last, and began to at this time, in nanoseconds since 1970.
        public var by: Change.Author
        /// When that was.
        public var opened: Int64
    }

    /// Those that there are, whether somebody listens now or not; the one that is the furthest behind first. Errors:
    /// `damaged` and what else is wrong with the channel.
    public func listeners() throws(CoordinationError) -> [Listener] {
        guard let store = try store(creating: false) else { return [] }
        return try store.checkedRead(Self.listeners)
    }

    static func listeners(in state: ChannelState) -> [Listener] {
        state.listeners.map { name, listener in
            let waiting = state.messages(behind: listener.acknowledged)
            return Listener(
                name: name, acknowledged: listener.acknowledged, waitingCount: waiting.count,
                waitingSince: waiting.first?.time, since: listener.since,
                by: Change.Author(processIdentifier: listener.processIdentifier, purpose: listener.purpose),
                opened: listener.opened)
        }.sorted { ($0.acknowledged, $0.name) < ($1.acknowledged, $1.name) }
    }

    /// Forgets a listener, and what is kept for nobody else. Who listens under that name gets `notFound` behind what
    /// was posted before. False: there is none. Errors: `notPermitted`, `noSpace`, `damaged`.
    @discardableResult
    public func removeListener(named listener: String) throws(CoordinationError) -> Bool {
        guard let store = try store(creating: false) else { return false }
        try store.checkMayWrite("remove listener")
        let place = try store.append(record(.remove(listener))) { $0.listeners[listener] != nil }
        store.wake()
        return place != nil
    }
}

/// One channel, as this member has it: what its log comes to, without what the messages say.
typealias ChannelStore = CompactedLog<ChannelState>

extension CompactedLog<ChannelState> {
    /// Nil where there is none, unless it is to be made.
    static func open(_ member: Member, channel: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        let label = "channels/\(channel)"
        return try open(member, channel, label: label, wakeLabel: label, creating: creating)
    }
}

extension Member {
    /// This member's store of a channel; nil where there is none, unless it is to be made.
    func channel(_ name: String, creating: Bool) throws(CoordinationError) -> ChannelStore? {
        try keep(name, in: channels) { () throws(CoordinationError) in
            try ChannelStore.open(self, channel: name, creating: creating && !isReadOnly)
        }
    }
}

/// How large a channel and what is posted to it can be.
package enum ChannelLimits {
    /// Of a message, in bytes.
    package static let message = 16 << 20
    /// Of a channel, in bytes: what somebody has not acknowledged.
    static let channel = 1 << 30
    /// Of a listener's name, in bytes of UTF-8.
    static let name = 200
}

extension CompactedLog<ChannelState> {
    /// Appends a record, if it is needed by then; else nil. The place behind it, whose sequence is the number of a
    /// message.
    func append(
        _ record: ChannelRecord, if isNeeded: (ChannelState) throws(CoordinationError) -> Bool
    ) throws(CoordinationError) -> LogPosition? {
        var attempt = AppendAttempt()
        defer { attempt.end() }
        return try append(record.encoded(), isControl: record.isControl, &attempt, if: isNeeded) {
            $0.apply(record, at: $1)
        }
    }

    /// A listener that does not acknowledge what it gets fills the channel for all.
    func checkRoom(for size: Int, in state: ChannelState) throws(CoordinationError) {
        guard let (name, listener) = state.slowest, state.size + size > ChannelLimits.channel else { return }
        let oldest = state.messages.first
        throw CoordinationError(
            .limitReached, item: log.name, operation: "post",
            cause: "it holds \(state.size) bytes, and the limit is \(ChannelLimits.channel); the slowest listener is "
                + "'\(name)' (\(listener.purpose), process \(listener.processIdentifier)), which has not acknowledged "
                + "message \(oldest?.number ?? 0), of \(Self.moment(oldest?.time ?? 0)), and those behind it",
            advice: "have it acknowledge what it gets, or remove the listener")
    }

    /// `2026-01-31 10:00:00Z`
    private static func moment(_ nanoseconds: Int64) -> String {
        let time = CalendarTime(secondsSince1970: nanoseconds / 1_000_000_000)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(time.year)-\(two(time.month))-\(two(time.day)) "
            + "\(two(time.hour)):\(two(time.minute)):\(two(time.second))Z"
    }
}

extension GroupChannel {
    /// Whether somebody listens under that name now, in this process or another. System calls: fcntl(F_OFD_GETLK)
    public func isListening(_ listener: String) throws(CoordinationError) -> Bool {
        let member = container.member
        return try HeldByte.isHeld(
            LockRange.listening(to: name, as: listener, key: member.hashKey), member, operation: "ask who listens")
    }

    /// Waits, blocking, until somebody listens under that name. False: the time is over. Errors and system calls: as
    /// those of `awaitAcknowledgement`
    public func awaitListener(_ listener: String, timeout: Duration? = nil) throws(CoordinationError) -> Bool {
        guard let store = try store(creating: true) else { return try isListening(listener) }
        let deadline = Deadline(after: timeout)
        var presence = PresenceCheck()
        while true {
            let (file, offset) = store.mark
            if try isListening(listener) { return true }
            if deadline.isOver { return false }
            try presence.check(container.member, "await listener")
            store.memberTable.awaitWake(on: store.wakeWord, atMost: deadline.remaining) { file.map.load64(offset) != 0 }
            _ = try store.checkedRead { _ in }
        }
    }

    /// Waits, blocking, until a listener is done with a message. False: the time is over (nil has no end), or there is
    /// no such listener. Errors: as those of `GroupListener.next(timeout:)`. System calls: futex(FUTEX_WAIT)
    public func awaitAcknowledgement(
        of number: UInt64, by listener: String, timeout: Duration? = nil
    ) throws(CoordinationError) -> Bool {
        guard let store = try store(creating: false) else { return false }
        let deadline = Deadline(after: timeout)
        var presence = PresenceCheck()
        while true {
            // Before the look, so that what comes during it is seen.
            let (file, offset) = store.mark
            let acknowledged = try store.checkedRead { $0.listeners[listener]?.acknowledged }
            guard let acknowledged else { return false }
            if acknowledged >= number { return true }
            if deadline.isOver { return false }
            try presence.check(container.member, "await acknowledgement")
            store.memberTable.awaitWake(on: store.wakeWord, atMost: deadline.remaining) { file.map.load64(offset) != 0 }
        }
    }
}

extension CoordinationError {
    /// No message was posted to such a channel, and nobody listens to it.
    package static func noSuchChannel(_ name: String, operation: String) -> CoordinationError {
        CoordinationError(
            .notFound, item: printable(Array(name.utf8)), operation: operation,
            cause: "there is no channel of that name",
            advice: "groupctl channels list shows those that there are")
    }

    /// Nobody has listened to a channel under a name, or that listener was removed.
    package static func noSuchListener(_ name: String, of channel: String, operation: String) -> CoordinationError {
        CoordinationError(
            .notFound, item: printable(Array("\(channel)/\(name)".utf8)), operation: operation,
            cause: "there is no listener of that name", advice: "groupctl channels status shows those that there are")
    }
}
