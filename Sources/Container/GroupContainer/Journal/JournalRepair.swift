import GroupLocking
import GroupLog
import GroupSystemCalls

extension OpenContainer {
    /// Returns the faults of the journal and the checkpoint, one error each; changes nothing. Linear in both.
    func checkJournal() throws(CoordinationError) -> [CoordinationError] {
        var found = try translating(journal.log.findDamage()).map(Self.error)
        do {
            _ = try JournalView(journal)
        } catch {
            if ![.damaged, .newerFormat].contains(error.code) { throw error }
            found.append(error)
        }
        return found
    }

    /// Repairs the journal and the checkpoint, and returns the faults that were found. In a segment with a bad record,
    /// the records before it are kept, and what follows is cut off: followers get the kept records, then one `rescan`.
    /// If there is neither a usable checkpoint nor the journal's beginning, every follower gets a `rescan`, and the
    /// next comparison of the tree records what it finds. Waits at most 30 s for a process that is making a checkpoint.
    /// Errors: `damaged` if a segment cannot be read at all and other members live; `lockTimedOut`; those of writing.
    func repairJournal() throws(CoordinationError) -> [CoordinationError] {
        let keeping = try beginKeeping()
        defer { lockFile.giveBack(keeping) }
        let known = (try? journal.checkpoint.open()?.header.position.sequence) ?? 0
        let isAlone = memberTable.liveMembers().count <= 1
        var found = try translating(journal.log.repair(isAlone: isAlone, atLeast: known)).map(Self.error)
        var tree: JournalView
        do {
            tree = try JournalView(journal)
            if found.isEmpty { return [] }
        } catch {
            if error.code != .damaged { throw error }
            found.append(error)
            try translating(journal.log.interrupt())
            tree = JournalView(beginningAt: try translating(journal.log.start()))
        }
        try tree.catchUp(journal)
        try writeCheckpoint(tree)
        recorded.withLock { $0 = nil }
        memberTable.wake(MemberTable.journalWord)
        return found
    }

    /// Makes the checkpoint again from the journal, which has to reach back to its beginning, or to a usable
    /// checkpoint. Waits as `repairJournal` does.
    func remakeCheckpoint() throws(CoordinationError) {
        let keeping = try beginKeeping()
        defer { lockFile.giveBack(keeping) }
        var tree = try JournalView(journal)
        try tree.catchUp(journal)
        try writeCheckpoint(tree)
        recorded.withLock { $0 = nil }
    }

    /// Takes the lock for the checkpoint and the dropping of segments; the caller has it until it gives the handle
    /// back.
    private func beginKeeping() throws(CoordinationError) -> LockFile.Handle {
        let handle = try locking("open") { () throws(LockFileFailure) in try lockFile.borrow() }
        let byte = ByteRange(start: ContainerLock.keeping, length: 1)
        let deadline = Deadline(after: .seconds(30))
        while true {
            let isMine = try translating("lock", item: ".group/lock") { () throws(Errno) in
                try handle.descriptor.tryLock(.exclusive, byte)
            }
            if isMine { return handle }
            if deadline.isOver {
                lockFile.giveBackUnlocked(handle)
                throw CoordinationError(
                    .lockTimedOut, operation: "repair", item: CheckpointFile.label,
                    reason: "another process has been writing a checkpoint for too long",
                    remedy: .init(.endProcess, "end that process, and try again"))
            }
            pause(nanoseconds: 1_000_000)
        }
    }

    private static func error(_ damage: SegmentDamage) -> CoordinationError {
        CoordinationError(
            .damaged, operation: "read", item: damage.file, reason: damage.kind.cause,
            remedy: .init(.repairContainer, "repair the container, which keeps what can be read"))
    }
}
