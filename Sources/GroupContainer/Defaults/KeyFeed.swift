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
struct KeyFeed: Sendable {
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
        guard let record = try? SuiteRecord(decoding: entry.body) else { return }
        state.apply(steps(of: record), at: entry.position.sequence)
    }

    private func steps(of record: SuiteRecord) -> [SuiteRecord.Step] {
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
            let step: SegmentedLog.Step
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
        guard !entry.isControl, let record = try? SuiteRecord(decoding: entry.body) else {
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

/// A suite's changes since a place, without end, each once and in order. Each iterator reads on its own.
public struct DefaultsChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = DefaultsChange

    private let reader: Result<KeyFeed, CoordinationError>
    private let isLatestOnly: Bool

    init(_ reader: Result<KeyFeed, CoordinationError>, isLatestOnly: Bool) {
        (self.reader, self.isLatestOnly) = (reader, isLatestOnly)
    }

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, isLatestOnly: isLatestOnly) }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var reader: Result<KeyFeed, CoordinationError>
        fileprivate let isLatestOnly: Bool
        private var latest: ArraySlice<DefaultsChange> = []
        private var presence = PresenceCheck()

        fileprivate init(reader: Result<KeyFeed, CoordinationError>, isLatestOnly: Bool) {
            (self.reader, self.isLatestOnly) = (reader, isLatestOnly)
        }

        /// The next change; nil when the task is cancelled. A damaged record is a `degraded`, and what was set behind
        /// it comes next. Errors: `damaged` where the log cannot be read on, for as long as that is so; `notFound`
        /// where the container was removed.
        public mutating func next() async throws(CoordinationError) -> DefaultsChange? {
            var reader = try self.reader.get()
            while true {
                let found = Result { () throws(CoordinationError) in try take(from: &reader) }
                self.reader = .success(reader)
                if let change = try found.get() { return change }
                if Task.isCancelled { return nil }
                try presence.check(reader.container.member, "follow")
                let place = reader
                await reader.store.sleeper.wait { place.hasMore }
            }
        }

        private mutating func take(from reader: inout KeyFeed) throws(CoordinationError) -> DefaultsChange? {
            if !isLatestOnly { return try reader.next() }
            if latest.isEmpty { latest = try Self.latest(of: &reader) }
            return latest.popFirst()
        }

        /// Of each key the last one, with what was set before the first.
        private static func latest(
            of reader: inout KeyFeed
        ) throws(CoordinationError) -> ArraySlice<DefaultsChange> {
            var (order, last): ([String], [String: DefaultsChange]) = ([], [:])
            var damage: [DefaultsChange] = []
            while var change = try reader.next() {
                if case .degraded = change.kind {
                    damage.append(change)
                    continue
                }
                if change.kind == .cleared || change.kind == .rescan { (order, last) = ([], [:]) }
                if let before = last[change.key] { change.old = before.old } else { order.append(change.key) }
                last[change.key] = change
            }
            return (damage + order.compactMap { last[$0] })[...]
        }
    }
}

/// A key's values: the present one first, then each that is set.
public struct DefaultsValues<Value: Sendable>: AsyncSequence, Sendable {
    /// One value.
    public typealias Element = Value

    let key: GroupDefaults.Key<Value>
    let present: Value
    let changes: DefaultsChanges

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator {
        Iterator(key: key, present: present, changes: changes.makeAsyncIterator())
    }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let key: GroupDefaults.Key<Value>
        fileprivate var present: Value?
        fileprivate var changes: DefaultsChanges.Iterator

        /// The next value; nil when the task is cancelled. What is set and cannot be one of the type is passed over.
        public mutating func next() async throws(CoordinationError) -> Value? {
            if let value = present {
                present = nil
                return value
            }
            while let change = try await changes.next() {
                switch change.kind {
                case .rescan, .degraded: continue
                case .set, .removed, .cleared, .present: break
                }
                guard let new = change.new else { return key.fallback }
                if let value = try? key.decode(new) { return value }
            }
            return nil
        }
    }
}

/// The same on the calling thread: see `GroupDefaults.follow`.
public struct DefaultsFollower: Sendable {
    private var reader: KeyFeed
    private var presence = PresenceCheck()

    init(_ reader: KeyFeed) { self.reader = reader }

    /// Right behind the last change that was given; in front of it where it is one of several that belong together, and
    /// not the last of them.
    public var cursor: Cursor { reader.cursor }

    /// Where it reads on in the suite's log, whatever is still to be given.
    package var place: Cursor { reader.place }

    /// Nothing is left of what belongs to the last change that was given: of its transaction, or of a snapshot.
    package var isBetweenRecords: Bool { !reader.isAmongOthers }

    /// The next change. Waits for it at most `timeout` (nil: for ever) and then returns nil. Errors: as those of
    /// `DefaultsChanges`. System calls: futex(FUTEX_WAIT), only where there is nothing to read.
    public mutating func next(timeout: Duration? = nil) throws(CoordinationError) -> DefaultsChange? {
        let deadline = Deadline(after: timeout)
        while true {
            if let change = try reader.next() { return change }
            if deadline.isOver { return nil }
            try reader.store.checkNotForked("follow")
            try presence.check(reader.container.member, "follow")
            let place = reader
            place.store.memberTable.awaitWake(on: place.store.wakeWord, atMost: deadline.remaining) { place.hasMore }
        }
    }
}

extension GroupDefaults {
    /// Whether a slow consumer sees every change, or of each key the last one only.
    public enum Delivery: Sendable {
        /// Each.
        case every
        /// Where several of a key have come since it last looked, the last one, with what was set before the first.
        case latest
    }

    /// The changes of some keys, or of the whole suite (nil), from a place on: `.now` (this call), `.start` (the oldest
    /// that is kept), behind a `Cursor`, or `.snapshot`, with what is set first.
    public func changes(
        of keys: Set<String>? = nil, since origin: ChangeOrigin = .now, delivering delivery: Delivery = .every
    ) -> DefaultsChanges {
        DefaultsChanges(
            Result { () throws(CoordinationError) in try reader(of: keys, since: origin) },
            isLatestOnly: delivery == .latest)
    }

    /// The changes of a key from this call on.
    public func changes<Value>(of key: Key<Value>, delivering delivery: Delivery = .every) -> DefaultsChanges {
        changes(of: [key.name], delivering: delivery)
    }

    /// A key's value now, then each that is set.
    public func values<Value>(of key: Key<Value>, delivering delivery: Delivery = .every) -> DefaultsValues<Value> {
        let changes = changes(of: [key.name], since: .now, delivering: delivery)
        // A set in between comes twice rather than never.
        return DefaultsValues(key: key, present: self[key], changes: changes)
    }

    /// The same changes for a plain program, on its own thread.
    public func follow(
        keys: Set<String>? = nil, since origin: ChangeOrigin = .now
    ) throws(CoordinationError) -> DefaultsFollower {
        DefaultsFollower(try reader(of: keys, since: origin))
    }

    private func reader(
        of keys: Set<String>?, since origin: ChangeOrigin
    ) throws(CoordinationError) -> KeyFeed {
        guard let store = try store(creating: true) else {
            throw CoordinationError(
                .notFound, item: ".group/defaults/\(suite)", operation: "follow", cause: "there is no such suite",
                advice: "it comes into being with its first value")
        }
        return try KeyFeed(
            store, in: container, keys: keys, since: origin)
    }
}
