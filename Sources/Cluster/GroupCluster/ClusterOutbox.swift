// Imports nothing: no file, clock or process.

/// The transaction that commits an entry: if the machine's counter is `number` − 1, and the lock's value is the token,
/// put the counter, the entry and the key `t`.
package struct CommitRequest: Equatable, Sendable {
    package var machine: ClusterName
    package var number: UInt64
    package var token: LockToken?
    package var bytes: [UInt8]
}

/// A lock of the cluster, and the name of the grant that has it.
package struct LockToken: Hashable, Sendable {
    package var lock: [UInt8]
    package var grant: ClusterName

    package init(lock: [UInt8], grant: ClusterName) { (self.lock, self.grant) = (lock, grant) }
}

/// What became of an entry.
package enum Fate: Equatable, Sendable {
    case accepted
    case conflict
    /// Surely not committed.
    case unavailable
}

/// What this machine sends, in order, with one entry in flight. Its owner stores it before each request.
package struct ClusterOutbox: Equatable, Sendable {
    /// What waits.
    package enum Draft: Equatable, Sendable {
        case entry(ClusterEntry, LockToken?)
        /// An item of the disk has changed. What has changed is found when its turn comes, so that what was overwritten
        /// before is not sent.
        case item(LocalItem)
    }

    package struct InFlight: Equatable, Sendable {
        package var number: UInt64
        package var entry: ClusterEntry
        package var token: LockToken?
        /// The empty entry that competes for the number, since the caller gave up.
        package var empty: ClusterEntry?
        /// What the base becomes when the entry is folded.
        package var sent: [SentItem]
    }

    /// What an entry of this machine's counter means.
    package enum Folded: Equatable, Sendable {
        /// It is folded again after a restart.
        case known
        /// The fate of the entry in flight.
        case fate(InFlight, Fate)
        /// Another machine sends under this one's name.
        case clone
    }

    package let machine: ClusterName
    /// The last number of this machine that is folded.
    package private(set) var number: UInt64
    package private(set) var inFlight: InFlight?

    private enum Turn: Hashable {
        case entry(ClusterName)
        case item(LocalItem)
    }
    private struct WaitingEntry: Equatable {
        var entry: ClusterEntry
        var token: LockToken?
    }
    private var turns = Worklist<Turn>()
    private var entries: [ClusterName: WaitingEntry] = [:]

    package init(machine: ClusterName, number: UInt64 = 0, inFlight: InFlight? = nil) {
        (self.machine, self.number, self.inFlight) = (machine, number, inFlight)
    }

    /// What waits, in its order.
    package var waiting: [Draft] { turns.elements.compactMap(draft) }

    /// How much waits.
    package var waitingCount: Int { turns.count }

    private func draft(_ turn: Turn) -> Draft? {
        switch turn {
        case .item(let local): .item(local)
        case .entry(let operation): entries[operation].map { .entry($0.entry, $0.token) }
        }
    }

    /// The request to send, and to send again until its number is folded.
    package var request: CommitRequest? {
        guard let inFlight else { return nil }
        if let empty = inFlight.empty {
            return CommitRequest(machine: machine, number: inFlight.number, token: nil, bytes: empty.bytes)
        }
        return CommitRequest(
            machine: machine, number: inFlight.number, token: inFlight.token, bytes: inFlight.entry.bytes)
    }

    /// Adds what is to be sent. An item that waits already keeps its place, though its new state is sent: what was made after
    /// its first change, such as a message about it, must not be sent before it.
    package mutating func add(_ draft: Draft) {
        switch draft {
        case .item(let local): if !turns.contains(.item(local)) { turns.insert(.item(local)) }
        case .entry(let entry, let token):
            entries[entry.operation] = WaitingEntry(entry: entry, token: token)
            turns.insert(.entry(entry.operation))
        }
    }

    /// Whether an item waits.
    package func waits(_ local: LocalItem) -> Bool { turns.contains(.item(local)) }

    /// The item whose turn it is, if it is an item's.
    package var firstItem: LocalItem? {
        mutating get { if case .item(let local)? = turns.first { local } else { nil } }
    }

    /// Takes the draft whose turn it is, if nothing is in flight.
    package mutating func next() -> Draft? {
        guard inFlight == nil, let turn = turns.removeFirst() else { return nil }
        defer { if case .entry(let operation) = turn { entries[operation] = nil } }
        return draft(turn)
    }

    /// Puts an entry in flight: what `next` returned, or what became of it. Returns false for an entry that no machine
    /// could read, as a path is too deep or a name is not allowed; nothing is sent then.
    package mutating func send(_ entry: ClusterEntry, token: LockToken? = nil, sent: [SentItem] = []) -> Bool {
        guard (try? ClusterEntry(bytes: entry.bytes)) == entry else { return false }
        inFlight = InFlight(number: number + 1, entry: entry, token: token, empty: nil, sent: sent)
        return true
    }

    /// Ends the wait for a strict entry. Returns its fate if that is certain already; else `empty` competes for the
    /// number, and the fate follows. `mayBeCommitted` is whether an attempt to commit it may have reached etcd.
    package mutating func giveUp(_ operation: ClusterName, empty: ClusterName, mayBeCommitted: Bool = true) -> Fate? {
        if inFlight?.entry.operation == operation {
            if !mayBeCommitted && inFlight?.empty == nil {
                inFlight = nil
                return .unavailable
            }
            if inFlight?.empty == nil { inFlight?.empty = ClusterEntry(empty) }
            return nil
        }
        guard entries.removeValue(forKey: operation) != nil else { return nil }
        turns.remove(.entry(operation))
        return .unavailable
    }

    /// Takes the refusal of a request: what the counter was, and whether the token was the lock's value. Returns the
    /// entry whose fate is `.conflict`, as its token is gone and its number is free.
    package mutating func refused(_ request: CommitRequest, counter: UInt64, hasToken: Bool) -> InFlight? {
        guard let entry = inFlight, request == self.request, counter == entry.number - 1, !hasToken, entry.empty == nil
        else { return nil }
        inFlight = nil
        return entry
    }

    /// Takes an entry of this machine's counter that was folded.
    package mutating func folded(_ last: ClusterFold.Last) -> Folded {
        if last.number <= number { return .known }
        guard let entry = inFlight, last.number == entry.number else { return .clone }
        let fate: Fate
        switch last.operation {
        case entry.entry.operation: fate = last.outcome == .accepted ? .accepted : .conflict
        case entry.empty?.operation: fate = .unavailable
        default: return .clone
        }
        (inFlight, number) = (nil, last.number)
        return .fate(entry, fate)
    }

    /// Returns the outbox of a machine that joins anew under another name: what waits, and the entry in flight, unless
    /// the history that is joined has it.
    package func renamed(_ machine: ClusterName, in fold: ClusterFold) -> ClusterOutbox {
        var result = ClusterOutbox(machine: machine)
        if let inFlight, inFlight.sent.isEmpty, !inFlight.entry.isStrict, inFlight.empty == nil,
            fold.machines[self.machine]?.operation != inFlight.entry.operation
        {
            result.add(.entry(inFlight.entry, nil))
        }
        for draft in waiting { if case .entry = draft { result.add(draft) } }
        return result
    }
}
