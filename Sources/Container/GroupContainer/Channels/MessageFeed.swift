import GroupLog

/// The position of a listener, which reads the channel's log by itself. Messages that the listener has not read yet are
/// carried from segment to segment, so that it loses none: it then begins with the last segment again, and skips the
/// messages that it has delivered. For use by one thread.
struct MessageFeed: Sendable {
    let store: ChannelStore
    /// Nil for a look at what is kept.
    private let listener: String?
    private var position: LogPosition
    /// The number up to which all messages were delivered or acknowledged.
    private var given: UInt64
    /// The message that was read after a gap, and is returned by the call after the error.
    private var held: GroupMessage?

    /// Begins after the messages that the listener has acknowledged.
    init(_ store: ChannelStore, listener: String) throws(CoordinationError) {
        self.store = store
        self.listener = listener
        // In this order: a message that was not acknowledged at the first read is in every segment from then on.
        given = try store.checkedRead { $0.listeners[listener]?.acknowledged ?? $0.last }
        position = .start(of: try translating(store.log.last()).header)
    }

    /// Begins with the oldest message that is kept, or the one after a number.
    init(_ store: ChannelStore, behind number: UInt64) throws(CoordinationError) {
        self.store = store
        listener = nil
        given = max(number, try store.checkedRead { $0.messages.first.map { $0.number - 1 } ?? $0.last })
        position = .start(of: try translating(store.log.last()).header)
    }

    /// Whether there may be more messages.
    var hasMore: Bool { held != nil || store.log.hasMore(behind: position) }

    /// Skips the messages up to a number, which were acknowledged.
    mutating func pass(_ number: UInt64) {
        given = max(given, number)
        if let message = held, message.number <= given { held = nil }
    }

    /// Returns the next message, or nil at the end. Errors: `damaged` where messages are gone, once; `notFound` where
    /// the listener was removed.
    mutating func next() throws(CoordinationError) -> GroupMessage? {
        while true {
            if let message = held {
                held = nil
                given = message.number
                return message
            }
            let step: SegmentedLog.Step
            do {
                step = try store.log.knownStep(behind: position)
            } catch {
                position = try translating(store.positionBehindDamage(position, error))
                continue
            }
            switch step {
            case .entry(let entry) where entry.isControl && entry.position.segment != position.segment:
                // The records that this segment begins with were read in the segments before.
                guard let segment = try translating(store.log.segment(entry.position.segment)) else { continue }
                position = segment.positionAfterPreamble
            case .entry(let entry):
                position = entry.position
                try take(entry)
            case .gap(let next): position = next
            case .end: return nil
            case .lost:
                position = .start(of: try translating(store.log.last()).header)
                try checkIsThere()
            }
        }
    }

    private mutating func take(_ entry: LogEntry) throws(CoordinationError) {
        let sequence = entry.position.sequence
        if !entry.isControl && sequence <= given { return }
        guard let record = try? ChannelRecord(decoding: entry.body) else {
            // A record of a kind that only a newer version understands.
            if !entry.isControl { try move(to: sequence, nil) }
            return
        }
        switch record.step {
        case .post(let content), .relayedPost(_, let content):
            try move(to: sequence, message(sequence, content, record))
        case .carriedPost(let number, let content): try move(to: number, message(number, content, record))
        case .carriedUnknown(let number, _): try move(to: number, nil)
        // The listener may have been removed before, and registered again.
        case .remove(let removed): if removed == listener { try checkIsThere() }
        case .listen, .acknowledge, .carriedListener, .relayed: break
        }
    }

    private func message(_ number: UInt64, _ content: [UInt8]?, _ record: ChannelRecord) -> GroupMessage {
        GroupMessage(
            number: number, bytes: content, timeNanoseconds: record.time,
            author: Change.Author(processIdentifier: record.processIdentifier, purpose: record.purpose))
    }

    /// Moves to a message. A registered listener gets every number: where a number is missing, its message was damaged.
    private mutating func move(to number: UInt64, _ message: GroupMessage?) throws(CoordinationError) {
        if number <= given { return }
        let first = given + 1
        held = message
        given = message == nil ? number : number - 1
        if number == first { return }
        throw CoordinationError(
            .damaged, operation: "listen", item: store.log.name,
            reason: "messages from \(first) up to \(number - 1) may be lost",
            remedy: .init(
                .checkContainer,
                "go on with the messages that follow, which are whole, and check the container for damage"))
    }

    private func checkIsThere() throws(CoordinationError) {
        guard let listener else { return }
        if try store.checkedRead({ $0.listeners[listener] != nil }) { return }
        throw CoordinationError(
            .notFound, operation: "listen", item: "\(store.name)/\(listener)", reason: "the listener was removed",
            remedy: .listenAgain)
    }
}
