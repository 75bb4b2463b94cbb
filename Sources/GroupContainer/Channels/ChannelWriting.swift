import SystemCalls

extension ChannelStore {
    /// Of a message, in bytes.
    static let largestMessage = 16 << 20
    /// Of a channel, in bytes: what somebody has not acknowledged.
    static let largestChannel = 1 << 30
    /// Of a listener's name, in bytes of UTF-8.
    static let largestName = 200

    /// Appends a record exactly at the end of what was read, if it is needed by then; else nil. The place behind it,
    /// whose sequence is the number of a message. Wait-free but for the time that others' turns take.
    func append(
        _ record: ChannelRecord, if isNeeded: (ChannelState) throws(CoordinationError) -> Bool
    ) throws(CoordinationError) -> LogPosition? {
        let body = record.encoded()
        let slot = roster.slot ?? 0
        var attempt = LogAttempt()
        defer { attempt.end() }
        while true {
            enum Outcome { case appended(LogPosition), unneeded, lost(LogFile), notNow(LogFile) }
            let isRetry = attempt.losses > 0
            let outcome = try fold.withLock { (fold) throws(CoordinationError) -> Outcome in
                if attempt.isOthersTurn(in: fold.file) { return .notNow(fold.file) }
                try catchUp(&fold, waits: isRetry) { attempt.noteLag(slot: slot, in: $0) }
                if try !isNeeded(fold.state) { return .unneeded }
                guard let place = try append(body, isControl: record.isControl, behind: &fold) else {
                    return .lost(fold.file)
                }
                // What was appended is applied without being read again.
                fold.state.apply(record, at: place.sequence)
                if place.file != fold.position.file, let file = try log.file(place.file) { fold.file = file }
                fold.position = place
                return .appended(place)
            }
            switch outcome {
            case .appended(let place): return place
            case .unneeded: return nil
            case .lost(let file): attempt.noteLoss(slot: slot, in: file)
            case .notNow(let file): attempt.letOthersPass(in: file)
            }
        }
    }

    /// Nil: something stands there that was not read. Where the file is full, what was read says what the next one
    /// begins with.
    private func append(
        _ body: [UInt8], isControl: Bool, behind fold: inout Fold
    ) throws(CoordinationError) -> LogPosition? {
        try log.append(body, isControl: isControl, exactlyAt: fold.position) {
            (file, end, needed) throws(CoordinationError) in
            try catchUp(&fold, waits: true)
            if fold.position.file != file.header.number { return nil }
            return try ChannelCompaction.carriage(of: fold.state, in: file, before: end, needed: needed)
        }
    }

    /// Whoever listens looks again.
    func wake() { roster.wake(wakeWord) }

    func synchronize(through place: LogPosition) throws(CoordinationError) {
        try log.synchronize(through: place, togetherBy: wakeWord, roster)
    }

    // MARK: Limits

    func checkMayWrite(_ operation: String) throws(CoordinationError) {
        try checkNotForked(operation)
        if isReadOnly {
            throw CoordinationError(
                .notPermitted, item: log.name, operation: operation, cause: "the container can only be read here")
        }
    }

    /// Whoever does not acknowledge what it gets fills the channel for all.
    func checkRoom(for size: Int, in state: ChannelState) throws(CoordinationError) {
        guard let (name, listener) = state.slowest, state.size + size > Self.largestChannel else { return }
        let oldest = state.messages.first
        throw CoordinationError(
            .limitReached, item: log.name, operation: "post",
            cause: "it holds \(state.size) bytes, and the limit is \(Self.largestChannel); the slowest listener is "
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
