import GroupSystemCalls

/// Keys and values that all members of a container share: what `UserDefaults(suiteName:)` is for an app group.
///
/// A set is visible to every member, in every process, when its call returns; there is nothing to synchronise. None is
/// lost, however many set at once. Each is a record in the suite's log, which is compacted by itself. Reading a value
/// takes well below a microsecond and makes no system call; nor does setting one, unless somebody waits for changes.
/// After a power cut a suite has what was set before some moment; `durable`, or `flush()`, says that it is on the disk.
///
/// Reading never fails: where the log is damaged, the values are those from before, and `Container.diagnostics` says
/// so; `read(_:)` throws instead. Limits: a key 1 KiB, a value 16 MiB, a transaction 24 MiB, a suite 1 GiB; error
/// `limitReached`. Of a container that is read-only: reading, without being told of changes at once.
public final class GroupDefaults: Sendable {
    /// Its name: a file name.
    public let suite: String
    let container: Container
    let writer: [UInt8]
    /// Nil as long as there is none: then each reader looks again.
    private let opened = Guarded<SuiteStore?>(nil)
    let fallbacks = Guarded([String: DefaultsValue]())

    /// A suite of a container; it comes into being with its first value. `purpose` is what observers are told of who
    /// set a value; without it, what this process's coordinator said, or the program's name.
    /// Errors: `invalidArgument` where the name is none; `damaged`, `newerFormat`, `noSpace`, `inputOutput`.
    public init(_ container: Container, suite: String = "standard", purpose: String? = nil) throws(CoordinationError) {
        try LogName.check(suite, of: "suite", operation: "open defaults")
        (self.container, self.suite) = (container, suite)
        let member = container.member
        let known = member.memberTable.slot.flatMap { member.memberTable.member(at: $0)?.purpose }
        writer = SuiteRecord.prefix(
            processIdentifier: processIdentifier(), purpose: purpose ?? known ?? programName())
        _ = try store(creating: false)
    }

    func store(creating: Bool) throws(CoordinationError) -> SuiteStore? {
        if let store = opened.withLock({ $0 }) { return store }
        guard let store = try container.member.suite(suite, creating: creating) else { return nil }
        opened.withLock { $0 = store }
        return store
    }

    /// For who is going to write.
    func writableStore(_ operation: String) throws(CoordinationError) -> SuiteStore {
        if let store = try store(creating: true) { return store }
        throw container.member.refusal(".group/defaults/\(suite)", operation)
    }

    /// What stands under a key now; else what was registered for it. Constant; no system call where nothing has
    /// changed.
    public func value(forKey key: String) -> DefaultsValue? {
        let found = (try? store(creating: false)).flatMap { $0 }?.read { $0.entries[key]?.value }
        return found ?? fallbacks.withLock { $0[key] }
    }

    /// The same, without what was registered, and with the generation that tells one set from another. Errors:
    /// `damaged` and what else is wrong with the suite.
    public func versionedValue(
        forKey key: String
    ) throws(CoordinationError) -> (value: DefaultsValue?, generation: UInt64) {
        guard let store = try store(creating: false) else { return (nil, 0) }
        return try store.checkedRead { ($0.entries[key]?.value, $0.generation(of: key)) }
    }

    /// Everything that is set, without what was registered. Linear.
    public func dictionaryRepresentation() -> [String: DefaultsValue] {
        (try? store(creating: false)).flatMap { $0 }?.read { $0.entries.mapValues(\.value) } ?? [:]
    }

    /// What keys have as long as nothing is set: of this object, in this process. Later ones replace earlier ones.
    public func register(defaults: [String: DefaultsValue]) {
        fallbacks.withLock { $0.merge(defaults) { _, new in new } }
    }

    // MARK: Setting

    /// Sets a value; nil removes it. Visible to every member when it returns. The generation is the set's number in the
    /// suite's history. Errors: `limitReached`, `noSpace`, `notPermitted`, `damaged`; `notDurable` where it is set, but
    /// the disk did not confirm it.
    @discardableResult
    public func set(
        _ value: DefaultsValue?, forKey key: String, _ durability: Durability = .relaxed
    ) throws(CoordinationError) -> UInt64 {
        try set([value.map { .set(key, $0) } ?? .remove(key)], durability)
    }

    /// Nothing is set under the key then, and what was registered for it counts.
    public func removeValue(
        forKey key: String, _ durability: Durability = .relaxed
    ) throws(CoordinationError) { try set([.remove(key)], durability) }

