/// Something that happened to a suite of the defaults.
public struct DefaultsChange: Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// A value was set: `new`.
        case set
        /// The key was removed.
        case removed
        /// The whole suite was cleared: one change, which has no key. Of one key that is followed: `removed`.
        case cleared
        /// What is set, for who begins with a snapshot.
        case present
        /// The place was lost: what was set in between comes as the differences that it made.
        case rescan
        /// A record of the suite's log is not what was written, for this reason: what it set is lost, and the keys have
        /// their values from before. What comes behind it is told.
        case degraded(String)
    }

    /// What happened.
    public var kind: Kind
    /// The suite.
    public var suite: String
    /// The key; empty where it is about none.
    public var key: String
    /// What was set before.
    public var old: DefaultsValue?
    /// What is set now.
    public var new: DefaultsValue?
    /// Its number in the suite's history: each set has one of its own, the sets of a transaction share one.
    public var generation: UInt64
    /// Right behind it: to follow on from there.
    public var cursor: Cursor
    /// Who set it; nil where it comes after a `rescan`, or from a snapshot.
    public var by: Change.Author?
    /// When, in nanoseconds since 1970, by its writer's clock; 0 where nobody says.
    public var time: Int64
    /// Which one of a transaction's changes it is, from 0.
    public var part: Int
    /// How many changes the transaction has, among the keys that are followed.
    public var parts: Int
}

/// Where a follower of a suite stands: it reads the suite's log by itself, so a slow one costs no memory but the values
/// that it compares with, and loses nothing as long as the log keeps it (two files of it, at least); then it gets one
/// `rescan` and the differences. Of one thread.
struct DefaultsReader: Sendable {
    let store: SuiteStore
    /// Nil: all.
    private let keys: Set<String>?
    private var state = SuiteState()
    private var position: LogPosition
    private var waiting: ArraySlice<DefaultsChange> = []
    /// In front of what is waiting: who stops in the middle gets all of it again. Of a snapshot no place at all.
    private var front: LogPosition
    /// It is a member as long as somebody follows.
    let container: Container
    private var identity: UInt64 { container.member.journal.container }

    init(
        _ store: SuiteStore, in container: Container, keys: Set<String>?, since origin: ChangeOrigin
    ) throws(CoordinationError) {
        (self.store, self.keys, self.container) = (store, keys, container)
        position = LogPosition(file: 0, offset: 0, sequence: 0, checksum: 0)
        front = position
        switch origin {
        case .now: try beginAtEnd()
        case .start:
            position = try store.log.start()
            try readCarried()
        case .snapshot:
            try beginAtEnd()
            waiting =
                state.entries.sorted { $0.key < $1.key }.map { change(.present, $0.key, nil, $0.value.value) }[...]
        case .cursor(let cursor):
            if !(try begin(at: cursor)) {
                try beginAtEnd()
                waiting =
                    [change(.rescan, "", nil, nil)]
                    + state.entries.sorted { $0.key < $1.key }.map { change(.present, $0.key, nil, $0.value.value) }[
                        ...]
            }
        }
    }

    private mutating func beginAtEnd() throws(CoordinationError) {
        let (whole, place) = try store.present()
        (state, position) = (keys.map { whole.restricted(to: $0) } ?? whole, place)
    }

    /// The state that a compacted file begins with.
    private mutating func readCarried() throws(CoordinationError) {
        guard let file = try store.log.file(position.file) else { return }
        while position.offset < file.firstAppended {
            do throws(CoordinationError) {
                guard case .entry(let entry) = try store.log.knownStep(behind: position), entry.isControl else {
                    return
                }
                take(entry)
            } catch {
                try passOver(error)
                if file.cut != nil { return }
            }
        }
    }

    /// Behind a record that is not what was written; that it is there is told.
    private mutating func passOver(_ error: CoordinationError) throws(CoordinationError) {
        front = position
        position = try store.placeBehindDamage(position, error)
        waiting.append(change(.degraded(error.cause), "", nil, nil))
    }

