/// A suite's changes since a place, without end, each once and in order. Each iterator reads on its own.
public struct DefaultsChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = DefaultsChange

    private let reader: Result<DefaultsReader, CoordinationError>
    private let isLatestOnly: Bool

    init(_ reader: Result<DefaultsReader, CoordinationError>, isLatestOnly: Bool) {
        (self.reader, self.isLatestOnly) = (reader, isLatestOnly)
    }

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, isLatestOnly: isLatestOnly) }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var reader: Result<DefaultsReader, CoordinationError>
        fileprivate let isLatestOnly: Bool
        private var latest: ArraySlice<DefaultsChange> = []
        private var presence = PresenceCheck()

        fileprivate init(reader: Result<DefaultsReader, CoordinationError>, isLatestOnly: Bool) {
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

        private mutating func take(from reader: inout DefaultsReader) throws(CoordinationError) -> DefaultsChange? {
            if !isLatestOnly { return try reader.next() }
            if latest.isEmpty { latest = try Self.latest(of: &reader) }
            return latest.popFirst()
        }

        /// Of each key the last one, with what was set before the first.
        private static func latest(
            of reader: inout DefaultsReader
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
    private var reader: DefaultsReader
    private var presence = PresenceCheck()

    init(_ reader: DefaultsReader) { self.reader = reader }

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
    ) throws(CoordinationError) -> DefaultsReader {
        guard let store = try store(creating: true) else {
            throw CoordinationError(
                .notFound, item: ".group/defaults/\(suite)", operation: "follow", cause: "there is no such suite",
                advice: "it comes into being with its first value")
        }
        return try DefaultsReader(
            store, in: container, keys: keys, since: origin)
    }
}
