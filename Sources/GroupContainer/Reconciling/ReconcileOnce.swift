import GroupLocking
import GroupBytes
import GroupSystemCalls

/// A single reconciliation of a container by a process that is not its leader: a short command, or a request that needs
/// generations. Used on one thread; never waits for a lock.
final class ReconcileOnce {
    private var treeWatcher: TreeWatcher<LiveFileSystem>
    private let container: OpenContainer

    /// Makes a reconciliation, under the lock that the caller holds, if any.
    init(_ container: OpenContainer, under lock: HeldLock?) throws(CoordinationError) {
        self.container = container
        let tree = LiveFileSystem(container, try container.recordedTree(), term: .max, under: lock)
        treeWatcher = TreeWatcher(tree)
        try tree.catchUp()
    }

    var treeIndex: TreeIndex { treeWatcher.reconciler.view.treeIndex }

    func note(_ location: ItemLocation, _ why: Hint) { treeWatcher.reconciler.worklist.add(location, why) }

    /// Compares the noted locations and nothing else. Where another process has an in-flight operation on one of them,
    /// waits until that has its record. Error: `lockTimedOut`, which names the process of the in-flight operation
    func work(for operation: String, until deadline: Deadline) throws(CoordinationError) {
        while true {
            try treeWatcher.reconciler.work()
            guard let left = treeWatcher.reconciler.postponed.keys.first else { return }
            if deadline.isOver { throw isBusy(left, operation) }
            pause(nanoseconds: 200_000)
            treeWatcher.reconciler.view.beginRound()
        }
    }

    private func isBusy(_ location: ItemLocation, _ operation: String) -> CoordinationError {
        let member = treeWatcher.reconciler.view.busySlot.flatMap(container.memberTable.member(at:))
        let process = member.map { "\($0.process.description) (\($0.purpose))" } ?? "another process"
        return CoordinationError(
            .lockTimedOut, operation: operation, item: printable(location.bytes),
            reason: "\(process) has had a change in progress for too long", remedy: .tryAgain)
    }

    /// Compares the whole tree with the journal. Linear in the number of items.
    func compareEverything() throws(CoordinationError) {
        treeWatcher.compareEverything()
        repeat {
            treeWatcher.reconciler.view.beginRound()
            try treeWatcher.work()
        } while !treeWatcher.isSettled
    }
}
