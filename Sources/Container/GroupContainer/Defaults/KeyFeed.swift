public import FoundationEssentials
import GroupLog

/// A change of a suite of the defaults.
public struct DefaultsChange: Hashable, Sendable {
    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
        /// A value was set: `newValue`.
        case set
        /// The key was removed.
        case removed
        /// The whole suite was cleared. For a follower of the whole suite, one change without a key; for a follower of
        /// some keys, a `removed` for each that was set.
        case cleared
        /// A value of the snapshot with which a follower begins.
        case present
        /// The follower's position was lost. The sets in between follow as the differences that they made.
        case rescan
        /// A record of the suite's log is not what was written, for this reason. The values that it set are lost, and
        /// its keys have their values from before. The changes after the record are delivered.
        case degraded(reason: String)
    }

    /// The kind of the change.
    public var kind: Kind
    /// The name of the suite.
    public var suite: String
    /// The key; empty for a change without a key.
    public var key: String
    /// The value before the change; nil where nothing was set.
    public var oldValue: DefaultsValue?
    /// The value after the change; nil where nothing is set.
    public var newValue: DefaultsValue?
    /// The number of the change in the suite's history. Each set has its own number; the sets of a transaction share
    /// one.
    public var generation: Generation
    /// The position right after the change, from which a follower can go on.
    public var cursor: Cursor
    /// The process that set the value; nil after a `rescan`, and for a value of a snapshot.
    public var author: Change.Author?
    /// The time of the change by its writer's clock; nil where it is not known.
    public var time: Date? { timeNanoseconds == 0 ? nil : Date(nanoseconds: timeNanoseconds) }
    /// The time of the change in nanoseconds since 1970; 0 where it is not known.
    package var timeNanoseconds: Int64
    /// The number that was added; nil for a change of another kind.
    package var addend: Int64?
    /// Where the change was made.
    package var origin = Origin.here
    /// The index of the change in its transaction, from 0.
    public var part: Int
    /// The number of changes that the transaction makes to the keys that are followed.
    public var parts: Int

    package init(
        kind: Kind, suite: String, key: String, oldValue: DefaultsValue?, newValue: DefaultsValue?,
        generation: Generation,
        cursor: Cursor, author: Change.Author?, timeNanoseconds: Int64, part: Int, parts: Int
    ) {
        self.kind = kind
        self.suite = suite
        self.key = key
        self.oldValue = oldValue
        self.newValue = newValue
        self.generation = generation
        self.cursor = cursor
        self.author = author
        self.timeNanoseconds = timeNanoseconds
        self.part = part
        self.parts = parts
    }
}

/// The feed of a suite's changes. Each follower reads the suite's log by itself, so a slow follower costs no memory but
/// the values that it compares with. A follower loses nothing as long as the log keeps its position (at least two
/// segments); after that it gets one `rescan` and the differences. For use by one thread.
struct KeyFeed: Feed {
    let store: SuiteStore
    /// The keys that are followed; nil for all keys.
    private let keys: Set<String>?
    private var state = SuiteState()
    private var position: LogPosition
    private var waiting: ArraySlice<DefaultsChange> = []
    /// The position before the changes in `waiting`: a consumer that stops in the middle of them gets all of them
    /// again. For a snapshot it is no position in the log.
    private var front: LogPosition
    /// Held so that the process stays a member as long as the suite is followed.
    let container: Container
    private var presence = RemovalCheck()
    private var identity: UInt64 { container.opened.journal.container }

