import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// What outlives the program, and what others see of it.
extension Machine {

    func storeState() throws {
        // What is gone may come back, and then it is the same as before.
        if currentPause == .loss { return }
        let areKeysStored = unappliedKeys == storedUnappliedKeys && removedByCoordination == storedRemovals
        if toStore.isEmpty && mirrorIsStored() && toStore.cursor == nil && areKeysStored { return }
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
            for item in changedBases { try store.set(.base, item.bytes, mirror.base[item]?.bytes) }
            try disk.store { key, value in try store.set(.local, key, value) }
            let place = StoredPlace(
                index: fold.index, revision: fold.revision, chain: fold.chain, number: outbox.number,
                lastLocal: disk.lastNumber)
            try store.set("place", place.bytes)
            if unstored.isOutboxChanged {
                try store.set("in flight", outbox.inFlight?.bytes)
                try store.set("posts in flight", Array(postsInFlight.joined(separator: " ").utf8))
            }
            if unstored.isAcceptedChanged { try store.set("accepted", LoadedState.bytes(ofAccepted: accepted)) }
            if unstored.areRefusedKeysChanged {
                try store.set(Machine.refusedKey, LoadedState.bytes(of: refusedKeys))
            }
            if !areKeysStored {
                try store.set(Machine.unappliedKey, LoadedState.bytes(of: unappliedKeys))
                var writer = ByteWriter()
                for item in removedByCoordination { writer.write(item.number) }
                try store.set(Machine.removalsKey, removedByCoordination.isEmpty ? nil : writer.bytes)
            }
            if unstored.areConflictsChanged { try conflictsIn(store) }
            for file in unstored.endedTaken { try store.set(.taken, file, nil) }
            for (suite, cursor) in unstored.suiteCursors {
                try store.set("suite/\(suite)", Array(cursor.description.utf8))
            }
            let keys = unstored.isAllNew ? Set(fold.values.keys) : unstored.keys
            for key in keys { try store.set(.value, key, fold.values[key]?.bytes) }
            let channels = unstored.isAllNew ? Set(fold.channels.keys) : unstored.channels
            for name in channels { try storeMessages(of: name, isAllNew: unstored.isAllNew) }
            try store.set("machine", outbox.machine.bytes)
            if let cursor = unstored.cursor { try store.set("cursor", Array(cursor.description.utf8)) }
        }
        (storedUnappliedKeys, storedRemovals) = (unappliedKeys, removedByCoordination)
    }

    /// Stores the messages of a channel that are new, and removes those that are no longer kept.
    private func storeMessages(of name: [UInt8], isAllNew: Bool) throws {
        guard let channel = fold.channels[name] else { return }
        func key(_ number: UInt64) -> [UInt8] {
            var writer = ByteWriter()
            writer.write(number.bigEndian)
            return name + writer.bytes
        }
        let before = isAllNew ? 0 : storedMessages[name] ?? 0
        let most = UInt64(ClusterFold.Channel.mostKept)
        let stored = before > most ? before - most + 1 : 1
        let oldest = channel.newest.first?.number ?? channel.last + 1
        for number in stored..<max(stored, min(oldest, before + 1)) { try store.set(.message, key(number), nil) }
        for message in channel.newest where message.number > before {
            try store.set(.message, key(message.number), message.bytes)
        }
        storedMessages[name] = channel.last
        try store.set(.channel, name, channel.bytes)
    }

    /// Says that nothing is sent, as etcd has too much.
    func noRoom(_ used: UInt64) -> String {
        "etcd's database uses \(used >> 20) MiB of a budget of \(identity.budget >> 20), and nothing is sent from half of it on; compact and defragment etcd, or give it more room and this program a larger --budget"
    }

    private func mirrorIsStored() -> Bool { !mirror.hasChanged && !disk.hasUnstored }

    func showStatus(force: Bool) throws {
        status.index = fold.index
        status.count = max(status.count, fold.index)
        status.toApply = mirror.stale.count
        let lacking = full.lacking.count { if case .sent(let local) = $0 { !outbox.waits(local) } else { false } }
        status.toSend = outbox.waitingCount + lacking + (outbox.inFlight == nil ? 0 : 1)
        if shownStatus != stated && !status.conflicts.isEmpty { forgetConflicts() }
        status.unmirrored = disk.unmirrored.merging(refused) { first, _ in first }.merging(refusedSuites) { first, _ in
            first
        }.sorted {
            $0.key.lexicographicallyPrecedes($1.key)
        }.prefix(1_000).map {
            .init(path: printable($0.key), reason: $0.value)
        }
        // The date alone is written rarely, so that a cluster in which nothing happens costs next to nothing.
        let isOld = readAt.map { $0.timeIntervalSince(status.readAt ?? .distantPast) > 60 } ?? false
        if isOld || shownStatus != stated { status.readAt = readAt }
        let new = stated
        if shownStatus == new { return }
        let isUrgent = shownStatus?.isConnected != new.isConnected || shownStatus?.paused != new.paused
        if !force && (!isUrgent && nextStatus > monotonicNanoseconds() || !full.mayTry(.status)) { return }
        nextStatus = monotonicNanoseconds() + 200_000_000
        do {
            try records.set(new)
        } catch {
            guard FullDisk.isFull(error) else { throw error }
            full.failed(.status, error)
            (nextStatus, full.hasNote) = (full.next, true)
            return fullNote.set(full.failure)
        }
        full.ended(.status)
        if full.hasNote {
            fullNote.set(nil)
            full.hasNote = false
        }
        shownStatus = new
    }

    /// The status with what this machine lacks room for, before any other failure.
    var stated: ClusterStatus {
        var stated = status
        stated.failure = full.failure ?? status.failure
        return stated
    }
}
