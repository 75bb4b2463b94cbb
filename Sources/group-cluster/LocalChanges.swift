import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// When the disk is looked at. Each round ends with a transaction of the state, which costs the processes time that change items:
/// while they make one change after the other, some milliseconds of them are looked at together. What comes from the cluster, and what
/// is asked of it, ends that wait.
struct Rounds {
    private static let shortest: Int64 = 1_000_000
    private static let longest: Int64 = 8_000_000
    /// The number of changes of this round.
    var looked = 0
    private var interval: Int64 = 0
    private var last: Int64 = 0

    /// Ends a round. Returns for how many nanoseconds changes are collected before the next one; 0 where the first of them is waited
    /// for.
    mutating func end(at now: Int64) -> Int64 {
        if looked > 0 {
            let isBusy = looked > 1 || now - last < Self.shortest * 2
            interval = isBusy ? min(max(interval * 2, Self.shortest), Self.longest) : 0
            (looked, last) = (0, now)
            return interval
        }
        interval = 0
        return 0
    }
}

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
        rounds.looked += 1
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

    static func reason(_ stop: Acceptance.Stop) -> String {
        switch stop {
        case .otherHistory:
            "the cluster has another history than this machine has seen: etcd was restored from a backup, is another one, or this machine was cloned"
        case .loss: "more than half of all items are gone from the disk at once"
        case .newerVersion: "an entry of the cluster can only be read by a newer version of this program"
        }
    }

    /// Sends and applies nothing any more, before a person has decided.
    func stop(_ stop: Acceptance.Stop) {
        status.stopped = Self.reason(stop)
        log("stopped: \(Self.reason(stop)); see 'group-cluster accept'")
        (isConnected, status.isConnected, status.since) = (false, false, Date())
        try? store.store(isDurable: true) { try $0.set("stop", Array(stop.rawValue.utf8)) }
    }
}
