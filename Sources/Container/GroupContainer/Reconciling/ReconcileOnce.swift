import GroupLocking
import GroupBytes
import GroupSystemCalls

/// A single reconciliation of a container by a process that is not its leader: a short command, or a request that needs
/// generations. Used on one thread. Does not block in the kernel for a lock: `work` and `workThrough` look again until
/// the noted items are not busy any more, or until the deadline.
final class ReconcileOnce {
    private var treeWatcher: TreeWatcher<LiveFileSystem>
    private let container: OpenContainer

    /// Makes a reconciliation, under the lock that the caller holds, if any.
    init(
        _ container: OpenContainer, under lock: HeldLock?, by author: ChangeAuthor? = nil
    ) throws(CoordinationError) {
        self.container = container
        let tree = LiveFileSystem(container, try container.recordedTree(), term: .max, under: lock, by: author)
        treeWatcher = TreeWatcher(tree)
        try tree.catchUp()
    }

    var treeIndex: TreeIndex { treeWatcher.reconciler.view.treeIndex }

    /// The sequence numbers of the records that were made; nil: none.
    var appended: ClosedRange<UInt64>? { treeWatcher.reconciler.view.appended }

    /// Whether no process was busy with an item that was to be recorded.
    var isComplete: Bool {
        treeWatcher.reconciler.postponed.isEmpty && treeWatcher.reconciler.postponedMoves.isEmpty
    }

    func note(_ location: ItemLocation, _ why: Hint) { treeWatcher.reconciler.worklist.add(location, why) }

    /// Returns whether the directory that the journal has at one location stands at another one.
    func hasMoved(directory origin: ItemLocation, to goal: ItemLocation) throws(CoordinationError) -> Bool {
        guard let known = treeIndex[origin], known.type == .directory, treeIndex[goal]?.inode != known.inode,
            try treeWatcher.reconciler.view.state(at: origin) == nil,
            let found = try treeWatcher.reconciler.view.state(at: goal)
        else { return false }
        return (found.type, found.inode) == (.directory, known.inode)
    }

    /// Records that the item at `origin` was moved to `goal`, and notes both for a later comparison. Returns false,
    /// without a record, if an item is still at `origin`, if the journal has none there, if `goal` has no item of its
    /// type, or if a directory around `goal` could not be recorded.
    @discardableResult
    func recordMove(from origin: ItemLocation, to goal: ItemLocation) throws(CoordinationError) -> Bool {
        note(origin, .comparison)
        note(goal, .content)
        while true {
            try treeWatcher.reconciler.catchUp()
            let looked = treeWatcher.reconciler.stamp
            guard var state = treeIndex[origin], try treeWatcher.reconciler.view.state(at: origin) == nil,
                let found = try treeWatcher.reconciler.view.state(at: goal), found.type == state.type,
                try treeWatcher.reconciler.recordDirectories(around: goal) == .recorded
            else { return false }
            if state.type == .directory { noteContents(of: goal) }
            if treeWatcher.reconciler.stamp != looked { continue }
            // The date of the move itself, where the item is the same.
            if state.inode == found.inode { state.changed = found.changed }
            let record = treeWatcher.reconciler.view.record(.moved, goal, state, from: origin, other: nil)
            if try treeWatcher.reconciler.append(record) { return true }
        }
    }

    /// Notes everything in a directory.
    func noteContents(of directory: ItemLocation) { treeWatcher.compare(directory) }

    /// Compares the noted locations and nothing else. Where another process has an in-flight operation on one of them,
    /// waits until that has its record. Error: `lockTimedOut`, which names the process of the last in-flight operation
    /// that was found, if there was one
    func work(for operation: String, until deadline: Deadline) throws(CoordinationError) {
        while true {
            try treeWatcher.reconciler.work()
            guard let left = treeWatcher.reconciler.postponed.keys.first else { return }
            if deadline.isOver { throw busy(left, operation) }
            pause(nanoseconds: 200_000)
            treeWatcher.reconciler.view.beginRound()
        }
    }

    /// Compares the noted locations, and everything in directories that were noted with their contents or are new at
    /// their location. Errors: as `work`; `conflict` where items are in use, or change, until the deadline
    func workThrough(for operation: String, until deadline: Deadline) throws(CoordinationError) {
        while true {
            try treeWatcher.work()
            let left = treeWatcher.reconciler.postponed.keys.first
            if left == nil && treeWatcher.comparison.isOver && treeWatcher.reconciler.worklist.isEmpty { return }
            if let left {
                if deadline.isOver { throw busy(left, operation) }
                pause(nanoseconds: 200_000)
                treeWatcher.reconciler.view.beginRound()
            } else if deadline.isOver {
                throw CoordinationError(
                    .conflict, operation: operation, reason: "the items keep being changed without coordination",
                    remedy: .tryAgain)
            }
        }
    }

    private func busy(_ location: ItemLocation, _ operation: String) -> CoordinationError {
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
        } while !treeWatcher.isCaughtUp
        while let news = treeWatcher.reconciler.view.watchGaps.take() {
            // What this user may not read is no fault.
            guard case .gap(let location, let reason) = news, reason != .unreadable else { continue }
            container.diagnostics.report(
                .watchingDegraded, item: location.map { printable($0.bytes) }, WatchGapCause.text(news).reason)
        }
    }
}
