import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Takes the changes that processes of this machine make, on their way to the outbox.
extension Machine {
    /// Takes the changes that processes of this machine have made: items, values and messages, in the order of their
    /// times.
    ///
    /// Suites, channels and the journal are read one after the other. A change that is made while they are read waits
    /// for the next round. Otherwise an older change of a source that was already read would be sent after it. If a
    /// suite was read only in part, changes that are later than its last one that was read wait as well.
    func takeChanges() throws {
        let now = wallNanoseconds()
        var limit = now
        let known = Suites.Known(
            fold: fold, unfolded: { self.unfoldedChanges }, pendingSuites: order.pendingSuites, isNew: stateIsNew,
            isCurrent: history.hasRead, isFull: outbox.waitingCount > Self.mostWaiting)
        var drafts = try suites.takeChanges(&limit, known)
        try channels.takeChannels()
        try book.update()
        if !known.isFull { drafts += try channels.takePosts() }
        while let change = try follower.next(timeout: .zero) { try look(at: change) }
        try disk.lookWhereRulesHaveChanged()
        try findMissing()
        removals.forgetPresent(disk.isThere)
        noteChanged(time: now, withHeld: true)
        if !changedItems.isEmpty {
            // A program that is started anew looks for what is missing again: it reads the records of before.
            if disk.isCertain { toStore.cursor = follower.cursor }
            // The check counts all items, so it is made only if an item is gone, or may be back.
            if removals.isWithholding || changedItems.contains(where: { disk.tree[$0.local] == nil }) {
                checkRemovals()
            }
        }
        drafts += changedItems.map { DraftedChange(.item($0.local), time: $0.time) }
        changedItems = []
        for draft in order.take(drafts, limit: limit, now: now, name: ClusterName.fresh) { outbox.add(draft) }
        let isAllSent = drafts.isEmpty && order.earliest == nil && outbox.waitingCount == 0 && outbox.inFlight == nil
        // What may be gone is sent once that is certain.
        if isAllSent && disk.isCertain {
            removals.sentAll()
        }
    }

    /// Finds the items that were not at their paths, or forgets them as removed once they certainly are: another process
    /// may have renamed them by a change that the journal does not have yet.
    ///
    /// What is renamed without a pause can be missed each time. It stays missing then, and is neither sent nor changed
    /// before the next round.
    private func findMissing() throws {
        for _ in 0..<Self.mostBarriers where !disk.isCertain {
            let (last, ahead) = (disk.missing.lastLook, disk.ahead)
            let isComplete: Bool
            do {
                isComplete = try container.recordUncoordinatedChanges(comparing: false)
            } catch {
                // As on a full disk: the items stay missing.
                report.failures.failed(.looking, "\(error)")
                return
            }
            // A coordinated change is announced until it is in the journal, so this is to be asked before reading.
            var changing: [[UInt8]: Bool] = [:]
            for item in disk.missing.items {
                let path = disk.path(of: item)
                changing[path] = container.isBeingChanged(ItemPath(bytes: path))
            }
            while let change = try follower.next(timeout: .zero) { try look(at: change) }
            if isComplete {
                try disk.lookAgain(at: ahead)
                disk.forgetGone(barrierAfter: last) { changing[$0] ?? true }
            }
        }
    }

    private static let mostBarriers = 8

    /// The number of waiting entries above which values and messages stay in their suites and records.
    static let mostWaiting = 4_096

    /// The changes of values of this machine that are not in the fold yet, in their order.
    var unfoldedChanges: [ClusterChange] {
        var changes: [ClusterChange] = []
        if let entry = outbox.inFlight?.entry, !entry.isStrict { changes += entry.changes }
        if order.hasEntries {
            for case .entry(let entry, _) in outbox.waiting where !entry.isStrict { changes += entry.changes }
        }
        return changes + order.heldChanges
    }

    /// Notes the items that have changed, with the time of their change. Those that were held come with `withHeld`: once
    /// in a round, as a round may have thousands of changes.
    func noteChanged(time: Int64, withHeld: Bool = false) {
        removals.note(meant: disk.takeWithdrawn())
        for local in disk.takeChanged(withHeld: withHeld) { changedItems.append((local, time)) }
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
        if case .moved(let old) = change.kind {
            try disk.look(atMoveFrom: old.bytes, to: change.path.bytes)
            disk.noteJournal(hasItem: false, at: old.bytes)
        } else {
            if let other = change.kind.otherPath {
                try disk.look(at: other.bytes)
                disk.noteJournal(hasItem: true, at: other.bytes)
            }
            try disk.look(at: change.path.bytes)
        }
        disk.noteJournal(hasItem: change.kind != .removed, at: change.path.bytes)
    }

    /// Withholds removals if most items are gone, and lets them be sent if all items are back: see `RemovalGuard`.
    func checkRemovals() {
        mustCheckRemovals = false
        // A directory that was made anew is another item. What is in flight has no base yet, and would get two.
        if outbox.inFlight == nil { mirror.takeBack(on: disk.tree, in: fold.tree) }
        switch removals.check(mirror, disk.tree, at: monotonicNanoseconds()) {
        case .began: log("withheld: \(Acceptance.reasonToWithhold); see 'group-cluster accept'")
        case .ended:
            log("going on: nothing is withheld any more")
            addRemovals()
        case nil: return
        }
    }

    /// Queues the removals of all items that are gone.
    func addRemovals() {
        for local in mirror.differences(on: disk.tree) where disk.tree[local] == nil { outbox.add(.item(local)) }
    }
}
