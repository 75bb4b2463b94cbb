import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Stores what outlives the program, and shows the status.
extension Machine {
    func storeState() throws {
        let isStored =
            toStore.isEmpty && !mirror.hasChanged && !disk.hasUnstored && !removals.isUnstored
            && !requests.isUnstored && !suites.areUnstored && !channels.areUnstored && !displaced.isUnstored
            && !report.isUnstored
        if isStored { return }
        let unstored = toStore
        toStore = Unstored()
        let changedBases = mirror.takeChanged()
        try store.store(isDurable: unstored.mustBeDurable) { store in
            if unstored.isAllNew {
                for space in [StateStore.Space.item, .machine, .value, .channel, .message] {
                    try store.removeAll(space)
                }
            }
            let items = unstored.isAllNew ? Set(fold.tree.nodes.keys) : unstored.items
            for item in items { try store.set(.item, item.bytes, fold.tree[item]?.bytes) }
            let machines = unstored.isAllNew ? Set(fold.machines.keys) : unstored.machines
            for machine in machines { try store.set(.machine, machine.bytes, fold.machines[machine]?.bytes) }
            let keys = unstored.isAllNew ? Set(fold.values.keys) : unstored.keys
            for key in keys { try store.set(.value, key, fold.values[key]?.bytes) }
            for item in changedBases { try store.set(.base, item.bytes, mirror.base[item]?.bytes) }
            try disk.store { key, value in try store.set(.local, key, value) }
            let position = StoredPosition(
                index: fold.index, revision: fold.revision, chain: fold.chain, number: outbox.number,
                lastLocal: disk.lastNumber)
            try store.set("place", position.bytes)
            try store.set("machine", outbox.machine.bytes)
            if let cursor = unstored.cursor { try store.set("cursor", Array(cursor.description.utf8)) }
            if unstored.isOutboxChanged {
                try store.set("in flight", outbox.inFlight?.bytes)
                try channels.storePosts(in: store)
            }
            if requests.isUnstored { try store.set("accepted", LoadedState.bytes(ofAccepted: requests.accepted)) }
            if removals.isUnstored { try removals.store(in: store) }
            try suites.store(in: store)
            try channels.store(fold, isAllNew: unstored.isAllNew, in: store)
            try displaced.store(in: store)
            try report.storeIfNeeded(store)
        }
        requests.stored()
        removals.stored()
    }

    /// Returns the failure for an etcd database that uses too much room. Nothing is sent until there is room.
    func noRoom(_ used: UInt64) -> String {
        "etcd's database uses \(used >> 20) MiB of a budget of \(identity.budget >> 20); above half of the budget nothing is sent, until an eighth of that half is free again; compact and defragment etcd, or give it more room and this program a larger --budget"
    }

    func showStatus(force: Bool) throws {
        report.status.index = fold.index
        report.status.count = max(report.status.count, fold.index)
        report.status.toApply = mirror.stale.count
        let lacking = full.lacking.count { if case .sent(let local) = $0 { !outbox.waits(local) } else { false } }
        report.status.toSend = outbox.waitingCount + lacking + (outbox.inFlight == nil ? 0 : 1)
        let withheld = removals.withheldCount(mirror, disk.tree)
        report.status.withheld = withheld == 0 ? nil : withheld
        let unmirrored = disk.unmirrored.merging(obstacles) { first, _ in first }
            .merging(suites.refusedSuites) { first, _ in first }
        report.status.unmirrored = unmirrored.sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(1_000).map {
            .init(path: printable($0.key), reason: $0.value)
        }
        report.status.ignored = disk.statedIgnored
        if history.hasRead {
            let note = MachineNote(
                index: fold.index, seconds: 0, host: identity.host,
                .init(
                    withheld: withheld, unmirrored: unmirrored.count,
                    items: report.status.unmirrored.prefix(MachineNote.Differences.most).map {
                        "\($0.path): \($0.reason)"
                    }))
            link.notes.withLock { $0.present = note }
        }
        // A copy that is neither here nor in the cluster was removed or renamed by a person.
        try report.show(force: force) { disk.item(at: $0) == nil && fold.tree.item(at: $0) == nil }
    }
}

extension RemovalGuard {
    /// Stores the rows of the guard. To be called within `store` only.
    func store(in store: StateStore) throws {
        for (row, items) in [(StateRow.meantRemovals, meant), (StateRow.withheldRemovals, withheld)] {
            var writer = ByteWriter()
            for item in items.sorted() { writer.write(item.number) }
            try store.set(row, items.isEmpty ? nil : writer.bytes)
        }
    }

    /// Reads the rows of the guard.
    init(stored store: StateStore) throws {
        func items(_ row: String) throws -> Set<LocalItem> {
            var items: Set<LocalItem> = []
            var reader = ByteReader(try store.value(row) ?? [])
            while reader.remaining > 0 { items.insert(LocalItem(try reader.number(UInt64.self))) }
            return items
        }
        self.init(withheld: try items(StateRow.withheldRemovals), meant: try items(StateRow.meantRemovals))
    }
}
