// Imports nothing: no file, clock or process.

/// A change that a process of this machine has made. `Place` is a place in the log of a suite.
package struct DraftedChange<Place> {
    package enum What {
        case item(LocalItem)
        /// Changes of keys of a suite that belong together, and the place behind them; nil in the middle of what cannot
        /// be read from there on.
        case values([ClusterChange], suite: String, place: Place?)
        /// A message, and the name of the record in which it waits.
        case post(ClusterChange, identifier: String)
    }
    package var what: What
    /// Nanoseconds since 1970, of the clock of this machine.
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

/// Puts the changes of this machine's processes, which come from the journal, from suites and from channels, into the order of their
/// times, and makes entries of those of suites and channels. Changes of items are found when their turn comes.
package struct LocalOrder<Place> {
    /// What is to be noted when an entry is sent.
    package struct Notes {
        package fileprivate(set) var suites: Set<String> = []
        package fileprivate(set) var places: [String: Place] = [:]
        package fileprivate(set) var posts: [String] = []
    }

    /// Entries beyond these sizes are begun anew.
    private let mostChanges: Int
    private let mostBytes: Int
    /// Changes whose order is not certain yet.
    private var held: [DraftedChange<Place>] = []
    private var notes: [ClusterName: Notes] = [:]

    package init(mostChanges: Int, mostBytes: Int) { (self.mostChanges, self.mostBytes) = (mostChanges, mostBytes) }

    /// Takes changes, and returns what is to be sent, in its order. A change that is younger than `limit` is held until the next call:
    /// something older may come yet. So is each later change of its suite. A change whose time is far in the future has a wrong one, and
    /// waits for nothing.
    package mutating func take(
        _ new: [DraftedChange<Place>], limit: Int64, now: Int64, name: () -> ClusterName
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
        /// Where the change of each key is: a key that is set often is sent once.
        private var places: [[UInt8]: Int] = [:]

        mutating func add(_ draft: DraftedChange<Place>) {
            for change in draft.changes { add(change) }
            switch draft.what {
            case .item: break
            case .values(_, let suite, let place):
                notes.suites.insert(suite)
                if let place { notes.places[suite] = place }
            case .post(_, let identifier): notes.posts.append(identifier)
            }
        }

        private mutating func add(_ change: ClusterChange) {
            if case .value(let value) = change {
                if let place = places[value.key], case .value(let before) = changes[place],
                    let joined = before.joined(with: value)
                {
                    changes[place] = .value(joined)
                    size += changes[place].size - ClusterChange.value(before).size
                    return
                }
                places[value.key] = changes.count
            }
            changes.append(change)
            size += change.size
        }
    }

    /// What is held, in its order.
    package var heldChanges: [ClusterChange] { held.flatMap(\.changes) }

    /// The earliest time of what is held; nil where nothing is.
    package var earliest: Int64? { held.map(\.time).min() }

    /// The suites with changes that are held, or whose entries are not folded yet.
    package var pendingSuites: Set<String> { Set(notes.values.flatMap(\.suites)).union(held.compactMap(\.suite)) }

    /// Whether entries wait or are in flight.
    package var hasEntries: Bool { !notes.isEmpty }

    /// Returns what is to be noted of an entry.
    package func notes(of entry: ClusterName) -> Notes? { notes[entry] }

    /// Notes that an entry is folded, or is not sent.
    package mutating func forget(_ entry: ClusterName) { notes[entry] = nil }
}

extension ClusterChange {
    /// About how many bytes of an entry the change takes.
    package var size: Int {
        switch self {
        case .item: 0
        case .value(let change): if case .set(let bytes) = change.action { bytes.count } else { 16 }
        case .message(_, let body): body.count
        }
    }
}