    init(
        _ store: SuiteStore, in container: Container, keys: Set<String>?, since origin: ChangeOrigin
    ) throws(CoordinationError) {
        self.store = store
        self.keys = keys
        self.container = container
        position = LogPosition(segment: 0, offset: 0, sequence: 0, checksum: 0)
        front = position
        switch origin {
        case .now: try beginAtEnd()
        case .start:
            position = try translating(store.log.start())
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
        let (whole, end) = try translating(store.present())
        state = keys.map { whole.restricted(to: $0) } ?? whole
        position = end
    }

    /// Reads the state with which a compacted segment begins.
    private mutating func readCarried() throws(CoordinationError) {
        guard let segment = try translating(store.log.segment(position.segment)) else { return }
        while position.offset < segment.positionAfterPreamble.offset {
            do throws(LogFailure) {
                guard case .entry(let entry) = try store.log.knownStep(behind: position), entry.isControl else {
                    return
                }
                take(entry)
            } catch {
                try passOver(error)
                if segment.cut != nil { return }
            }
        }
    }

    /// Moves past a record that is not what was written, and reports it as a `degraded` change.
    private mutating func passOver(_ error: LogFailure) throws(CoordinationError) {
        front = position
        position = try translating(store.positionBehindDamage(position, error))
        waiting.append(change(.degraded(reason: CoordinationError(error).reason), "", nil, nil))
    }

    private mutating func begin(at cursor: Cursor) throws(CoordinationError) -> Bool {
        guard let goal = cursor.position(in: identity), try translating(store.log.contains(goal)),
            let segment = try translating(store.log.segment(goal.segment))
        else { return false }
        position = .start(of: segment.header)
        while position.offset < goal.offset {
            do throws(LogFailure) {
                guard case .entry(let entry) = try store.log.knownStep(behind: position) else { return false }
                take(entry)
            } catch {
                // The damage was reported before.
                let behind = try translating(store.positionBehindDamage(position, error))
                if behind == position { return false }
                position = behind
            }
        }
        return position == goal
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

    /// The position after the last change that was returned, or before it where more of its transaction or snapshot is
    /// to be returned.
    var cursor: Cursor { Cursor(waiting.isEmpty ? position : front, in: identity) }

    var readPosition: Cursor { Cursor(position, in: identity) }

    /// Whether more of the same transaction, snapshot or comparison is to be returned.
    var hasMoreOfBatch: Bool { !waiting.isEmpty }

    var waiter: any FeedWaiter { store.waiter.since(removals: presence.removals) }

    mutating func check() throws(CoordinationError) {
        try store.checkNotForked("follow")
        try presence.check(container.opened, "follow")
    }

    /// Whether there may be more changes.
    var hasMore: Bool { !waiting.isEmpty || store.log.hasMore(behind: position) }

    /// Returns the next change, or nil at the end. Error: `damaged` where the position after the damage cannot be
    /// found.
    mutating func next() throws(CoordinationError) -> DefaultsChange? {
        try container.opened.locating { () throws(CoordinationError) in try advance() }
    }

    private mutating func advance() throws(CoordinationError) -> DefaultsChange? {
        while true {
            if var change = waiting.popFirst() {
                // The changes of a transaction share the position after the transaction, and each has the number of
                // all.
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
            case .entry(let entry) where entry.isControl && entry.position.segment != position.segment:
                // The state that the new segment begins with contains only what was read up to the end of the segment
                // before.
                guard let segment = try translating(store.log.segment(entry.position.segment)) else { continue }
                position = segment.positionAfterPreamble
            case .entry(let entry): report(entry)
            case .end: return nil
            // The records in a gap are lost; only the values that are set now count.
            case .gap, .lost: try compare()
            }
        }
    }

    private mutating func report(_ entry: LogEntry) {
        (front, position) = (position, entry.position)
        guard !entry.isControl, let record = try? SuiteRecord(decoding: entry.body) else {
            // The state that a compacted segment begins with is known already.
            return
        }
        let author = Change.Author(processIdentifier: record.processIdentifier, purpose: record.purpose)
        var changes: [DefaultsChange] = []
        var origin = Origin.here
        for step in steps(of: record) {
            switch step {
            case .set(let key, let value), .carried(let key, let value, _):
                changes.append(change(.set, key, state.entries[key]?.value, value))
            case .added(let key, let number, let value):
                var sum = change(.set, key, state.entries[key]?.value, value)
                sum.addend = number
                changes.append(sum)
            case .source(let number): origin = .source(number)
            case .remove(let key):
                if let old = state.entries[key]?.value { changes.append(change(.removed, key, old, nil)) }
            case .removeAll where keys == nil: changes.append(change(.cleared, "", nil, nil))
            case .removeAll: changes += state.entries.map { change(.removed, $0.key, $0.value.value, nil) }
            }
            state.apply([step], at: position.sequence)
        }
        for (part, var change) in changes.enumerated() {
            (change.author, change.timeNanoseconds, change.part, change.parts) = (
                author, record.time, part, changes.count
            )
            change.origin = origin
            waiting.append(change)
        }
    }

    /// Returns to the end of the log, and queues what was missed as the differences that it made.
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
            kind: kind, suite: store.name, key: key, oldValue: old, newValue: new,
            generation: Generation(rawValue: kind == .set ? max(generation, position.sequence) : generation),
            cursor: Cursor(position, in: identity), author: nil,
            timeNanoseconds: 0, part: 0, parts: 1)
    }
}

/// The changes of a feed that are ready, reduced to the last one of each key, with the value from before its first
/// change.
struct LatestKeyFeed: Feed {
    private var changes: KeyFeed
    private var latest: ArraySlice<DefaultsChange> = []
    /// The position in front of `latest`.
    private var front: Cursor

    init(_ changes: KeyFeed) { (self.changes, front) = (changes, changes.cursor) }

    mutating func next() throws(CoordinationError) -> DefaultsChange? {
        if latest.isEmpty {
            front = changes.cursor
            latest = try nextBatch()
        }
        return latest.popFirst()
    }

