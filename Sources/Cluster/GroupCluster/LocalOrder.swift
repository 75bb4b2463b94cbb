// Imports nothing: no file, clock or process.

/// A change that a process of this machine has made. `Position` is one in the log of a suite.
package struct DraftedChange<Position> {
    package enum What {
        case item(LocalItem)
        /// Changes of keys of a suite that belong together, with the position behind them; nil if reading cannot resume
        /// there.
        case values([ClusterChange], suite: String, position: Position?)
        /// A message, and the name of the record in which it waits.
        case post(ClusterChange, identifier: String)
    }
    package var what: What
    /// The time of the change in nanoseconds since 1970, by the clock of this machine.
    package var time: Int64

    package init(_ what: What, time: Int64) { (self.what, self.time) = (what, time) }

    fileprivate var changes: [ClusterChange] {
        switch what {
        case .item: []
        case .values(let changes, _, _): changes
        case .post(let change, _): [change]
        }
    }

    fileprivate var suite: String? { if case .values(_, let suite, _) = what { suite } else { nil } }
}

/// The order of the changes that this machine sends. Changes come from three sources: the journal, the suites and the
/// channels. This type sorts them by their times, and makes entries of the changes of suites and channels. A change of
/// an item is only a reference, since its content is read when its turn comes.
package struct LocalOrder<Position> {
    /// The facts to be noted when an entry is sent.
    package struct Notes {
        package fileprivate(set) var suites: Set<String> = []
        package fileprivate(set) var positions: [String: Position] = [:]
        package fileprivate(set) var posts: [String] = []
    }

    /// The sizes at which another entry is begun.
    private let mostChanges: Int
    private let mostBytes: Int
    /// Changes for which an older one may still come.
    private var held: [DraftedChange<Position>] = []
    private var notes: [ClusterName: Notes] = [:]

    package init(mostChanges: Int, mostBytes: Int) { (self.mostChanges, self.mostBytes) = (mostChanges, mostBytes) }

    /// Takes changes, and returns those to be sent, in their order.
    ///
    /// A change that is younger than `limit` is held until the next call, because an older one may still come. All
    /// later changes of its suite are held, too. A time far in the future is wrong, and is not waited for.
    package mutating func take(
        _ new: [DraftedChange<Position>], limit: Int64, now: Int64, name: () -> ClusterName
    ) -> [ClusterOutbox.Draft] {
        var drafts = held + new
        held = []
        drafts.sort { $0.time < $1.time }
        var result: [ClusterOutbox.Draft] = []
        var entry = Entry()
        func end(_ entry: inout Entry, _ notes: inout [ClusterName: Notes], _ result: inout [ClusterOutbox.Draft]) {
            if entry.changes.isEmpty { return }
            let name = name()
            notes[name] = entry.notes
            result.append(.entry(ClusterEntry(name, entry.changes), nil))
            entry = Entry()
        }
        var heldSuites: Set<String> = []
        for draft in drafts {
            let isHeld = draft.suite.map(heldSuites.contains) ?? false
            if isHeld || draft.time > limit && draft.time < now + 1_000_000_000 {
                if let suite = draft.suite { heldSuites.insert(suite) }
                held.append(draft)
                continue
            }
            if case .item(let local) = draft.what {
                end(&entry, &notes, &result)
                result.append(.item(local))
                continue
            }
            let changes = draft.changes
            let size = changes.reduce(0) { $0 + $1.size }
            if entry.changes.count + changes.count > mostChanges || entry.size + size > mostBytes {
                end(&entry, &notes, &result)
            }
            entry.add(draft)
        }
        end(&entry, &notes, &result)
        return result
    }

    /// An entry to which changes are added.
    private struct Entry {
        var changes: [ClusterChange] = []
        var notes = Notes()
        var size = 0
        /// The index of each key's change. A key that is set often is sent once.
        private var indices: [[UInt8]: Int] = [:]

        mutating func add(_ draft: DraftedChange<Position>) {
            for change in draft.changes { add(change) }
            switch draft.what {
            case .item: break
            case .values(_, let suite, let position):
                notes.suites.insert(suite)
                if let position { notes.positions[suite] = position }
            case .post(_, let identifier): notes.posts.append(identifier)
            }
        }

        private mutating func add(_ change: ClusterChange) {
            if case .value(let value) = change {
                if let index = indices[value.key], case .value(let before) = changes[index],
                    let joined = before.joined(with: value)
                {
                    changes[index] = .value(joined)
                    size += changes[index].size - ClusterChange.value(before).size
                    return
                }
                indices[value.key] = changes.count
            }
            changes.append(change)
            size += change.size
        }
    }

    /// The changes that are held, in their order.
    package var heldChanges: [ClusterChange] { held.flatMap(\.changes) }

    /// The earliest time of a held change; nil if none is held.
    package var earliest: Int64? { held.map(\.time).min() }

    /// The suites with changes that are held, or whose entries are not folded yet.
    package var pendingSuites: Set<String> { Set(notes.values.flatMap(\.suites)).union(held.compactMap(\.suite)) }

    /// Whether entries wait or are in flight.
    package var hasEntries: Bool { !notes.isEmpty }

    /// Returns the facts to be noted when an entry is sent.
    package func notes(of entry: ClusterName) -> Notes? { notes[entry] }

    /// Forgets an entry that is folded, or is not sent.
    package mutating func forget(_ entry: ClusterName) { notes[entry] = nil }
}

extension ClusterChange {
    /// The approximate size of the change in an entry, in bytes.
    package var size: Int {
        switch self {
        case .item: 0
        case .value(let change): if case .set(let bytes) = change.action { bytes.count } else { 16 }
        case .message(_, let body): body.count
        }
    }
}
