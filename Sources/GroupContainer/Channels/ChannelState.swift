// Imports nothing: no file, clock or process.

/// What a channel comes to, by the records that were read: which messages somebody still waits for, and how far each
/// listener is. The fold of its log, without what the messages say.
struct ChannelState: LogState, Equatable {
    struct Message: Equatable, Sendable {
        var number: UInt64
        /// About as many bytes as it takes.
        var size: Int
        /// When it was posted, in nanoseconds since 1970; 0 where only a newer version knows.
        var time: Int64
    }

    struct Listener: Equatable, Sendable {
        /// It is done with all messages up to this one.
        var acknowledged: UInt64
        /// When it was first there, and when it came the last time, in nanoseconds since 1970.
        var since: Int64
        var opened: Int64
        /// Who came the last time.
        var processIdentifier: Int32
        var purpose: String
    }

    /// Ascending.
    private(set) var messages: ArraySlice<Message> = []
    /// Of those.
    private(set) var size = 0
    private(set) var listeners: [String: Listener] = [:]
    /// Control bodies that only a newer version understands, in their order: they are carried on.
    private(set) var unknown: [[UInt8]] = []
    /// The number of the last message that was posted.
    private(set) var last: UInt64

    /// Where nobody listens, the newest messages are kept for who may come: so many, and of so many bytes, but the last
    /// one always.
    static let unheardCount = 1_000
    static let unheardSize = 1 << 20

    /// Before the first record of a file: so many messages were posted before it.
    init(last: UInt64 = 0) { self.last = last }

    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool) {
        if let record = try? ChannelRecord(decoding: body) {
            apply(record, at: sequence)
        } else {
            keep(body, at: sequence, isControl: isControl)
        }
    }

    /// A record with the sequence that the log has behind it. Constant, but for acknowledgements: linear in the
    /// listeners.
    mutating func apply(_ record: ChannelRecord, at sequence: UInt64) {
        last = max(last, sequence)
        switch record.step {
        case .post(let content): note(sequence, record, content?.count ?? 0)
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

    /// One that this version does not understand. Where it is counted, it is a message of a new kind.
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

    /// Who listened before has no more to wait for them.
    private mutating func prune() {
        let done = listeners.values.map(\.acknowledged).min()
        while let first = messages.first {
            if let done {
                if first.number > done { return }
            } else if messages.count <= Self.unheardCount && size <= Self.unheardSize || messages.count == 1 {
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

    /// The messages behind a number. Logarithmic.
    func messages(behind number: UInt64) -> ArraySlice<Message> {
        var (low, high) = (messages.startIndex, messages.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if messages[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return messages[low...]
    }

    /// Who is the furthest behind. Linear in the listeners.
    var slowest: (name: String, listener: Listener)? {
        listeners.min { ($0.value.acknowledged, $0.key) < ($1.value.acknowledged, $1.key) }
            .map { ($0.key, $0.value) }
    }

    // MARK: Compacting

    /// The bodies of records that make the same state but for the messages, which stand behind them.
    func carriedBodies() -> [[UInt8]] {
        unknown
            + listeners.sorted { $0.key < $1.key }.map { name, listener in
                ChannelRecord(
                    processIdentifier: listener.processIdentifier, time: listener.opened, purpose: listener.purpose,
                    step: .carriedListener(name, acknowledged: listener.acknowledged, since: listener.since)
                ).encoded()
            }
    }

    /// What messages say is not kept in memory.
    var carriesRecords: Bool { !messages.isEmpty }

    static let damage = (
        code: Diagnostic.Code.channelDamaged, meaning: "who misses a message of these is told so"
    )

    /// What a record of the log is carried as, if it is a message that is still kept.
    func carried(_ body: [UInt8], at sequence: UInt64, isControl: Bool) -> [UInt8]? {
        guard let oldest = messages.first?.number, isControl || sequence >= oldest else { return nil }
        guard var record = try? ChannelRecord(decoding: body) else {
            if isControl { return nil }
            return ChannelRecord(
                processIdentifier: 0, time: 0, purpose: "", step: .carriedUnknown(number: sequence, body)
            ).encoded()
        }
        switch record.step {
        case .post(let content):
            record.step = .carriedPost(number: sequence, content)
            return record.encoded()
        case .carriedPost(let number, _), .carriedUnknown(let number, _): return number >= oldest ? body : nil
        default: return nil
        }
    }
}
