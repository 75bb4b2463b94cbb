import GroupLog
import GroupSystemCalls

/// Several keys that are read and set together: see `GroupDefaults.transaction`.
public struct DefaultsTransaction {
    private let snapshot: SuiteState
    private let fallbacks: [String: DefaultsValue]
    private(set) var reads = SuiteReads()
    private var written: [String: DefaultsValue?] = [:]
    /// The numbers that were added to keys which are written in no other way.
    private var added: [String: Int64] = [:]
    private var isCleared = false

    init(_ snapshot: SuiteState, _ fallbacks: [String: DefaultsValue]) {
        self.snapshot = snapshot
        self.fallbacks = fallbacks
    }

    /// Returns the value of a key as this transaction has left it, or else the registered one.
    public mutating func value(forKey key: String) -> DefaultsValue? { storedValue(forKey: key) ?? fallbacks[key] }

    /// Returns the value of a key as this transaction has left it, without registered ones.
    public mutating func storedValue(forKey key: String) -> DefaultsValue? {
        if let value = written[key] { return value }
        if isCleared { return nil }
        reads.keys[key] = snapshot.generation(of: key)
        return snapshot.entries[key]?.value
    }

    /// Returns the generation of a key's value before this transaction; `.unset` where nothing is set.
    public mutating func generation(ofKey key: String) -> Generation {
        reads.keys[key] = snapshot.generation(of: key)
        return Generation(rawValue: snapshot.generation(of: key))
    }

    /// Returns all keys and values that are set. The transaction then runs again if any key is set meanwhile.
    public mutating func dictionaryRepresentation() -> [String: DefaultsValue] {
        reads.suite = snapshot.generation
        var all = isCleared ? [:] : snapshot.entries.mapValues(\.value)
        for (key, value) in written { all[key] = value }
        return all
    }

    /// Sets a value; nil removes it.
    public mutating func set(_ value: DefaultsValue?, forKey key: String) {
        written[key] = .some(value)
        added[key] = nil
    }

    /// Adds a number to a key's number, and returns the sum. A key without a value counts as 0. No addition
    /// is lost, wherever it is made. Errors: `invalidContent` where the value is no integer, and where
    /// the sum is beyond 64 bits.
    public mutating func increment(_ key: String, by number: Int = 1) throws(CoordinationError) -> Int {
        let present: Int
        switch storedValue(forKey: key) {
        case nil: present = 0
        case .integer(let value)?: present = value
        case _?:
            throw Self.invalid(key, "the value is not a whole number")
        }
        let (sum, isOver) = present.addingReportingOverflow(number)
        if isOver { throw Self.invalid(key, "the sum of \(present) and \(number) is beyond 64 bits") }
        let isOnlyAdded = written[key] == nil || added[key] != nil
        written[key] = .some(.integer(sum))
        added[key] = isOnlyAdded && !isCleared ? (added[key] ?? 0) &+ Int64(number) : nil
        return sum
    }

    private static func invalid(_ key: String, _ reason: String) -> CoordinationError {
        CoordinationError(
            .invalidContent, operation: "increment", item: key, reason: "\(reason); the value was not changed")
    }

    /// Removes every key that is set when the transaction is appended, also a key that is set meanwhile.
    public mutating func removeAll() { (written, added, isCleared) = ([:], [:], true) }

    /// The steps in the order of the keys, so that equal transactions make equal records.
    var steps: [SuiteRecord.Step] {
        let steps = written.sorted { $0.key < $1.key }.map { key, value in
            guard let value else { return SuiteRecord.Step.remove(key) }
            return added[key].map { .added(key, $0, value) } ?? .set(key, value.canonical)
        }
        return isCleared ? [.removeAll] + steps : steps
    }
}

extension GroupDefaults {
    /// Adds a number to a key's number, and returns the sum; concurrent additions of all processes count. See
    /// `DefaultsTransaction.increment(_:by:)`. Errors: those of it, and of `set`.
    @discardableResult
    public func increment(_ key: String, by number: Int = 1, durability: Durability = .relaxed) throws -> Int {
        try transaction(durability: durability) { transaction in try transaction.increment(key, by: number) }
    }

    /// Reads and sets several keys as one change: other members see all of it or nothing. `body` may run more than
    /// once, where a key that it read is set by others meanwhile. A transaction that loses again and again gets a turn,
    /// in which the other writers wait for it, at first for up to 20 ms, then longer. An error that `body` throws is
    /// thrown, and then nothing is changed. `body` must not change the suite in other ways. Errors: as those of `set`.
    @discardableResult
    public func transaction<Answer>(
        durability: Durability = .relaxed, _ body: (inout DefaultsTransaction) throws -> Answer
    ) throws -> Answer {
        let outcome = try transact(durability: durability, if: { $0.isSuccess }) { transaction in
            Result { () throws(any Error) in try body(&transaction) }
        }
        return try outcome.get()
    }

    /// Runs a transaction, and appends it if `commits` returns true for the result of `body`.
    func transact<Outcome>(
        durability: Durability, if commits: (Outcome) -> Bool, _ body: (inout DefaultsTransaction) -> Outcome
    ) throws(CoordinationError) -> Outcome {
        try container.opened.locating { () throws(CoordinationError) -> Outcome in
            let store = try writableStore("set", durability)
            let fallbacks = fallbacks.withLock { $0 }
            var attempt = AppendAttempt()
            defer { attempt.end() }
            while true {
                let (outcome, steps, reads) = Self.run(body, on: try store.read(for: &attempt) { $0 }, fallbacks)
                if steps.isEmpty || !commits(outcome) { return outcome }
                guard let end = try store.append(steps, if: reads, by: writer, &attempt) else { continue }
                attempt.end()
                if durability == .durable { try store.synchronize(through: end) }
                return outcome
            }
        }
    }

    /// Runs `body`, and releases the snapshot before anything is changed, so that the snapshot need not be copied.
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

/// The reads that a change of a suite was decided upon: the change is valid only as long as they still hold.
struct SuiteReads: Sendable {
    /// The keys that were read, with the generation of each.
    var keys: [String: UInt64] = [:]
    /// The generation of the whole suite, if all of it was read.
    var suite: UInt64?
    private var only: (key: String, generation: UInt64)?
    /// The generation of the suite at the read: as long as the suite has it, nothing has changed.
    private var moment: UInt64?

    init() {}

    /// The reads of one key, without a dictionary for it.
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
