import GroupLocking
import GroupLog
import GroupSystemCalls

/// Keys and values that all members of a container share: the counterpart of `UserDefaults(suiteName:)` for an app
/// group.
///
/// A set is visible to every member, in every process, when its call returns; there is nothing to synchronize. No set
/// is lost, however many processes set at once. Each set is a record in the suite's log, which compacts itself. Reading
/// a value takes well below a microsecond and makes no system call; neither does setting a value, unless a process
/// waits for changes. After a power cut a suite has everything that was set before some moment; `durable` and `flush()`
/// guarantee that a value is on the disk.
///
/// Reading never fails: where the log is damaged, the values are those from before, and `Container.diagnostics` reports
/// it; `read(_:)` throws instead. Limits: a key 1 KiB, a value 16 MiB, a transaction 24 MiB, a suite 1 GiB; error
/// `limitReached`. In a read-only container values can be read, but changes are not reported at once.
public final class GroupDefaults: Sendable {
    /// The name of the suite, which is a file name.
    public let suite: String
    package let container: Container
    let writer: [UInt8]
    /// The suite as it was when this object was made; nil where it did not exist.
    private let known: SuiteStore?
    /// The suite that came later; nil as long as it does not exist: then each read looks again.
    private let opened = Guarded<SuiteStore?>(nil)
    let fallbacks = Guarded([String: DefaultsValue]())

    /// Opens a suite of a container; the suite is created with its first value. `purpose` names the writer of a value
    /// for observers; its default is the purpose that this process's coordinator was given, or the program's name.
    /// Errors: `invalidArgument` where the name is not valid; `damaged`, `newerFormat`, `noSpace`, `inputOutput`.
    public init(_ container: Container, suite: String = "standard", purpose: String? = nil) throws(CoordinationError) {
        let opened = container.opened
        try opened.locating { () throws(CoordinationError) in
            try LogName.check(suite, of: "suite", operation: "open defaults")
        }
        self.container = container
        self.suite = suite
        let ownPurpose = opened.memberTable.slot.flatMap { opened.memberTable.member(at: $0)?.purpose }
        writer = SuiteRecord.prefix(
            processIdentifier: processIdentifier(), purpose: purpose ?? ownPurpose ?? programName())
        known = try opened.locating { () throws(CoordinationError) in try opened.suite(suite, creating: false) }
    }

    /// Returns whether a suite may have a name.
    package static func isName(ofSuite name: String) -> Bool { LogName.isName(name) }

    func store(creating: Bool) throws(CoordinationError) -> SuiteStore? {
        if let known { return known }
        if let store = opened.withLock({ $0 }) { return store }
        guard let store = try container.opened.suite(suite, creating: creating) else { return nil }
        opened.withLock { $0 = store }
        return store
    }

    /// Returns the store for a write, and creates it where it does not exist.
    /// Error: `notFound` if the container was removed or moved: see `OpenContainer.checkIsThere(for:_:)`.
    func writableStore(
        _ operation: String, _ durability: Durability = .relaxed
    ) throws(CoordinationError) -> SuiteStore {
        try container.opened.checkIsThere(for: operation, durability)
        if let store = try store(creating: true) { return store }
        throw container.opened.refusal(".group/defaults/\(suite)", operation)
    }

    /// Returns the value that is set for a key, or else the registered one. Constant time; no system call where nothing
    /// has changed.
    public func value(forKey key: String) -> DefaultsValue? {
        let found = (try? store(creating: false)).flatMap { $0 }?.read { $0.entries[key]?.value }
        return found ?? fallbacks.withLock { $0[key] }
    }

    /// Returns the value that is set for a key, without registered ones, and its generation, which distinguishes one
    /// set from another; `.unset` where nothing is set. Errors: `damaged`, and what else is wrong with the suite.
    public func readVersion(forKey key: String) throws(CoordinationError) -> Versioned<DefaultsValue?> {
        try container.opened.locating { () throws(CoordinationError) -> Versioned<DefaultsValue?> in
            guard let store = try store(creating: false) else { return Versioned(value: nil, generation: .unset) }
            return try store.checkedRead {
                Versioned(value: $0.entries[key]?.value, generation: Generation(rawValue: $0.generation(of: key)))
            }
        }
    }

