import SystemCalls

extension SuiteStore {
    /// What a change was decided upon: it holds only as long as that is so.
    struct Reads: Sendable {
        /// Keys that were read, and which change had set them.
        var keys: [String: UInt64] = [:]
        /// Of the whole suite, if all of it was read.
        var suite: UInt64?
        private var only: (key: String, generation: UInt64)?

        init() {}

        /// One key: without a dictionary around it.
        init(key: String, generation: UInt64) { only = (key, generation) }

        func hold(in state: SuiteState) -> Bool {
            if let suite, suite != state.generation { return false }
            if let only, only.generation != state.generation(of: only.key) { return false }
            return keys.allSatisfy { state.generation(of: $0.key) == $0.value }
        }
    }

    typealias Attempt = LogAttempt

    /// Appends whatever stands there by now. `writer` is what `DefaultsRecord.prefix` makes of who it is. The place behind
    /// it, whose sequence is the generation of what was set.
    func append(_ steps: [DefaultsRecord.Step], by writer: [UInt8]) throws(CoordinationError) -> LogPosition {
        var attempt = Attempt()
        defer { attempt.end() }
        while true {
            // Nothing was read, so nothing can have changed.
            if let place = try append(steps, if: Reads(), by: writer, &attempt) { return place }
        }
    }

    /// Appends if what it was decided upon is so still; else nil. A change of another key does not matter: nothing is
    /// decided again for that. Wait-free but for the time that others' turns take.
    func append(
        _ steps: [DefaultsRecord.Step], if reads: Reads, by writer: [UInt8], _ attempt: inout Attempt
    ) throws(CoordinationError) -> LogPosition? {
        try checkMayWrite()
        let body = DefaultsRecord.encode(steps, prefix: writer, time: wallNanoseconds())
        let slot = roster.slot ?? 0
        while true {
            enum Outcome { case appended(LogPosition), conflict(LogFile), lost(LogFile), notNow(LogFile) }
            let isRetry = attempt.losses > 0
            let outcome = try fold.withLock { (fold) throws(CoordinationError) -> Outcome in
                if attempt.isOthersTurn(in: fold.file) { return .notNow(fold.file) }
                try catchUp(&fold, waits: isRetry) { attempt.noteLag(slot: slot, in: $0) }
                if !reads.hold(in: fold.state) { return .conflict(fold.file) }
                try checkSize(steps, fold.state.size)
                guard let place = try append(body, behind: &fold) else { return .lost(fold.file) }
                try take(steps, at: place, &fold)
                return .appended(place)
            }
            switch outcome {
            case .appended(let place):
                attempt.end()
                roster.wake(wakeWord)
                return place
            case .conflict(let file):
                attempt.noteLoss(slot: slot, in: file)
                return nil
            case .lost(let file): attempt.noteLoss(slot: slot, in: file)
            case .notNow(let file): attempt.letOthersPass(in: file)
            }
        }
    }

    /// Nil: something stands there that was not read. Where the file is full, what was read is what the next one begins
    /// with.
    private func append(_ body: [UInt8], behind fold: inout Fold) throws(CoordinationError) -> LogPosition? {
        try log.append(body, exactlyAt: fold.position) { (file, end, needed) throws(CoordinationError) in
            try catchUp(&fold, waits: true)
            if fold.position.file != file.header.number { return nil }
            return SuiteCompaction.carriage(of: fold.state, needed: needed, after: file)
        }
    }

    /// The state to decide upon. As long as the attempt is behind what others set, it asks for its turn.
    func read<Answer>(
        _ attempt: inout Attempt, _ look: (SuiteState) -> Answer
    ) throws(CoordinationError) -> Answer {
        try checkNotForked("read")
        let slot = roster.slot ?? 0
        return try fold.withLock { (fold) throws(CoordinationError) -> Answer in
            try catchUp(&fold, waits: false) { attempt.noteLag(slot: slot, in: $0) }
            return look(fold.state)
        }
    }

    /// What was appended is applied without being read again.
    private func take(
        _ steps: [DefaultsRecord.Step], at place: LogPosition, _ fold: inout Fold
    ) throws(CoordinationError) {
        fold.state.apply(steps, at: place.sequence)
        if place.file != fold.position.file, let file = try log.file(place.file) { fold.file = file }
        fold.position = place
    }

    func synchronize(through place: LogPosition) throws(CoordinationError) {
        try log.synchronize(through: place, togetherBy: wakeWord, roster)
    }

    // MARK: Limits

    /// Of a key, in bytes of UTF-8.
    static let largestKey = 1_024
    /// Of a value, in bytes.
    static let largestValue = 16 << 20
    /// Of a suite, in bytes.
    static let largestSuite = 1 << 30

    private func checkMayWrite() throws(CoordinationError) {
        try checkNotForked("set")
        if isReadOnly {
            throw CoordinationError(
                .notPermitted, item: log.name, operation: "set", cause: "the container can only be read here")
        }
    }

    private func checkSize(_ steps: [DefaultsRecord.Step], _ present: Int) throws(CoordinationError) {
        var size = 0
        for step in steps {
            guard case .set(let key, let value) = step else { continue }
            if key.utf8.count > Self.largestKey {
                throw limit("set", "a key of \(key.utf8.count) bytes is longer than \(Self.largestKey)")
            }
            let count = value.roughSize
            if count > Self.largestValue {
                throw limit("set '\(key)'", "a value of \(count) bytes is larger than \(Self.largestValue)")
            }
            if value.depth > DefaultsValue.deepest {
                throw limit("set '\(key)'", "its value is nested more than \(DefaultsValue.deepest) levels deep")
            }
            size += SuiteState.size(of: key, value)
        }
        if size > Self.largestChange {
            throw limit("set", "\(size) bytes in one transaction are more than \(Self.largestChange)")
        }
        if size > 0, present + size > Self.largestSuite {
            throw limit("set", "the suite holds \(present) bytes, and the limit is \(Self.largestSuite)")
        }
    }

    /// Of a transaction, in bytes: it is one record.
    static let largestChange = 24 << 20

    private func limit(_ operation: String, _ cause: String) -> CoordinationError {
        CoordinationError(.limitReached, item: log.name, operation: operation, cause: cause)
    }
}
