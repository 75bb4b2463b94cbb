import SystemCalls

/// When a file of a channel's log is full, the next one begins with its listeners, their places, and the messages that
/// one of them has not acknowledged. See `SuiteCompaction`.
enum ChannelCompaction {
    /// What the next file begins with, by what is in the file. Linear in it.
    static func carriage(
        of file: LogFile, before end: Int, needed: Int, _ diagnostics: DiagnosticDesk
    ) throws(CoordinationError) -> LogCarriage {
        var state = ChannelState(last: file.header.base)
        let broken = try file.forEachCommitted(before: end) { body, sequence, isControl in
            state.apply(body, at: sequence, isControl: isControl)
        }
        if broken > 0 {
            diagnostics.tell(
                .channelDamaged, item: file.name, count: broken,
                "records that do not fit their checksums were left out; who misses a message of these is told so")
        }
        return try carriage(of: state, in: file, before: end, needed: needed)
    }

    /// The same by what was read of it. A member does not keep what messages say, so they are read again here.
    static func carriage(
        of state: ChannelState, in file: LogFile, before end: Int, needed: Int
    ) throws(CoordinationError) -> LogCarriage {
        var bodies = state.carriedListeners()
        if !state.messages.isEmpty {
            _ = try file.forEachCommitted(before: end) { body, sequence, isControl in
                if let body = state.carried(body, at: sequence, isControl: isControl) { bodies.append(body) }
            }
        }
        let capacity = SuiteCompaction.capacity(holding: LogCarriage.size(of: bodies), needed: needed, after: file)
        return LogCarriage(bodies: bodies, capacity: capacity)
    }
}

extension ChannelState {
    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool) {
        if let record = try? ChannelRecord(decoding: body) {
            apply(record, at: sequence)
        } else {
            keep(body, at: sequence, isControl: isControl)
        }
    }
}