    /// Returns the generation of the suite's last change, of any key: what was read of a key after a call is the present
    /// value as long as later calls return the same. `.unset` where nothing was ever set. Errors: `damaged`, and what
    /// else is wrong with the suite.
    public func readGeneration() throws(CoordinationError) -> Generation {
        try container.opened.locating { () throws(CoordinationError) -> Generation in
            guard let store = try store(creating: false) else { return .unset }
            return try store.checkedRead { Generation(rawValue: $0.generation) }
        }
    }

    /// Returns all keys and values that are set, without registered ones. Linear.
    public func dictionaryRepresentation() -> [String: DefaultsValue] {
        (try? store(creating: false)).flatMap { $0 }?.read { $0.entries.mapValues(\.value) } ?? [:]
    }

    /// Registers the values that keys have as long as nothing is set, for this object in this process. Later ones
    /// replace earlier ones.
    public func register(defaults: [String: DefaultsValue]) {
        fallbacks.withLock { $0.merge(defaults) { _, new in new } }
    }

    // MARK: Setting

    /// Sets a value; nil removes it. The change is visible to every member when the call returns. Returns the
    /// generation: the number of the set in the suite's history. Errors: `limitReached`, `noSpace`, `notPermitted`,
    /// `damaged`; `notDurable` where the value is set, but the disk did not confirm it.
    @discardableResult
    public func set(
        _ value: DefaultsValue?, forKey key: String, durability: Durability = .relaxed
    ) throws(CoordinationError) -> Generation {
        try set([value.map { .set(key, $0.canonical) } ?? .remove(key)], durability: durability)
    }

    /// Removes the value of a key; the registered value counts again.
    public func removeValue(
        forKey key: String, durability: Durability = .relaxed
    ) throws(CoordinationError) { try set([.remove(key)], durability: durability) }

    /// Removes all values of the suite.
    public func removeAll(durability: Durability = .relaxed) throws(CoordinationError) {
        try set([.removeAll], durability: durability)
    }

    @discardableResult
    private func set(
        _ steps: [SuiteRecord.Step], durability: Durability
    ) throws(CoordinationError) -> Generation {
        try container.opened.locating { () throws(CoordinationError) -> Generation in
            let store = try writableStore("set", durability)
            let end = try store.append(steps, by: writer)
            if durability == .durable { try store.synchronize(through: end) }
            return Generation(rawValue: end.sequence)
        }
    }

    /// Sets a value where a condition on the key holds; nil removes it. `.generation` means that the present value is
    /// still the one that `readVersion(forKey:)` has read (with `.unset`: that nothing is set), and `.absent` that
    /// nothing is set. No set of another process comes in between. A condition that fails is a conflict even if the
    /// value is the same. Returns the new generation. Errors: `conflict` where the condition does not hold, with the
    /// present generation; those of `set`.
    @discardableResult
    public func set(
        _ value: DefaultsValue?, forKey key: String, if condition: WriteCondition, durability: Durability = .relaxed
    ) throws(CoordinationError) -> Generation {
        let generation: Generation
        switch condition {
        case .always: return try set(value, forKey: key, durability: durability)
        case .absent: generation = .unset
        case .generation(let expected): generation = expected
        }
        return try container.opened.locating { () throws(CoordinationError) -> Generation in
            let store = try writableStore("set", durability)
            var attempt = AppendAttempt()
            defer { attempt.end() }
            let steps: [SuiteRecord.Step] = [value.map { .set(key, $0.canonical) } ?? .remove(key)]
            guard
                let end = try store.append(
                    steps, if: .init(key: key, generation: generation.rawValue), by: writer, &attempt)
            else {
                let present = Generation(rawValue: store.read { $0.generation(of: key) })
                throw CoordinationError(
                    .conflict, operation: "set", item: "\(suite): \(key)",
                    reason: "the value is at generation \(present), not \(generation): it was set meanwhile",
                    generation: present,
                    remedy: .init(.readAgain, "read the value again, and decide again"))
            }
            if durability == .durable { try store.synchronize(through: end) }
            return Generation(rawValue: end.sequence)
        }
    }

