import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// What processes of this machine change, on its way to the outbox.
extension Machine {
    /// Takes what processes of this machine have changed: items, values and messages, in the order of their times. What was
    /// changed since this round began waits for the next one, as something before it may have been missed; so does what was changed
    /// after the last change of a suite of which not everything was read.
    func takeChanges() throws {
        let now = wallNanoseconds()
        var limit = now
        var drafts = try held + takeSuites(&limit)
        held = []
        try takeChannels()
        drafts += takePosts()
        while let change = try follower.next(timeout: .zero) { try look(at: change) }
        disk.endRound()
        noteChanged(time: now)
        if !changedItems.isEmpty {
            toStore.cursor = follower.cursor
            // All items are counted for it: only where one is gone, or is back.
            if hasAcceptedLoss || changedItems.contains(where: { $0.local.map { disk.tree[$0] == nil } ?? false }) {
                try checkLoss()
            }
        }
        drafts += changedItems
        changedItems = []
        if drafts.isEmpty {
            if outbox.waitingCount == 0 && outbox.inFlight == nil { removedByCoordination = [] }
            return
        }
        drafts.sort { $0.time < $1.time }
        var entry = ClusterEntry(.zero)
        var notes = DraftedEntry()
        var size = 0
        // Where the entry's change of each key is. A key that is set often is sent once.
        var places: [[UInt8]: Int] = [:]
        func add(_ change: ClusterChange) {
            if case .value(let value) = change {
                if let place = places[value.key], case .value(let before) = entry.changes[place],
                    let joined = before.joined(with: value)
                {
                    entry.changes[place] = .value(joined)
                    size += Self.size(of: .value(joined)) - Self.size(of: .value(before))
                    return
                }
                places[value.key] = entry.changes.count
            }
            entry.changes.append(change)
            size += Self.size(of: change)
        }
        func flush() {
            if entry.changes.isEmpty { return }
            entry.operation = freshName()
            drafted[entry.operation] = notes
            outbox.add(.entry(entry, nil))
            (entry, notes, size, places) = (ClusterEntry(.zero), DraftedEntry(), 0, [:])
        }
        var heldSuites: Set<String> = []
        for draft in drafts {
            let isHeld = draft.suite.map(heldSuites.contains) ?? false
            if isHeld || draft.time > limit && draft.time < now + 1_000_000_000 {
                if let suite = draft.suite { heldSuites.insert(suite) }
                held.append(draft)
                continue
            }
            if let local = draft.local {
                flush()
                outbox.add(.item(local))
                continue
            }
            let added = draft.changes.reduce(0) { $0 + Self.size(of: $1) }
            if entry.changes.count + draft.changes.count > Self.mostAtOnce * 2
                || size + added > ClusterKeys.smallContents
            {
                flush()
            }
            for change in draft.changes { add(change) }
            if let suite = draft.suite {
                notes.suites.insert(suite)
                if let cursor = draft.cursor { notes.cursors[suite] = cursor }
            }
            notes.posts += draft.posts
        }
        flush()
    }

    func noteChanged(time: Int64) {
        for local in disk.takeChanged() { changedItems.append(Drafted(local: local, time: time)) }
    }

    func look(at change: Change) throws {
        defer { noteChanged(time: change.timeNanoseconds) }
        looked += 1
        if change.kind == .rescan {
            log("a place in the journal was lost: looking at everything")
            return try disk.lookAtAll()
        }
        if change.kind.isMarker { return }
        if change.kind == .removed, change.isCoordinated, let item = disk.item(at: change.path.bytes) {
            noteRemoved(item)
        }
        if let other = change.kind.otherPath { try disk.look(at: other.bytes) }
        try disk.look(at: change.path.bytes)
    }

    /// Notes what a coordinated change removes: somebody means that.
    private func noteRemoved(_ item: LocalItem) {
        removedByCoordination.insert(item)
        removedByCoordination.formUnion(disk.tree.descendants(of: item))
    }

    /// Pauses where most of what was here is gone, and no coordinated change has removed it.
    func checkLoss() throws {
        let isLost = mirror.isLost(disk.tree, removed: removedByCoordination)
        if isLost && currentPause == nil && !hasAcceptedLoss { beginPause(.loss) }
        if !isLost && hasAcceptedLoss {
            hasAcceptedLoss = false
            try store.store { try $0.set("accepted loss", nil) }
        }
    }
}