    /// Nothing is set at all then.
    public func removeAll(_ durability: Durability = .relaxed) throws(CoordinationError) {
        try set([.removeAll], durability)
    }

    @discardableResult
    private func set(
        _ steps: [SuiteRecord.Step], _ durability: Durability
    ) throws(CoordinationError) -> UInt64 {
        let store = try writableStore("set")
        let place = try store.append(steps, by: writer)
        if durability == .durable { try store.synchronize(through: place) }
        return place.sequence
    }

    /// Sets a value only if what stands there is still of that generation (0: nothing stands there). The new
    /// generation. Error: `conflict`, where it is not; those of `set`.
    @discardableResult
    public func set(
        _ value: DefaultsValue?, forKey key: String, ifGeneration generation: UInt64,
        _ durability: Durability = .relaxed
    ) throws(CoordinationError) -> UInt64 {
        let store = try writableStore("set")
        var attempt = AppendAttempt()
        defer { attempt.end() }
        let steps: [SuiteRecord.Step] = [value.map { .set(key, $0) } ?? .remove(key)]
        guard let place = try store.append(steps, if: .init(key: key, generation: generation), by: writer, &attempt)
        else {
            let present = store.read { $0.generation(of: key) }
            throw CoordinationError(
                .conflict, item: "\(suite): \(key)", operation: "set",
                cause: "it was set meanwhile: it is at generation \(present), not \(generation)",
                advice: "read it again, and decide again")
        }
        if durability == .durable { try store.synchronize(through: place) }
        return place.sequence
    }

    /// Sets a value only if what is set is `expected` (nil: nothing). False: it is not, and nothing was changed.
    public func compareAndSet(
        _ key: String, from expected: DefaultsValue?, to value: DefaultsValue?, _ durability: Durability = .relaxed
    ) throws(CoordinationError) -> Bool {
        try transact(durability, if: { $0 }) { transaction in
            let isEqual = transaction.stored(forKey: key) == expected
            if isEqual { transaction.set(value, forKey: key) }
            return isEqual
        }
    }

    /// Everything that was set before, by whomever, is on the disk when it returns. Error: `notDurable`
    /// System calls: fdatasync(2), once for all who wait.
    public func flush() throws(CoordinationError) {
        guard let store = try store(creating: false), !store.isReadOnly else { return }
        try store.synchronize(through: try store.log.end())
    }

    // MARK: Changes at a glance

    /// A moment in the suite's history, as this process saw it.
    public struct Mark: Sendable {
        fileprivate let file: Segment
        fileprivate let offset: Int
    }

    /// The present one; nil where the suite does not exist.
    public var mark: Mark? {
        guard let store = try? store(creating: false) else { return nil }
        store.read { _ in }
        let (file, offset) = store.mark
        return Mark(file: file, offset: offset)
    }

    /// Whether anything was set since. One load; of a container that is read-only as much as a read.
    public func hasChanged(since mark: Mark) -> Bool {
        if mark.file.map.load64(mark.offset) != 0 { return true }
        if mark.file.writableMap != nil { return false }
        return self.mark.map { ($0.file.header.number, $0.offset) != (mark.file.header.number, mark.offset) } ?? false
    }
}

/// One suite, as this member has it.
typealias SuiteStore = CompactedLog<SuiteState>

extension CompactedLog<SuiteState> {
    /// Nil where there is none, unless it is to be made.
    static func open(_ member: Member, suite: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try open(member, suite, label: "defaults/\(suite)", wakeLabel: suite, creating: creating)
    }

    /// The state as of now, as `checkedRead`. Where the log cannot be read, the state before that, and the diagnostics
    /// say so.
    func read<Answer>(_ look: (SuiteState) -> Answer) -> Answer {
        fold.withLock { fold in
            // Who may only read has to look anew.
            if isReadOnly || fold.file.map.load64(fold.position.offset) != 0 { catchUpOrTell(&fold) }
            return look(fold.state)
        }
    }

    private func catchUpOrTell(_ fold: inout Fold) {
        do {
            try catchUp(&fold)
        } catch {
            diagnostics.tell(.defaultsUnreadable, item: error.item, "the values before are given: \(error)")
        }
    }
}

extension Member {
    /// This member's store of a suite; nil where there is none, unless it is to be made.
    func suite(_ name: String, creating: Bool) throws(CoordinationError) -> SuiteStore? {
        try keep(name, in: suites) { () throws(CoordinationError) in
            try SuiteStore.open(self, suite: name, creating: creating && !isReadOnly)
        }
    }
}
