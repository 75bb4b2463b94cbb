import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// What processes of this machine change, on its way to the outbox.
extension Machine {
    /// Takes what processes of this machine have changed: items, values and messages, in the order of their times. What was
    /// changed since this round began waits for the next one, as something before it may have been missed.
    func takeChanges() throws {
        let now = wallNanoseconds()
        var drafts = try held + takeSuites()
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
                checkLoss()
            }
        }
        drafts += changedItems
        changedItems = []
        if drafts.isEmpty { return }
        drafts.sort { $0.time < $1.time }
        var entry = ClusterEntry(.zero)
        var notes = DraftedEntry()
        var size = 0
        func flush() {
            if entry.changes.isEmpty { return }
            entry.operation = freshName()
            drafted[entry.operation] = notes
            outbox.add(.entry(entry, nil))
            (entry, notes, size) = (ClusterEntry(.zero), DraftedEntry(), 0)
        }
        for draft in drafts {
            if draft.time > now && draft.time < now + 1_000_000_000 {
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
            entry.changes += draft.changes
            size += added
            if let suite = draft.suite { notes.cursors[suite] = draft.cursor }
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
        if let other = change.kind.otherPath { try disk.look(at: other.bytes) }
        try disk.look(at: change.path.bytes)
    }

    /// Stops sending where most of what was here is gone at once, as after a lost mount.
    func checkLoss() {
        let isLost = mirror.isLost(disk.tree)
        if isLost && status.stopped == nil && !hasAcceptedLoss { stop(.loss) }
        if !isLost { hasAcceptedLoss = false }
    }
}
