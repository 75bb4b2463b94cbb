package import GroupBytes
import GroupSystemCalls

/// The locks of one member: the lock file, the queues in front of it, and the member table with what each member holds.
/// No weak reference to this object is made: counting references to an object that has one takes long.
package final class LockManager: Sendable {
    package let hashKey: SipHash
    package let lockFile: LockFile
    package let memberTable: MemberTable
    let turns = ProcessQueue()
    /// The source of the questions that wait for answers: part of the graph of waits.
    private let questionWaits = Guarded<(@Sendable () -> [WaitGraph.QuestionWait])?>(nil)
    package let forkGeneration = GroupSystemCalls.forkGeneration

    package init(_ lockFile: LockFile, _ memberTable: MemberTable, hashKey: SipHash) {
        self.lockFile = lockFile
        self.memberTable = memberTable
        self.hashKey = hashKey
    }

    /// Has the graph of waits contain the questions to presenters.
    package func include(questions: @escaping @Sendable () -> [WaitGraph.QuestionWait]) {
        questionWaits.withLock { $0 = questions }
    }

    /// Returns the waits of all members at this moment.
    package func waitGraph() -> WaitGraph {
        guard let questions = questionWaits.withLock({ $0 }) else { return WaitGraph(memberTable.claims()) }
        // A request ends its locks before it asks, and locks again when it has its answers. A question that was there
        // before and after the claims were read is one that its request waited for while they were.
        let before = questions()
        let claims = memberTable.claims()
        return WaitGraph(claims, before.isEmpty ? [] : questions().filter(before.contains))
    }

    /// Returns whether an owner that has just begun to wait closes a circle of waits. Waits a moment for tickets that
    /// were drawn and not written yet.
    package func isInCircle(_ owner: WaitGraph.Owner, ticket: UInt64) -> Bool {
        for _ in 0..<100 {
            let outlook = waitGraph().outlook(of: owner, ticket: ticket)
            if outlook != .open { return outlook == .circle }
            pause(nanoseconds: 100_000)
        }
        return false
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
