// Imports nothing: no file, clock or process.

/// The relation of an event of the watch to the fold.
package enum Arrival: Equatable, Sendable {
    case next
    /// The fold has the entry already.
    case repeated
    /// At least one event before it was lost. The log must be read before another entry is applied.
    case gap
}

/// The result of one consistent quorum read of the keys of a cluster.
package struct ClusterReading: Sendable {
    /// The version of the key `t`: the number of entries that were ever committed.
    package var count: UInt64
    package var snapshot: [UInt8]?
    /// All entries that are in etcd, in the order of their revisions. Entries before the snapshot may be missing.
    package var entries: [OrderedEntry]

    package init(count: UInt64, snapshot: [UInt8]?, entries: [OrderedEntry]) {
        self.count = count
        self.snapshot = snapshot
        self.entries = entries
    }
}

/// The way in which a fold goes on after a reading.
package enum Continuation: Equatable, Sendable {
    /// These entries follow.
    case entries([OrderedEntry])
    /// Some entries that follow were removed. The snapshot replaces the fold, and these entries follow it.
    case snapshot(ClusterFold, [OrderedEntry])
    /// An entry that this machine has folded or committed is missing: etcd was restored, or is another one.
    case otherHistory
}

extension ClusterFold {
    /// Returns the relation of an event to the fold, which the index alone decides.
    package func arrival(of entry: OrderedEntry) -> Arrival {
        entry.index <= index ? .repeated : entry.index == index + 1 ? .next : .gap
    }

    /// Returns how this fold goes on after a reading. `own` is this machine, with the number of its last entry that was
    /// folded.
    ///
    /// If the fold is as old as the snapshot, or newer, the snapshot's history hash, continued over the entries, must
    /// result in that of the fold. If the fold is older, the entries between them are no longer in etcd. Then each
    /// machine's number in the snapshot must be at least the number in the fold, and `own` must be in the snapshot or
    /// come after it.
    package func continued(by reading: ClusterReading, own: (machine: ClusterName, number: UInt64))
        throws(ClusterDamage) -> Continuation
    {
        var base = ClusterFold()
        if let snapshot = reading.snapshot { base = try ClusterFold(snapshot: snapshot) }
        let entries = reading.entries.filter { $0.index > base.index }
        // No entry behind the snapshot may be missing.
        if base.index + UInt64(entries.count) != reading.count
            || zip(entries, base.index + 1..<UInt64.max).contains(where: { $0.index != $1 })
        {
            throw .malformed("entries are missing that no snapshot has")
        }
        if reading.count < index { return .otherHistory }
        // Behind the snapshot: the numbers are compared, since the entries between are gone.
        if base.index > index {
            for (machine, last) in machines where base.machines[machine]?.number ?? 0 < last.number {
                return .otherHistory
            }
            if own.number > entries.last(where: { $0.machine == own.machine })?.number
                ?? base.machines[own.machine]?.number ?? 0
            {
                return .otherHistory
            }
            return .snapshot(base, entries)
        }
        // Not behind the snapshot: the hashes are compared.
        var chain = base.chain
        for entry in entries where entry.index <= index { chain = Self.chained(chain, entry) }
        return chain == self.chain ? .entries(entries.filter { $0.index > index }) : .otherHistory
    }
}
