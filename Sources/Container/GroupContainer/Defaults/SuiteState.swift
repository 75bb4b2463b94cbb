// Imports nothing: no file, clock or process.

/// The values of a suite, by the records that were read: the fold of its log.
struct SuiteState: LogState, Equatable {
    struct Entry: Equatable, Sendable {
        var value: DefaultsValue
        /// The sequence number of the change that set the value.
        var generation: UInt64
    }

    private(set) var entries: [String: Entry] = [:]
    /// The bodies that only a newer version understands, in their order. Compaction carries them into the next segment.
    private(set) var unknown: [[UInt8]] = []
    /// The approximate size, in bytes.
    private(set) var size = 0

    /// Returns the sequence number of the change that set a key; 0 where nothing is set.
    func generation(of key: String) -> UInt64 { entries[key]?.generation ?? 0 }

    /// The sequence number of the last change of any key.
    private(set) var generation: UInt64

    init(last sequence: UInt64 = 0) { generation = sequence }

    mutating func apply(_ body: [UInt8], at sequence: UInt64, isControl: Bool) {
        if let steps = try? SuiteRecord.steps(in: body) {
            apply(steps, at: sequence)
        } else {
            unknown.append(body)
            generation = sequence
        }
    }

    static func soleKey(ofBody count: Int, _ word: (_ offset: Int) -> UInt64) -> Range<Int>? {
        SuiteRecord.soleKey(ofBody: count, word)
    }

    /// Applies the steps of a record with that sequence number. Constant time for each step, except for clearing.
    mutating func apply(_ steps: [SuiteRecord.Step], at sequence: UInt64) {
        for step in steps {
            switch step {
            case .set(let key, let value), .added(let key, _, let value):
                put(Entry(value: value, generation: sequence), at: key)
            case .source: continue
            case .remove(let key):
                if let old = entries.removeValue(forKey: key) { size -= Self.size(of: key, old.value) }
            case .removeAll: (entries, size) = ([:], 0)
            case .carried(let key, let value, let before): put(Entry(value: value, generation: before), at: key)
            }
        }
        generation = sequence
    }

    /// Returns the state of some keys only.
    func restricted(to keys: Set<String>) -> SuiteState {
        var state = SuiteState(last: generation)
        for key in keys { if let entry = entries[key] { state.put(entry, at: key) } }
        return state
    }

    private mutating func put(_ entry: Entry, at key: String) {
        size += Self.size(of: key, entry.value)
        if let old = entries.updateValue(entry, forKey: key) { size -= Self.size(of: key, old.value) }
    }

    static func size(of key: String, _ value: DefaultsValue) -> Int { key.utf8.count + value.roughSize + 16 }

    /// Returns the bodies of records that make the same state, with which a compacted segment begins. Linear in its
    /// size.
    func carriedBodies() -> [[UInt8]] {
        var bodies: [[UInt8]] = unknown
        var steps: [SuiteRecord.Step] = []
        var size = 0
        for (key, entry) in entries {
            steps.append(.carried(key, entry.value, generation: entry.generation))
            size += key.utf8.count + entry.value.roughSize
            if size >= Self.carriedBytes {
                bodies.append(Self.carried(steps))
                (steps, size) = ([], 0)
            }
        }
        if !steps.isEmpty { bodies.append(Self.carried(steps)) }
        return bodies
    }

    static let damage = (
        code: Diagnostic.Code.defaultsDamaged, meaning: "the keys that they set have their values before"
    )

    private static let carriedBytes = 65_536

    private static func carried(_ steps: [SuiteRecord.Step]) -> [UInt8] {
        SuiteRecord(processIdentifier: 0, time: 0, purpose: "", steps: steps).encoded()
    }
}

extension DefaultsValue {
    /// The approximate size, in bytes.
    var roughSize: Int {
        switch self {
        case .bool, .integer, .double, .float, .date: 16
        case .string(let text), .url(let text): 16 + text.utf8.count
        case .data(let bytes), .json(let bytes), .unknown(_, let bytes): 16 + bytes.count
        case .array(let values): values.reduce(16) { $0 + $1.roughSize }
        case .dictionary(let values): values.reduce(16) { $0 + $1.key.utf8.count + $1.value.roughSize }
        }
    }
}