    private mutating func nextBatch() throws(CoordinationError) -> ArraySlice<DefaultsChange> {
        var (order, last): ([String], [String: DefaultsChange]) = ([], [:])
        var damage: [DefaultsChange] = []
        while var change = try changes.next() {
            if case .degraded = change.kind {
                damage.append(change)
                continue
            }
            if change.kind == .cleared || change.kind == .rescan { (order, last) = ([], [:]) }
            if let before = last[change.key] { change.oldValue = before.oldValue } else { order.append(change.key) }
            last[change.key] = change
        }
        return (damage + order.compactMap { last[$0] })[...]
    }

    var cursor: Cursor { latest.isEmpty ? changes.cursor : front }
    var readPosition: Cursor { changes.readPosition }
    var hasMoreOfBatch: Bool { !latest.isEmpty }
    var hasMore: Bool { !latest.isEmpty || changes.hasMore }
    var waiter: any FeedWaiter { changes.waiter }
    mutating func check() throws(CoordinationError) { try changes.check() }
}

extension DefaultsChange: StreamElement {
    /// The error with which following keys fails.
    public typealias Failure = CoordinationError
    /// A position in the suite's log.
    public typealias Position = Cursor
}

/// A suite's changes since a position, without end: see `GroupDefaults.changes(of:since:delivering:)`.
public typealias DefaultsChanges = FollowerSequence<DefaultsChange>

/// The values of a key: first the present value, then each value that is set.
public struct DefaultsValues<Value: Sendable>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value

    let key: GroupDefaults.Key<Value>
    let present: Value
    let changes: DefaultsChanges

    /// Returns an iterator that starts at the sequence's position.
    public func makeAsyncIterator() -> Iterator {
        Iterator(key: key, present: present, changes: changes.makeAsyncIterator())
    }

    /// The position of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let key: GroupDefaults.Key<Value>
        fileprivate var present: Value?
        fileprivate var changes: DefaultsChanges.Iterator

        /// Returns the next value, or nil when the task is cancelled. A stored value that cannot be a value of the type
        /// is skipped.
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
                guard let new = change.newValue else { return key.defaultValue }
                if let value = try? key.decode(new) { return value }
            }
            return nil
        }
    }
}

extension GroupDefaults {
    /// Whether a slow consumer gets every change, or only the last one of each key.
    public enum Delivery: Sendable {
        /// Every change.
        case every
        /// The last change where a key has changed several times since the consumer last looked, with the value from
        /// before the first of them.
        case latest
    }

    /// Returns the changes of some keys, or of the whole suite (nil), since a position: `.now` (this call), `.start`
    /// (the oldest change that is kept), after a `Cursor`, or `.snapshot`, which delivers the present values first. A
    /// damaged record gives a `degraded` change, and the changes after it follow; the iteration fails with `damaged`
    /// where the log cannot be read on, for as long as that is so.
    public func changes(
        of keys: Set<String>? = nil, since origin: ChangeOrigin = .now, delivering delivery: Delivery = .every
    ) -> DefaultsChanges {
        DefaultsChanges { () throws(CoordinationError) in
            let feed = try feed(of: keys, since: origin)
            return switch delivery {
            case .every: feed
            case .latest: LatestKeyFeed(feed)
            }
        }
    }

    /// Returns the changes of a key since a position. See `changes(of:since:delivering:)` of several keys.
    public func changes<Value>(
        of key: Key<Value>, since origin: ChangeOrigin = .now, delivering delivery: Delivery = .every
    ) -> DefaultsChanges {
        changes(of: [key.name], since: origin, delivering: delivery)
    }

    /// Returns a key's present value, then each value that is set.
    public func values<Value>(of key: Key<Value>, delivering delivery: Delivery = .every) -> DefaultsValues<Value> {
        let changes = changes(of: [key.name], since: .now, delivering: delivery)
        // The changes begin before the read, so that a set in between comes twice rather than never.
        return DefaultsValues(key: key, present: self[key], changes: changes)
    }

    /// Returns the changes of `changes(of:since:delivering:)` for use without tasks, by blocking calls.
    public func follow(
        of keys: Set<String>? = nil, since origin: ChangeOrigin = .now
    ) throws(CoordinationError) -> Follower<DefaultsChange> {
        Follower(try feed(of: keys, since: origin))
    }

    private func feed(
        of keys: Set<String>?, since origin: ChangeOrigin
    ) throws(CoordinationError) -> KeyFeed {
        try container.opened.locating { () throws(CoordinationError) -> KeyFeed in
            guard let store = try store(creating: true) else {
                throw CoordinationError(
                    .notFound, operation: "follow", item: ".group/defaults/\(suite)", reason: "there is no such suite",
                    remedy: .init(.setValue, "set a first value, which creates the suite"))
            }
            return try KeyFeed(store, in: container, keys: keys, since: origin)
        }
    }
}