    private mutating func begin(at cursor: Cursor) throws(CoordinationError) -> Bool {
        guard let place = cursor.position(in: identity), try store.log.contains(place),
            let file = try store.log.file(place.file)
        else { return false }
        position = .start(of: file.header)
        while position.offset < place.offset {
            do throws(CoordinationError) {
                guard case .entry(let entry) = try store.log.knownStep(behind: position) else { return false }
                take(entry)
            } catch {
                // It was told before.
                let behind = try store.placeBehindDamage(position, error)
                if behind == position { return false }
                position = behind
            }
        }
        return position == place
    }

    private mutating func take(_ entry: LogEntry) {
        position = entry.position
        guard let record = try? DefaultsRecord(decoding: entry.body) else { return }
        state.apply(steps(of: record), at: entry.position.sequence)
    }

    private func steps(of record: DefaultsRecord) -> [DefaultsRecord.Step] {
        guard let keys else { return record.steps }
        return record.steps.filter { $0.key.map(keys.contains) ?? true }
    }

    /// Behind what was given; in front of it where that is a part of what belongs together.
    var cursor: Cursor { Cursor(waiting.isEmpty ? position : front, in: identity) }

    var place: Cursor { Cursor(position, in: identity) }

    /// More of what belongs together is to be given.
    var isAmongOthers: Bool { !waiting.isEmpty }

    /// Whether there may be more.
    var hasMore: Bool { !waiting.isEmpty || store.log.hasMore(behind: position) }

    /// The next change, or nil at the end. Error: `damaged` where nobody can tell what comes behind.
    mutating func next() throws(CoordinationError) -> DefaultsChange? {
        while true {
            if var change = waiting.popFirst() {
                // The changes of a transaction share the place behind it, and say how many they are.
                if change.parts == 1 { change.cursor = cursor }
                return change
            }
            let step: MappedLog.Step
            do {
                step = try store.log.step(behind: position)
            } catch {
                try passOver(error)
                continue
            }
            switch step {
            case .entry(let entry) where entry.isControl && entry.position.file != position.file:
                // What it has told of up to the end of the file before it is what it begins with.
                guard let file = try store.log.file(entry.position.file) else { continue }
                position = file.placeBehindCarried
            case .entry(let entry): tell(entry)
            case .end: return nil
            // Of a gap, what stood in it is lost; what is set behind it is what counts.
            case .gap, .lost: try compare()
            }
        }
    }

    private mutating func tell(_ entry: LogEntry) {
        (front, position) = (position, entry.position)
        guard !entry.isControl, let record = try? DefaultsRecord(decoding: entry.body) else {
            // What a compacted file begins with is known.
            return
        }
        let by = Change.Author(processIdentifier: record.processIdentifier, purpose: record.purpose)
        var changes: [DefaultsChange] = []
        for step in steps(of: record) {
            switch step {
            case .set(let key, let value), .carried(let key, let value, _):
                changes.append(change(.set, key, state.entries[key]?.value, value))
            case .remove(let key):
                if let old = state.entries[key]?.value { changes.append(change(.removed, key, old, nil)) }
            case .removeAll where keys == nil: changes.append(change(.cleared, "", nil, nil))
            case .removeAll: changes += state.entries.map { change(.removed, $0.key, $0.value.value, nil) }
            }
            state.apply([step], at: position.sequence)
        }
        for (part, var change) in changes.enumerated() {
            (change.by, change.time, change.part, change.parts) = (by, record.time, part, changes.count)
            waiting.append(change)
        }
    }

    /// What was missed, as the differences that it made.
    private mutating func compare() throws(CoordinationError) {
        let before = state.entries
        front = position
        try beginAtEnd()
        waiting.append(change(.rescan, "", nil, nil))
        for key in Set(before.keys).union(state.entries.keys).sorted() where before[key] != state.entries[key] {
            let (old, new) = (before[key]?.value, state.entries[key]?.value)
            waiting.append(change(new == nil ? .removed : .set, key, old, new))
        }
    }

    private func change(
        _ kind: DefaultsChange.Kind, _ key: String, _ old: DefaultsValue?, _ new: DefaultsValue?
    ) -> DefaultsChange {
        let generation = new == nil ? position.sequence : state.entries[key]?.generation ?? position.sequence
        return DefaultsChange(
            kind: kind, suite: store.name, key: key, old: old, new: new,
            generation: kind == .set ? max(generation, position.sequence) : generation,
            cursor: Cursor(position, in: identity), by: nil,
            time: 0, part: 0, parts: 1)
    }
}
