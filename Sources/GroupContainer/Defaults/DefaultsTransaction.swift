import GroupSystemCalls

/// Several keys, read and set together: see `GroupDefaults.transaction`.
public struct DefaultsTransaction {
    private let snapshot: SuiteState
    private let fallbacks: [String: DefaultsValue]
    private(set) var reads = SuiteReads()
    private var written: [String: DefaultsValue?] = [:]
    private var isCleared = false

    init(_ snapshot: SuiteState, _ fallbacks: [String: DefaultsValue]) {
        (self.snapshot, self.fallbacks) = (snapshot, fallbacks)
    }

    /// What stands under a key, as this transaction has left it; else what was registered for it.
    public mutating func value(forKey key: String) -> DefaultsValue? { stored(forKey: key) ?? fallbacks[key] }

    /// The same without what was registered.
    public mutating func stored(forKey key: String) -> DefaultsValue? {
        if let value = written[key] { return value }
        if isCleared { return nil }
        reads.keys[key] = snapshot.generation(of: key)
        return snapshot.entries[key]?.value
    }

    /// The generation of what stands under a key; 0 for nothing.
    public mutating func generation(ofKey key: String) -> UInt64 {
        reads.keys[key] = snapshot.generation(of: key)
        return snapshot.generation(of: key)
    }

    /// Everything that is set. It is decided again if any key is set meanwhile.
    public mutating func dictionaryRepresentation() -> [String: DefaultsValue] {
        reads.suite = snapshot.generation
        var all = isCleared ? [:] : snapshot.entries.mapValues(\.value)
        for (key, value) in written { all[key] = value }
        return all
    }

    /// Sets a value; nil removes it.
    public mutating func set(_ value: DefaultsValue?, forKey key: String) { written[key] = .some(value) }

    /// Removes every key that is set by then, also one that is set meanwhile.
    public mutating func removeAll() { (written, isCleared) = ([:], true) }

    /// In the order of the keys, so that the same transaction is the same record.
    var steps: [SuiteRecord.Step] {
        let steps = written.sorted { $0.key < $1.key }.map { key, value in
            value.map { SuiteRecord.Step.set(key, $0) } ?? .remove(key)
        }
        return isCleared ? [.removeAll] + steps : steps
    }
}

extension GroupDefaults {
    /// Reads and sets several keys as one change: others see all of it or nothing. `body` may run more than once, where
    /// a key that it read is set by others meanwhile; one that loses again and again gets its turn, in which the others
    /// wait for it, at first for up to 20 ms, then longer. What it throws is thrown, and nothing is changed. It must
    /// not change the suite in other ways. Errors: as those of `set`.
    @discardableResult
    public func transaction<Answer>(
        _ durability: Durability = .relaxed, _ body: (inout DefaultsTransaction) throws -> Answer
    ) throws -> Answer {
        let outcome = try transact(durability, if: { $0.isSuccess }) { transaction in
            Result { () throws(any Error) in try body(&transaction) }
        }
        return try outcome.get()
    }

    /// Where `commits` says so of what `body` gave.
    func transact<Outcome>(
        _ durability: Durability, if commits: (Outcome) -> Bool, _ body: (inout DefaultsTransaction) -> Outcome
    ) throws(CoordinationError) -> Outcome {
        let store = try writableStore("set")
        let fallbacks = fallbacks.withLock { $0 }
        var attempt = AppendAttempt()
        defer { attempt.end() }
        while true {
            let (outcome, steps, reads) = Self.run(body, on: try store.read(for: &attempt) { $0 }, fallbacks)
            if steps.isEmpty || !commits(outcome) { return outcome }
            guard let place = try store.append(steps, if: reads, by: writer, &attempt) else { continue }
            attempt.end()
            if durability == .durable { try store.synchronize(through: place) }
            return outcome
        }
    }

    /// The snapshot is let go of before anything is changed, so that it need not be copied.
    private static func run<Answer>(
        _ body: (inout DefaultsTransaction) -> Answer, on snapshot: consuming SuiteState,
        _ fallbacks: [String: DefaultsValue]
    ) -> (Answer, [SuiteRecord.Step], SuiteReads) {
        var transaction = DefaultsTransaction(snapshot, fallbacks)
        let answer = body(&transaction)
        return (answer, transaction.steps, transaction.reads)
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { return true }
        return false
    }
}

/// What a change of a suite was decided upon: it holds only as long as that is so.
struct SuiteReads: Sendable {
    /// Keys that were read, and which change had set them.
    var keys: [String: UInt64] = [:]
    /// Of the whole suite, if all of it was read.
    var suite: UInt64?
    private var only: (key: String, generation: UInt64)?
    /// The suite was at this generation: as long as it is, nothing has changed.
    private var moment: UInt64?

    init() {}

    /// One key: without a dictionary around it.
    init(key: String, generation: UInt64, at moment: UInt64? = nil) {
        only = (key, generation)
        self.moment = moment
    }

    func hold(in state: SuiteState) -> Bool {
        if moment == state.generation { return true }
        if let suite, suite != state.generation { return false }
        if let only, only.generation != state.generation(of: only.key) { return false }
        return keys.allSatisfy { state.generation(of: $0.key) == $0.value }
    }
}
