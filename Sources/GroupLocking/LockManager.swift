package import GroupBytes
import GroupSystemCalls

/// The locks of one member: the lock file, the queues in front of it, and the member table with what each member holds.
/// No weak reference to this object is made: counting references to an object that has one takes long.
package final class LockManager: Sendable {
    package let hashKey: SipHash
    package let lockFile: LockFile
    package let memberTable: MemberTable
    let turns = ProcessQueue()
    package let forkGeneration = GroupSystemCalls.forkGeneration

    package init(_ lockFile: LockFile, _ memberTable: MemberTable, hashKey: SipHash) {
        (self.lockFile, self.memberTable, self.hashKey) = (lockFile, memberTable, hashKey)
    }

    /// Ends a lock: its entries in the member table go first, then the lock in the kernel, then the next request of
    /// this process has its turn. In a forked child everything belongs to the parent, and nothing is done.
    func release(_ grip: HeldLock.Grip) {
        if forkGeneration != GroupSystemCalls.forkGeneration { return }
        memberTable.withdrawAll(grip.published)
        lockFile.giveBack(grip.handle)
        turns.leave(grip.turn)
    }
}
