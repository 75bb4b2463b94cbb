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
        let known = Suites.Known(
            fold: fold, unfolded: { self.unfoldedChanges }, pendingSuites: order.pendingSuites, isNew: stateIsNew,
            isCurrent: history.hasRead, isFull: outbox.waitingCount > Self.mostWaiting)
        var drafts = try suites.takeChanges(&limit, known)
        try channels.takeChannels()
        try book.update()
        if !known.isFull { drafts += channels.takePosts() }
        while let change = try follower.next(timeout: .zero) { try look(at: change) }
        disk.endRound()
        noteChanged(time: now)
        if !changedItems.isEmpty {
            toStore.cursor = follower.cursor
            // All items are counted for it: only where one is gone, or is back.
            if hasAcceptedLoss || changedItems.contains(where: { disk.tree[$0.local] == nil }) { try checkLoss() }
        }
        drafts += changedItems.map { DraftedChange(.item($0.local), time: $0.time) }
        changedItems = []
        for draft in order.take(drafts, limit: limit, now: now, name: ClusterName.fresh) { outbox.add(draft) }
        if drafts.isEmpty && order.earliest == nil && outbox.waitingCount == 0 && outbox.inFlight == nil {
            removedByCoordination = []
        }
    }

    /// How many entries wait before values and messages stay where they are until some were sent.
    static let mostWaiting = 4_096

    /// The changes of values of this machine that are not folded yet, in their order.
    var unfoldedChanges: [ClusterChange] {
        var changes: [ClusterChange] = []
        if let entry = outbox.inFlight?.entry, !entry.isStrict { changes += entry.changes }
        if order.hasEntries {
            for case .entry(let entry, _) in outbox.waiting where !entry.isStrict { changes += entry.changes }
        }
        return changes + order.heldChanges
    }

    func noteChanged(time: Int64) {
        for local in disk.takeChanged() { changedItems.append((local, time)) }
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
