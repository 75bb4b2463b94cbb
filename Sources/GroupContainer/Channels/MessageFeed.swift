/// Where a listener stands: it reads the channel's log by itself. What it is slow to read is carried from file to file,
/// so it loses nothing; then it begins with the last one again, and passes over what it has given. Of one thread.
struct MessageFeed: Sendable {
    let store: ChannelStore
    private let listener: String
    private var position: LogPosition
    /// All up to this one were given, or acknowledged.
    private var given: UInt64
    /// Read already, behind an error.
    private var held: GroupMessage?

    /// Behind what it has acknowledged.
    init(_ store: ChannelStore, listener: String) throws(CoordinationError) {
        (self.store, self.listener) = (store, listener)
        // In this order: what was not acknowledged by then is in every file from then on.
        given = try store.checkedRead { $0.listeners[listener]?.acknowledged ?? $0.last }
        position = .start(of: try store.log.last().header)
    }

    /// Whether there may be more.
    var hasMore: Bool { held != nil || store.log.hasMore(behind: position) }

    /// What was acknowledged is not given any more.
    mutating func pass(_ number: UInt64) {
        given = max(given, number)
        if let message = held, message.number <= given { held = nil }
    }

    /// The next message, or nil at the end. Errors: `damaged` where messages are gone, once; `notFound` where the
    /// listener was removed.
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
                position = try store.placeBehindDamage(position, error)
                continue
            }
            switch step {
            case .entry(let entry) where entry.isControl && entry.position.file != position.file:
                // It has read all that this file begins with.
                guard let file = try store.log.file(entry.position.file) else { continue }
                position = file.placeBehindCarried
            case .entry(let entry):
                position = entry.position
                try take(entry)
            case .gap(let place): position = place
            case .end: return nil
            case .lost:
                position = .start(of: try store.log.last().header)
                try checkIsThere()
            }
        }
    }

    private mutating func take(_ entry: LogEntry) throws(CoordinationError) {
        let sequence = entry.position.sequence
        if !entry.isControl && sequence <= given { return }
        guard let record = try? ChannelRecord(decoding: entry.body) else {
            // Of a kind that only a newer version understands.
            if !entry.isControl { try move(to: sequence, nil) }
            return
        }
        switch record.step {
        case .post(let content): try move(to: sequence, message(sequence, content, record))
        case .carriedPost(let number, let content): try move(to: number, message(number, content, record))
        case .carriedUnknown(let number, _): try move(to: number, nil)
        // It may have been removed before, and have come again.
        case .remove(listener): try checkIsThere()
        default: break
        }
    }

    private func message(_ number: UInt64, _ content: [UInt8]?, _ record: ChannelRecord) -> GroupMessage {
        GroupMessage(
            number: number, bytes: content, time: record.time,
            by: Change.Author(processIdentifier: record.processIdentifier, purpose: record.purpose))
    }

    /// A registered listener gets every number: where a number is missing, its message was damaged.
    private mutating func move(to number: UInt64, _ message: GroupMessage?) throws(CoordinationError) {
        if number <= given { return }
        let first = given + 1
        held = message
        given = message == nil ? number : number - 1
        if number == first { return }
        throw CoordinationError(
            .damaged, item: store.log.name, operation: "listen",
            cause: "the messages from \(first) up to \(number - 1) are gone, as far as there were any",
            advice: "go on: what was posted behind them is whole; groupctl doctor looks at the rest")
    }

    private func checkIsThere() throws(CoordinationError) {
        if try store.checkedRead({ $0.listeners[listener] != nil }) { return }
        throw CoordinationError(
            .notFound, item: "\(store.name)/\(listener)", operation: "listen", cause: "the listener was removed",
            advice: "listen anew, and it begins anew")
    }
}
