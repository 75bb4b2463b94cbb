// Imports nothing: no file, clock or process.

/// The transaction of etcd that commits an entry. If the counter of the machine is `number` − 1, and the lock's value
/// is the token, the transaction puts the counter, the entry and the key `t`.
package struct CommitRequest: Equatable, Sendable {
    package var machine: ClusterName
    package var number: UInt64
    package var token: LockToken?
    package var bytes: [UInt8]
}

/// A lock of the cluster, and the name of the grant that has it: the fencing token.
package struct LockToken: Hashable, Sendable {
    package var lock: [UInt8]
    package var grant: ClusterName

    package init(lock: [UInt8], grant: ClusterName) { (self.lock, self.grant) = (lock, grant) }
}

/// The fate of an entry.
package enum Fate: Equatable, Sendable {
    case accepted
    case conflict
    /// The entry was surely not committed.
    case unavailable
}

/// The changes that this machine sends, in their order, and the one entry that is in flight.
///
///     waiting ── next, send ──▶ in flight ── folded ──▶ accepted, or conflict
///                                │    ├── refused: the number is free, the lock is lost ──▶ conflict
///                                │    └── giveUp, surely not sent ──▶ unavailable
///                                └── giveUp ──▶ an empty entry competes for the number ── folded ──▶ see below
///
/// The fate of an entry is read from the fold, not from the answer of etcd, except for a refusal that shows that the
/// number is free and the lock is lost. An answer may be lost, so the same bytes are sent again, with the same number,
/// until that number is folded. If the caller gives up, an empty entry is sent with that number. The counter lets only
/// one of the two be committed: the fold then shows the entry's own operation (accepted or conflict) or the empty one's
/// (unavailable).
///
/// The owner stores the outbox before each request.
package struct ClusterOutbox: Equatable, Sendable {
    /// A change that waits.
    package enum Draft: Equatable, Sendable {
        case entry(ClusterEntry, LockToken?)
        /// An item of the disk has changed. The change itself is found when its turn comes, so an older content that
        /// was overwritten by then is not sent.
        case item(LocalItem)
    }

    package struct InFlight: Equatable, Sendable {
        package var number: UInt64
        package var entry: ClusterEntry
        package var token: LockToken?
        /// The empty entry that competes for the number after the caller has given up.
        package var empty: ClusterEntry?
        /// The changes that the base takes over when the entry is folded.
        package var sent: [SentItem]
    }

    /// The meaning of a folded entry of this machine's counter.
    package enum Folded: Equatable, Sendable {
        /// The entry was folded before: it is read again after a restart.
        case known
        /// The entry decides the fate of the entry in flight.
        case fate(InFlight, Fate)
        /// Another machine sends under this one's name.
        case clone
    }

    package let machine: ClusterName
    /// The number of this machine's last entry that is folded.
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
        self.machine = machine
        self.number = number
        self.inFlight = inFlight
    }

    /// The changes that wait, in their order.
    package var waiting: [Draft] { turns.elements.compactMap(draft) }

    /// The number of changes that wait.
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

    /// Adds a change. An item that waits already keeps its turn, and is sent with its new state. Otherwise something
    /// that was made after its first change, such as a message about it, could be sent before it.
    package mutating func add(_ draft: Draft) {
        switch draft {
        case .item(let local): if !turns.contains(.item(local)) { turns.insert(.item(local)) }
        case .entry(let entry, let token):
            entries[entry.operation] = WaitingEntry(entry: entry, token: token)
            turns.insert(.entry(entry.operation))
        }
    }

    /// Returns whether an item waits.
    package func waits(_ local: LocalItem) -> Bool { turns.contains(.item(local)) }

    /// The item whose turn it is; nil if it is the turn of something else.
    package var firstItem: LocalItem? {
        mutating get { if case .item(let local)? = turns.first { local } else { nil } }
    }

    /// Takes the change whose turn it is; nil if none waits, or if an entry is in flight.
    package mutating func next() -> Draft? {
        guard inFlight == nil, let turn = turns.removeFirst() else { return nil }
        defer { if case .entry(let operation) = turn { entries[operation] = nil } }
        return draft(turn)
    }

    /// Puts an entry in flight, which was made of what `next` has returned. Returns false, and sends nothing, if no
    /// machine could read the entry, because a path is too deep or a name is not allowed.
    package mutating func send(_ entry: ClusterEntry, token: LockToken? = nil, sent: [SentItem] = []) -> Bool {
        if !entry.isReadable { return false }
        inFlight = InFlight(number: number + 1, entry: entry, token: token, empty: nil, sent: sent)
        return true
    }

    /// Gives up an entry. Returns its fate if that is certain already. Otherwise the entry `empty` competes for its
    /// number, and the fate follows. `mayBeCommitted` is whether an attempt to commit the entry may have reached etcd.
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

    /// Takes the refusal of a request. `counter` is the number of this machine's last entry in etcd, and `hasToken` is
    /// whether the token was the lock's value. If the number is free and the token is lost, this returns the entry,
    /// whose fate is `.conflict`.
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

    /// Returns the outbox of a machine that joins anew under another name: with the entries that wait, and the entry in
    /// flight unless the new history has that.
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
