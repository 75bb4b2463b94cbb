import GroupBytes
import GroupLocking
import GroupLog
import GroupSystemCalls

/// The presentation of an item by this process. The presentation ends with `end()`, with the last reference to this
/// object, or with the process.
public final class Presentation: Sendable {
    private let item: PresentedItem
    private let opened: OpenContainer
    private let hasEnded = Guarded(false)

    fileprivate init(_ item: PresentedItem, in opened: OpenContainer) { (self.item, self.opened) = (item, opened) }

    deinit { end() }

    /// The present path of the item, which may have been moved.
    public var path: ItemPath { ItemPath(bytes: item.item.bytes) }

    /// Returns a coordinator whose requests do not ask this presenter, and whose changes it is not informed of.
    public func coordinator(purpose: String) -> Coordinator {
        var coordinator = Container(opened).coordinator(purpose: purpose)
        coordinator.presenter = item
        return coordinator
    }

    /// Ends the presentation: requests do not ask the presenter any more, and no further call is made. A call that is
    /// being made may still run when this returns. A second call does nothing. Does not wait for other processes.
    /// System calls: fcntl(F_OFD_SETLK)
    public func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        // In a forked child the presentation is its parent's.
        if !isFirst || opened.lockManager.forkGeneration != GroupSystemCalls.forkGeneration { return }
        item.end()
        PresenterService.remove(item, of: opened)
        opened.removePresenter(item.entry, number: item.number)
    }
}

extension Container {
    /// Presents an item, or a directory with everything below it, for this process, until the returned object ends. The
    /// item need not exist. Every grant after this call returns has asked the presenter, also to a request that began
    /// before; called in a coordinated read of the item, nothing comes between.
    ///
    /// Not asked are requests of processes that may only read the container, and programs that change files without a
    /// coordinator: the presenter is only informed of their changes.
    ///
    /// Errors: `outsideContainer`, `invalidArgument`, `notPermitted` where this process may only read the container,
    /// `limitReached` (256 presenters in a container), `noSpace`, `damaged`, `newerFormat`. System calls:
    /// fcntl(F_OFD_SETLK); the first time in a process: openat2, statx, mmap
    public func present(_ presenter: some ItemPresenter, at path: ItemPath) throws(CoordinationError) -> Presentation {
        try present(PresenterCalls(presenter), at: path)
    }

    /// The form of `present(_:at:)` for calls that block.
    package func present(_ calls: PresenterCalls, at path: ItemPath) throws(CoordinationError) -> Presentation {
        try opened.locating { () throws(CoordinationError) in
            let item = try opened.resolve(path.location(for: "present"), operation: "present")
            try opened.checkIsOurs(item, "present")
            try opened.checkNotForked("present")
            if let readOnly = opened.readOnly { throw readOnly.error(path.description, "present") }
            recordEarlierChanges(of: item)
            let start = try translating(opened.journal.log.end())
            let presented = try opened.withPresenterEntries("present", creating: true) {
                (table) throws(CoordinationError) in
                (try register(item, calls, start: start.sequence, in: table), table)
            }
            let presentation = Presentation(presented.0, in: opened)
            try PresenterService.add(presented.0, of: opened, presented.1, since: start)
            return presentation
        }
    }

    /// Records what programs without coordination made of an item before it is presented, if no leader has seen it: the
    /// presenter would be informed of that as if it had come later. Where that fails, it is.
    private func recordEarlierChanges(of item: ItemLocation) {
        if opened.hasWatchingLeader { return }
        do throws(CoordinationError) {
            let reconcileOnce = try ReconcileOnce(opened, under: nil)
            reconcileOnce.note(item, .comparison)
            reconcileOnce.noteContents(of: item)
            try reconcileOnce.workThrough(for: "present", until: Deadline(after: .seconds(1)))
        } catch {}
    }

    /// Writes an entry, under the lock of entries.
    private func register(
        _ item: ItemLocation, _ calls: PresenterCalls, start: UInt64, in table: PresenterTable
    ) throws(CoordinationError) -> PresentedItem {
        let memberTable = opened.memberTable
        let free = (0..<PresenterTableLayout.entryCount).first { index in
            guard let present = table.entry(index) else { return true }
            return !opened.isAlive(present)
        }
        guard let free, let slot = memberTable.slot else {
            throw CoordinationError(
                .limitReached, operation: "present", item: printable(item.bytes),
                reason: "the container has \(PresenterTableLayout.entryCount) presenters",
                remedy: .init(.makeFewerRequests, "present a directory instead of each item in it"))
        }
        if let dead = table.entry(free) { _ = table.free(free, of: dead.number) }
        opened.hideFreeEntries(of: table)
        let entry = PresenterTable.Entry(
            index: free, number: table.drawNumber(), slot: slot, nonce: memberTable.nonce, answers: calls.answers,
            item: item, since: wallNanoseconds())
        table.write(entry)
        if !calls.answers.isEmpty { memberTable.showPresenter(free, of: item.bytes, key: opened.hashKey) }
        return PresentedItem(entry, calls, start: start, in: opened, table)
    }
}
