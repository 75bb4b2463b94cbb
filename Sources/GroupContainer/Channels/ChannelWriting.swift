import GroupSystemCalls

/// How large a channel and what is posted to it can be.
package enum ChannelLimits {
    /// Of a message, in bytes.
    package static let message = 16 << 20
    /// Of a channel, in bytes: what somebody has not acknowledged.
    static let channel = 1 << 30
    /// Of a listener's name, in bytes of UTF-8.
    static let name = 200
}

extension FoldedLog<ChannelState> {
    /// Appends a record, if it is needed by then; else nil. The place behind it, whose sequence is the number of a
    /// message.
    func append(
        _ record: ChannelRecord, if isNeeded: (ChannelState) throws(CoordinationError) -> Bool
    ) throws(CoordinationError) -> LogPosition? {
        var attempt = LogAttempt()
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
