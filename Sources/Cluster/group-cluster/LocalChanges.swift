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
            if removals.needsCheck || changedItems.contains(where: { disk.tree[$0.local] == nil }) { checkRemovals() }
        }
        drafts += changedItems.map { DraftedChange(.item($0.local), time: $0.time) }
        changedItems = []
        for draft in order.take(drafts, limit: limit, now: now, name: ClusterName.fresh) { outbox.add(draft) }
        if drafts.isEmpty && order.earliest == nil && outbox.waitingCount == 0 && outbox.inFlight == nil {
            removals.sentAll()
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
            removals.note(meant: [item] + disk.tree.descendants(of: item))
        }
        if let other = change.kind.otherPath { try disk.look(at: other.bytes) }
        try disk.look(at: change.path.bytes)
    }

    /// Withholds removals where most items are gone, and sends them where they are back.
    func checkRemovals() {
        if removals.isWithholding { mirror.takeBack(on: disk.tree, in: fold.tree) }
        switch removals.check(mirror, disk.tree) {
        case .began: log("withheld: \(Acceptance.reasonToWithhold); see 'group-cluster accept'")
        case .ended:
            log("going on: most items are there again")
            addRemovals()
        case nil: return
        }
    }

    /// Lets what is gone be sent.
    func addRemovals() {
        for local in mirror.differences(on: disk.tree) where disk.tree[local] == nil { outbox.add(.item(local)) }
    }
}
