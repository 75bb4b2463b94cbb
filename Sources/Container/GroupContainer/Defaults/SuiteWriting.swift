import GroupLocking
import GroupLog
import GroupSystemCalls

/// The limits of a suite and of what is set in it.
enum SuiteLimits {
    /// The longest key, in bytes of UTF-8.
    static let key = 1_024
    /// The largest value, in bytes.
    static let value = 16 << 20
    /// The largest transaction, in bytes: a transaction is one record.
    static let change = 24 << 20
    /// The largest suite, in bytes.
    static let suite = 1 << 30
}

extension CompactedLog<SuiteState> {
    /// Appends a change regardless of the present state. `writer` is the prefix that `SuiteRecord.prefix` makes for
    /// this process. Returns the position after the record; its sequence number is the generation of what was set.
    func append(_ steps: [SuiteRecord.Step], by writer: [UInt8]) throws(CoordinationError) -> LogPosition {
        var attempt = AppendAttempt()
        defer { attempt.end() }
        while true {
            // Nothing was read, so no read can be outdated.
            if let end = try append(steps, if: SuiteReads(), by: writer, &attempt) { return end }
        }
    }

    /// Appends a change if everything that it was decided upon is still so; else returns nil. A change of another key
    /// does not count: it causes no new decision.
    func append(
        _ steps: [SuiteRecord.Step], if reads: SuiteReads, by writer: [UInt8], _ attempt: inout AppendAttempt
    ) throws(CoordinationError) -> LogPosition? {
        try checkMayWrite("set")
        let body = SuiteRecord.encode(steps, prefix: writer, time: wallNanoseconds())
        let end = try append(body, &attempt) { (state) throws(CoordinationError) in
            if !reads.hold(in: state) { return false }
            try checkSize(steps, state.size)
            return true
        } applying: {
            $0.apply(steps, at: $1)
        }
        if end == nil {
            attempt.noteLoss(by: memberTable.slot ?? 0, in: mark.segment)
        } else {
            attempt.end()
        }
        return end
    }

    private func checkSize(_ steps: [SuiteRecord.Step], _ present: Int) throws(CoordinationError) {
        var size = 0
        for step in steps {
            switch step {
            case .set(let key, let value), .added(let key, _, let value):
                try checkSize(of: value, forKey: key)
                size += SuiteState.size(of: key, value)
            case .remove, .removeAll, .source, .carried: continue
            }
        }
        if size > SuiteLimits.change {
            throw limit("set", "one transaction has \(size) bytes, and the limit is \(SuiteLimits.change)")
        }
        if size > 0, present + size > SuiteLimits.suite {
            throw limit("set", "the suite holds \(present) bytes, and the limit is \(SuiteLimits.suite)")
        }
    }

    private func checkSize(of value: DefaultsValue, forKey key: String) throws(CoordinationError) {
        if key.utf8.count > SuiteLimits.key {
            throw limit("set", "a key has \(key.utf8.count) bytes, and the limit is \(SuiteLimits.key)")
        }
        let count = value.roughSize
        if count > SuiteLimits.value {
            throw limit("set", "the value of '\(key)' has \(count) bytes, and the limit is \(SuiteLimits.value)")
        }
        if value.depth > DefaultsValue.maximumDepth {
            throw limit("set", "the value of '\(key)' is nested more than \(DefaultsValue.maximumDepth) levels deep")
        }
    }

    private func limit(_ operation: String, _ reason: String) -> CoordinationError {
        CoordinationError(.limitReached, operation: operation, item: log.name, reason: reason)
    }
}
