import GroupLocking
import GroupLog
import GroupSystemCalls

/// The retention of the journal: a checkpoint at intervals, then the oldest segments are dropped.
///
/// One member at a time does this, under a lock that no member waits for: if that member is stopped or killed
/// meanwhile, no other is stopped, and the segments only stay longer. The change that needed a new segment is
/// acknowledged first.
extension OpenContainer {
    /// A checkpoint is due when this many changes follow the last one, or as many as there are items if that is more,
    /// so that its cost is small beside that of the changes; or when segments are to be dropped that it does not cover.
    static let checkpointInterval: UInt64 = 20_000

    /// Does what is due after a change, without its lock, if the change created a segment of the journal. A failed
    /// attempt is repeated with the next segment.
    func tendJournal() {
        if !journal.log.takeHasMadeSegment() || isReadOnly { return }
        _ = try? keepJournal { () throws(CoordinationError) in
            let last = journal.checkpointed.withLock { $0?.segment } ?? 0
            if last >= journal.log.tail().segment { return nil }
            var tree = try JournalView(journal)
            try tree.catchUp(journal)
            return tree
        }
    }

    /// Makes a checkpoint of what its caller has read, if one is due, and drops the segments that need not be kept any
    /// longer. A few loads if nothing is due. Returns whether it made one; never of a view that is only for lookups.
    /// Errors: those of writing; then nothing was dropped, and the old checkpoint stays.
    @discardableResult
    func keepCheckpoint(_ tree: JournalView) throws(CoordinationError) -> Bool {
        if isReadOnly || tree.isForLookingUp || !isCheckpointDue(for: tree) { return false }
        return try keepJournal { tree }
    }

    private func isCheckpointDue(for tree: JournalView) -> Bool {
        // No checkpoint is equivalent to a checkpoint of the beginning.
        let last = journal.checkpointed.withLock { $0.map { ($0.segment, $0.sequence) } ?? (1, 0) }
        let position = tree.position
        if position.sequence >= last.1 &+ max(Self.checkpointInterval, UInt64(tree.treeIndex.count)) { return true }
        // Once for each segment, because the decision reads the first page of every segment.
        let isNew = journal.weighed.withLock { weighed in
            defer { weighed = position.segment }
            return weighed != position.segment
        }
        if position.segment <= last.0 || !isNew { return false }
        guard let segments = try? journal.log.keptSegments() else { return false }
        return format.retention.dropped(of: segments, now: wallNanoseconds()).contains {
            $0 >= last.0 && $0 < position.segment
        }
    }

    private func keepJournal(
        _ read: () throws(CoordinationError) -> JournalView?
    ) throws(CoordinationError) -> Bool {
        do {
            return try tryToKeepJournal(read)
        } catch {
            diagnostics.report(
                .checkpointFailed, item: error.item,
                "no checkpoint was made, and the journal stays longer: \(error.reason)")
            throw error
        }
    }

    private func tryToKeepJournal(
        _ read: () throws(CoordinationError) -> JournalView?
    ) throws(CoordinationError) -> Bool {
        let handle = try locking("open") { () throws(LockFileFailure) in try lockFile.borrow() }
        defer { lockFile.giveBack(handle) }
        let byte = ByteRange(start: ContainerLock.keeping, length: 1)
        let isFree = try translating("lock", item: ".group/lock") { () throws(Errno) in
            try handle.descriptor.tryLock(.exclusive, byte)
        }
        if !isFree { return false }
        // Another member may have made a checkpoint meanwhile. A damaged one is replaced; one of a newer version is
        // not.
        do {
            let last = try journal.checkpoint.open()?.header.position
            journal.checkpointed.withLock { $0 = last }
        } catch {
            if error.code != .damaged { throw error }
            journal.checkpointed.withLock { $0 = nil }
        }
        guard let tree = try read(), tree.position.sequence > journal.checkpointed.withLock({ $0?.sequence ?? 0 })
        else {
            return false
        }
        try writeCheckpoint(tree)
        dropSegments()
        return true
    }

    /// Writes the checkpoint. When this returns, the checkpoint is on the disk, and so is the journal up to its
    /// position. Only with the lock.
    func writeCheckpoint(_ tree: JournalView) throws(CoordinationError) {
        // Not at the end of a segment that another follows: that segment may be dropped.
        guard let position = try translating(journal.log.advance(tree.position))?.position,
            let segment = try translating(journal.log.segment(position.segment))
        else { return }
        try translating(journal.log.synchronize(through: position))
        // A record with a later term than the member table has does not count.
        let newestTerm = min(tree.newestTerm, memberTable.map.load64(MemberTableLayout.term))
        let header = journal.checkpoint.header(
            at: position, segmentSalt: segment.header.salt, newestTerm: newestTerm)
        try journal.checkpoint.replace(by: tree.treeIndex, header)
        journal.checkpointed.withLock { $0 = position }
        diagnostics.report(
            .checkpointWritten, item: CheckpointFile.label,
            "\(tree.treeIndex.count) items, as of change \(position.sequence)")
    }

    /// Drops segments that the checkpoint covers, and that no repair of a change has to read. The oldest first, each
    /// gone from the disk before the next, so that there is never a gap.
    private func dropSegments() {
        guard let checkpointed = journal.checkpointed.withLock({ $0 }), let segments = try? journal.log.keptSegments()
        else {
            return
        }
        let limit = min(checkpointed.segment, oldestSegmentToBeLookedThrough() ?? .max)
        var dropped: [UInt64] = []
        for number in format.retention.dropped(of: segments, now: wallNanoseconds()) where number < limit {
            guard journal.log.drop(number) else { break }
            dropped.append(number)
        }
        if let oldest = dropped.last {
            diagnostics.report(
                .journalFilesDropped, item: journal.log.name, count: dropped.count,
                "files up to \(oldest).log were dropped; a follower with a cursor in them compares everything")
        }
    }

    /// Returns the oldest segment in which a repair of an in-flight operation would begin to look for its record.
    private func oldestSegmentToBeLookedThrough() -> UInt64? {
        for slot in memberTable.slotsWithInFlight() where slot != memberTable.slot && !memberTable.isAlive(slot) {
            if isRefused(slot) { continue }
            try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
        }
        let inFlight = memberTable.slotsWithInFlight().flatMap { memberTable.inFlight(of: $0) }
        let recordNames = Set(
            inFlight.compactMap { change in
                memberTable.member(at: change.slot).map {
                    StagingName.intentRecord(nonce: $0.nonce, entry: change.entry)
                }
            })
        var segments: [UInt64] = []
        for name in (try? directory.staging.entryNames()) ?? [] {
            let isManifest = name.count > 32 && name.dropFirst(32).elementsEqual(TransactionChanges.manifestSuffix)
            guard isManifest || recordNames.contains(name),
                let file = try? FileDescriptor.open(name, in: directory.staging, [.reading, .nonBlocking])
            else { continue }
            var start = [UInt8](repeating: 0, count: 64)
            guard (try? file.read(into: &start)) ?? 0 >= 32 else { continue }
            let number =
                isManifest
                ? TransactionManifest.journalSegment(ofManifest: start)
                : IntentRecord.journalSegment(ofIntentRecord: start)
            if let number { segments.append(number) }
        }
        return segments.min()
    }
}
