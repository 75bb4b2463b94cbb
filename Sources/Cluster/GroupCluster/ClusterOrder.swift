// Imports nothing: no file, clock or process.

/// What an event of the watch is.
package enum Arrival: Equatable, Sendable {
    case next
    /// Its index is folded already.
    case repeated
    /// At least one event before it was lost: read before anything more is folded.
    case gap
}

/// What one consistent quorum read of a container's keys found.
package struct ClusterReading: Sendable {
    /// The version of the key `t`: how many entries were ever committed.
    package var count: UInt64
    package var snapshot: [UInt8]?
    /// All entries that stand, in the order of their revisions. Those before the snapshot may be missing.
    package var entries: [OrderedEntry]

    package init(count: UInt64, snapshot: [UInt8]?, entries: [OrderedEntry]) {
        (self.count, self.snapshot, self.entries) = (count, snapshot, entries)
    }
}

/// How a reading goes on from a fold.
package enum Continuation: Equatable, Sendable {
    /// These entries follow.
    case entries([OrderedEntry])
    /// Entries that follow are gone: this fold, a snapshot, takes the place of the old one; then these entries follow.
    case snapshot(ClusterFold, [OrderedEntry])
    /// Something that this machine has folded or committed is not there: etcd was restored, or is another one.
    case otherHistory
}

extension ClusterFold {
    /// Returns what an event is, by its index alone.
    package func arrival(of entry: OrderedEntry) -> Arrival {
        entry.index <= index ? .repeated : entry.index == index + 1 ? .next : .gap
    }

    /// Returns how a reading goes on from this fold. `own` is this machine, and the last number that it has seen folded.
    package func continued(by reading: ClusterReading, own: (machine: ClusterName, number: UInt64))
        throws(ClusterDamage) -> Continuation
    {
        var base = ClusterFold()
        if let snapshot = reading.snapshot { base = try ClusterFold(snapshot: snapshot) }
        let entries = reading.entries.filter { $0.index > base.index }
        // The entries must be all that there are.
        if base.index + UInt64(entries.count) != reading.count
            || zip(entries, base.index + 1..<UInt64.max).contains(where: { $0.index != $1 })
        {
            throw .malformed("entries are missing that no snapshot has")
        }
        if reading.count < index { return .otherHistory }
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
        var chain = base.chain
        for entry in entries where entry.index <= index { chain = Self.chained(chain, entry) }
        return chain == self.chain ? .entries(entries.filter { $0.index > index }) : .otherHistory
    }
}
