import GroupSystemCalls

/// Where the locks of one member are handed out: the lock file, the queues in front of it, the member table that says
/// who has what. Apart from the member, which is referred to weakly: counting references to such an object takes long.
final class LockManager: Sendable {
    let hashKey: SipHash
    let lockFile: LockFile
    let memberTable: MemberTable
    let turns = ProcessQueue()
    let forkGeneration = GroupSystemCalls.forkGeneration

    init(_ lockFile: LockFile, _ memberTable: MemberTable, hashKey: SipHash) {
        (self.lockFile, self.memberTable, self.hashKey) = (lockFile, memberTable, hashKey)
    }

    /// Others see that it is not held any more, then it is free, then the next of this process may go.
    /// In a forked child everything of it is the parent's.
    func release(_ grip: HeldLock.Grip) {
        if forkGeneration != GroupSystemCalls.forkGeneration { return }
        memberTable.forgetAccesses(grip.accesses)
        lockFile.giveBack(grip.handle)
        turns.leave(grip.turn)
    }
}