    /// Sets a value only if the present one is `expected` (nil: nothing is set). Returns false where it is not, and
    /// then nothing was changed. A value that is JSON, or is compared with JSON, is compared by what it means: `1.0` is
    /// `1`, and neither blanks nor the order of names count.
    public func compareAndSet(
        forKey key: String, from expected: DefaultsValue?, to value: DefaultsValue?, durability: Durability = .relaxed
    ) throws(CoordinationError) -> Bool {
        try transact(durability: durability, if: { $0 }) { transaction in
            let present = transaction.storedValue(forKey: key)
            let isEqual = present.map { present in expected.map(present.isSame) ?? false } ?? (expected == nil)
            if isEqual { transaction.set(value, forKey: key) }
            return isEqual
        }
    }

    /// Waits until everything that any process has set before the call is on the disk. Errors: `notDurable`, and `notFound`
    /// if the container was removed or moved.
    /// System calls: fdatasync(2), once for all callers that wait.
    public func flush() throws(CoordinationError) {
        try container.opened.locating { () throws(CoordinationError) in
            try container.opened.checkIsThere(for: "flush", .durable)
            guard let store = try store(creating: false), !store.isReadOnly else { return }
            try store.synchronize(through: try translating(store.log.end()))
        }
    }

    // MARK: Changes at a glance

    /// A moment in the suite's history, as this process has read it.
    public struct Mark: Sendable {
        fileprivate let segment: Segment
        fileprivate let offset: Int
    }

    /// The present moment; nil where the suite does not exist.
    public var mark: Mark? {
        guard let store = try? store(creating: false) else { return nil }
        store.read { _ in }
        let (segment, offset) = store.mark
        return Mark(segment: segment, offset: offset)
    }

    /// Returns whether anything was set since a moment. Costs one load; in a read-only container, as much as a read.
    public func hasChanged(since mark: Mark) -> Bool {
        if mark.segment.map.load64(mark.offset) != 0 { return true }
        if mark.segment.writableMap != nil { return false }
        return self.mark.map { ($0.segment.header.number, $0.offset) != (mark.segment.header.number, mark.offset) }
            ?? false
    }
}

/// A suite as this member has opened it.
typealias SuiteStore = CompactedLog<SuiteState>

extension CompactedLog<SuiteState> {
    /// Opens the store of a suite; nil where it does not exist, unless it is to be created.
    static func open(_ opened: OpenContainer, suite: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try open(opened, suite, label: "defaults/\(suite)", wakeLabel: suite, creating: creating)
    }

    /// Calls `look` with the present state, as `checkedRead` does. Where the log cannot be read, the state is that from
    /// before, and the diagnostics report it.
    func read<Answer>(_ look: (SuiteState) -> Answer) -> Answer {
        fold.withLock { fold in
            // A reader of a read-only container has to look anew each time.
            if isReadOnly || fold.segment.map.load64(fold.position.offset) != 0 { catchUpOrTell(&fold) }
            return look(fold.state)
        }
    }

    private func catchUpOrTell(_ fold: inout Fold) {
        do {
            try catchUp(&fold)
        } catch {
            diagnostics.report(
                .defaultsUnreadable, item: error.file, "the previous values are returned: \(CoordinationError(error))")
        }
    }
}

extension OpenContainer {
    /// Returns this member's store of a suite; nil where the suite does not exist, unless it is to be created.
    func suite(_ name: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try keep("defaults/\(name)") { () throws(CoordinationError) in
            try SuiteStore.open(self, suite: name, creating: creating && !isReadOnly)
        }
    }
}
