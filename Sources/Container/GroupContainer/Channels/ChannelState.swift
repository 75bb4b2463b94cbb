// Imports nothing: no file, clock or process.

/// The state of a channel, by the records that were read: the messages that a listener still waits for, and how far
/// each listener is. The fold of the channel's log, without the content of the messages.
struct ChannelState: LogState, Equatable {
    struct Message: Equatable, Sendable {
        var number: UInt64
        /// The approximate size, in bytes.
        var size: Int
        /// The time of the post, in nanoseconds since 1970; 0 where only a newer version can read it.
        var time: Int64
    }

    struct Listener: Equatable, Sendable {
        /// The number up to which the listener has acknowledged all messages.
        var acknowledged: UInt64
        /// The times when the listener first and last began to listen, in nanoseconds since 1970.
        var since: Int64
        var opened: Int64
        /// The process that began to listen last.
        var processIdentifier: Int32
        var purpose: String
    }

    /// The messages that are kept, in ascending order of their numbers.
    private(set) var messages: ArraySlice<Message> = []
    /// The approximate size of these messages, in bytes.
    private(set) var size = 0
    private(set) var listeners: [String: Listener] = [:]
    /// The control bodies that only a newer version understands, in their order. Compaction carries them into the next
    /// segment.
    private(set) var unknown: [[UInt8]] = []
    /// The number of the last message that was posted.
    private(set) var last: UInt64
    /// The number of the last message whose position was decided elsewhere; nil where this channel decides itself.
    private(set) var relayed: UInt64?

    /// Where there is no listener, the newest messages are kept for a future one: at most this many, of at most this
    /// many bytes, but always the last one.
    static let unreadCount = 1_000
    static let unreadSize = 1 << 20

    /// Creates the state before the first record of a segment: `last` messages were posted before it.
    init(last: UInt64 = 0) { self.last = last }

    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool) {
        if let record = try? ChannelRecord(decoding: body) {
            apply(record, at: sequence)
        } else {
            keep(body, at: sequence, isControl: isControl)
        }
    }

    /// Applies a record, with the sequence number of the log after it. Constant time, except for a record of a
    /// listener: linear in the listeners.
    mutating func apply(_ record: ChannelRecord, at sequence: UInt64) {
        last = max(last, sequence)
        switch record.step {
        case .post(let content): note(sequence, record, content?.count ?? 0)
        case .relayedPost(let number, let content):
            relayed = max(relayed ?? 0, number)
            note(sequence, record, content?.count ?? 0)
        case .relayed(let number): relayed = number
        case .carriedPost(let number, let content): note(number, record, content?.count ?? 0)
        case .carriedUnknown(let number, let body): note(number, bodyCount: body.count)
        case .listen(let name, let fromOldest):
            var listener =
                listeners[name]
                ?? Listener(
                    acknowledged: fromOldest ? (messages.first.map { $0.number - 1 } ?? sequence) : sequence,
                    since: record.time, opened: 0, processIdentifier: 0, purpose: "")
            (listener.opened, listener.processIdentifier) = (record.time, record.processIdentifier)
            listener.purpose = record.purpose
            listeners[name] = listener
            prune()
        case .acknowledge(let name, let number):
            guard let listener = listeners[name] else { return }
            listeners[name]?.acknowledged = max(listener.acknowledged, min(number, sequence))
            prune()
        case .remove(let name):
            listeners[name] = nil
            prune()
        case .carriedListener(let name, let acknowledged, let since):
            listeners[name] = Listener(
                acknowledged: min(acknowledged, sequence), since: since, opened: record.time,
                processIdentifier: record.processIdentifier, purpose: record.purpose)
        }
    }

    /// Keeps a body that this version does not understand. Where the log counts it, it is a message of a new kind.
    mutating func keep(_ body: [UInt8], at sequence: UInt64, isControl: Bool) {
        last = max(last, sequence)
        if isControl { unknown.append(body) } else { note(sequence, bodyCount: body.count) }
    }

    private mutating func note(_ number: UInt64, _ record: ChannelRecord, _ count: Int) {
        note(Message(number: number, size: Self.size(count, record.purpose), time: record.time))
    }

    private mutating func note(_ number: UInt64, bodyCount: Int) {
        note(Message(number: number, size: Self.size(bodyCount, ""), time: 0))
    }

    private mutating func note(_ message: Message) {
        guard message.number > messages.last?.number ?? 0 else { return }
        messages.append(message)
        size += message.size
        if listeners.isEmpty { prune() }
    }

    /// Drops the messages that all listeners have acknowledged.
    private mutating func prune() {
        let done = listeners.values.map(\.acknowledged).min()
        while let first = messages.first {
            if let done {
                if first.number > done { return }
            } else if messages.count <= Self.unreadCount && size <= Self.unreadSize || messages.count == 1 {
                return
            }
            size -= first.size
            messages = messages.dropFirst()
        }
    }

    static func size(_ count: Int, _ purpose: String) -> Int {
        count + purpose.utf8.count + ChannelRecord.overhead
    }

    // MARK: Questions

    /// Returns the messages after a number. Logarithmic.
    func messages(behind number: UInt64) -> ArraySlice<Message> {
        var (low, high) = (messages.startIndex, messages.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if messages[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return messages[low...]
    }

    /// The listener that is the furthest behind. Linear in the listeners.
    var slowest: (name: String, listener: Listener)? {
        listeners.min { ($0.value.acknowledged, $0.key) < ($1.value.acknowledged, $1.key) }
            .map { ($0.key, $0.value) }
    }

    // MARK: Compacting

    /// Returns the bodies of records that make the same state except for the messages, whose records come after them.
    func carriedBodies() -> [[UInt8]] {
        unknown
            + (relayed.map { number in
                [ChannelRecord(processIdentifier: 0, time: 0, purpose: "", step: .relayed(after: number)).encoded()]
            } ?? [])
            + listeners.sorted { $0.key < $1.key }.map { name, listener in
                ChannelRecord(
                    processIdentifier: listener.processIdentifier, time: listener.opened, purpose: listener.purpose,
                    step: .carriedListener(name, acknowledged: listener.acknowledged, since: listener.since)
                ).encoded()
            }
    }

    /// Whether compaction has to read the log again: the content of messages is not kept in memory.
    var carriesRecords: Bool { !messages.isEmpty }

    static let damage = (
        code: Diagnostic.Code.channelDamaged, meaning: "a listener that misses a message because of that gets an error"
    )

    /// Returns the carried form of a record of the log, if the record is a message that is still kept.
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]? {
        guard let oldest = messages.first?.number, isControl || sequence >= oldest else { return nil }
        guard var record = try? ChannelRecord(decoding: body) else {
            if isControl { return nil }
            return ChannelRecord(
                processIdentifier: 0, time: 0, purpose: "", step: .carriedUnknown(number: sequence, body)
            ).encoded()
        }
        switch record.step {
        case .post(let content), .relayedPost(_, let content):
            record.step = .carriedPost(number: sequence, content)
            return record.encoded()
        case .carriedPost(let number, _), .carriedUnknown(let number, _): return number >= oldest ? body : nil
        case .listen, .acknowledge, .remove, .carriedListener, .relayed: return nil
        }
    }
}
