package import GroupLocking
import Dispatch
import GroupBytes
import GroupLog
import GroupSystemCalls
import Synchronization

/// An open container: its directories, the lock manager, the journal. The mechanisms (writing, transactions, watching,
/// suites, channels) take this object; `Membership` makes it. A process has one for each container, however many
/// `Container` objects refer to it, and one slot in the member table, which it leaves when the last reference is gone.
package final class OpenContainer: Sendable {
    let directory: ContainerDirectories
    let format: ContainerFormat
    package let lockManager: LockManager
    package let journal: Journal
    package let diagnostics: DiagnosticHub
    /// Why the container can only be read; nil if this process may write.
    let readOnly: ReadOnlyReason?
    /// Whether this process may only read the container. A value of its own, because comparing the reason with nil
    /// copies it.
    let isReadOnly: Bool
    let sleeper: WakeWaiter
    /// The reader that the leader's thread uses, if it is in this process.
    let directDelivery = DirectDelivery()
    /// The table of presenters; nil until it is needed.
    let presenters = Guarded<PresenterTable?>(nil)
    /// The journal view as far as the journal was read, or nil before its first use. Kept so that the journal is read
    /// once.
    let recorded = Guarded<JournalView?>(nil)
    /// The number of items that were looked up in the journal without a journal view.
    let traced = Guarded(0)
    let intentFiles = IntentFiles()
    /// The operations of dead members that this process may not finish.
    let refusedRepairs = Guarded(Set<[UInt8]>())
    let databases = DatabaseRegister()
    let writtenContents = WrittenContents()
    /// What this process could not remove from staging, as sentences.
    let leftInStaging = Guarded([String]())
    /// The suites and channels that were opened, by their directories.
    private let logs = Guarded([String: any AnyObject & Sendable]())
    /// The counter of removals when this process last found the container in its place.
    private let removalsSeen: Atomic<UInt32>
    /// Counts free entries: a slot has eight entries in `inFlight`, and a ninth operation waits here.
    let changeRoom = DispatchSemaphore(value: MemberTableLayout.inFlightCount)
    /// The locks of changes that could not be completed, by their operations: no process may see a part of one. Each
    /// entry refers to this object, so that the container stays open, and its items locked, until the change is
    /// completed.
    private let unfinishedLocks = Guarded([[UInt8]: (lock: HeldLock, container: OpenContainer)]())

    init(
        directory: ContainerDirectories, format: ContainerFormat, hashKey: SipHash, lockFile: LockFile,
        memberTable: MemberTable,
        journal: Journal, diagnostics: DiagnosticHub, readOnly: ReadOnlyReason? = nil
    ) {
        self.directory = directory
        self.format = format
        self.journal = journal
        self.readOnly = readOnly
        self.diagnostics = diagnostics
        isReadOnly = readOnly != nil
        lockManager = LockManager(lockFile, memberTable, hashKey: hashKey)
        sleeper = WakeWaiter(memberTable, word: MemberTable.journalWord)
        removalsSeen = Atomic(memberTable.removals)
    }

    deinit {
        // A child that only forked must not touch its parent's slot.
        guard lockManager.forkGeneration == GroupSystemCalls.forkGeneration else { return }
        if let slot = memberTable.slot, memberTable.inFlight(of: slot).isEmpty {
            intentFiles.remove(nonce: memberTable.nonce, in: directory.staging)
        }
        memberTable.leave()
    }

    /// Keeps the lock of a change that could not be completed, until `endLock`.
    func keepLock(_ lock: HeldLock?, of operation: [UInt8]) {
        if let lock { unfinishedLocks.withLock { $0[operation] = (lock, self) } }
    }

    /// Ends the lock of a change that is completed now.
    func endLock(of operation: [UInt8]) { _ = unfinishedLocks.withLock { $0.removeValue(forKey: operation) } }

    var hashKey: SipHash { lockManager.hashKey }
    var lockFile: LockFile { lockManager.lockFile }
    var memberTable: MemberTable { lockManager.memberTable }

    /// Returns the log at a directory, which stays open as long as the container; nil if `open` returns nil.
    func keep<Log: AnyObject & Sendable>(
        _ label: String, _ open: () throws(CoordinationError) -> Log?
    ) throws(CoordinationError) -> Log? {
        try logs.withLock { (logs) throws(CoordinationError) in
            if let log = logs[label] as? Log { return log }
            let log = try open()
            logs[label] = log
            return log
        }
    }

    /// Whether the container was removed, or its member table.
    var isGone: Bool {
        directory.isGone || (try? memberTable.file.status().links) == 0
    }

    /// Checks that the container was neither removed nor moved: a member would otherwise go on silently in a container
    /// that no other process uses or finds. Notes what it finds for the calls that do not look. Error: `notFound`
    func checkIsThere(_ operation: String) throws(CoordinationError) {
        do throws(CoordinationError) {
            try lookWhetherThere(operation)
        } catch {
            // The leader, which notes it otherwise, may be none, or this process, which may end now.
            if error.code == .notFound { memberTable.noteRemoval() }
            throw error
        }
    }

    private func lookWhetherThere(_ operation: String) throws(CoordinationError) {
        if isGone { throw removed(operation) }
        do throws(LogFailure) {
            try journal.log.checkLastExists(operation)
        } catch {
            if isBeingRemoved() { throw removed(operation) }
            throw CoordinationError(error)
        }
        guard let path = directory.movedTo else {
            if !directory.isHidden { return }
            throw CoordinationError(
                .notFound, operation: operation, item: printable(directory.path),
                reason: "another file system is mounted at its path",
                remedy: .init(.openElsewhere, "open the container anew, or unmount what hides it"))
        }
        // The container was moved with a directory around it, by a member of a container around that: it is being
        // deleted there, or moved back at once, because that member finds that it is open.
        if ContainerDirectories.isStaging(path) {
            if comesBack() { return }
            throw removed(operation)
        }
        if directory.isUnmounted {
            throw CoordinationError(
                .notFound, operation: operation, item: printable(directory.path),
                reason: "its file system was unmounted",
                remedy: .init(.openElsewhere, "mount it again, and open the container anew"))
        }
        throw CoordinationError(
            .notFound, operation: operation, item: printable(directory.path),
            reason: "the container was moved to '\(printable(path))'",
            remedy: .init(.openElsewhere, "open the container there"))
    }

    /// Checks that no member has noted that the container was removed or moved, as the leader does at once, and every
    /// member that finds it. Two loads, as long as none has. Error: `notFound`
    func checkIsNotNoted(_ operation: String) throws(CoordinationError) {
        let removals = memberTable.removals
        if removals == removalsSeen.load(ordering: .relaxed) { return }
        try lookWhetherThere(operation)
        removalsSeen.store(removals, ordering: .relaxed)
    }

    /// Checks before a change that the container is there: a durable one looks, another one only whether a member has noted
    /// that it is not. Error: `notFound`
    func checkIsThere(for operation: String, _ durability: Durability) throws(CoordinationError) {
        if durability != .durable { return try checkIsNotNoted(operation) }
        // One system call, where all is well.
        if directory.isAtItsPath { return }
        try checkIsThere(operation)
    }

    /// Waits, at most 100 ms, until the container is at its path again. Returns false if it is not.
    private func comesBack() -> Bool { becomesTrue { directory.movedTo == nil } }

    /// Returns whether the container is gone, at most 100 ms later: the files of one that is removed go one after the
    /// other. To be called where a file is missing.
    func isBeingRemoved() -> Bool { becomesTrue { isGone } }

    private func becomesTrue(_ condition: () -> Bool) -> Bool {
        for _ in 0..<100 {
            if condition() { return true }
            pause(nanoseconds: 1_000_000)
        }
        return condition()
    }

    func removed(_ operation: String) -> CoordinationError {
        // The files of a container that is removed go before its directory.
        if (try? memberTable.file.status().links) == 0, !becomesTrue({ directory.isGone }) {
            return .damaged(
                operation: operation, item: ".group/members", reason: "the file was removed while members are alive")
        }
        return CoordinationError(
            .notFound, operation: operation, item: printable(directory.path), reason: "the container was removed")
    }

    func checkNotForked(_ operation: String) throws(CoordinationError) {
        if lockManager.forkGeneration == GroupSystemCalls.forkGeneration { return }
        throw CoordinationError(
            .forked, operation: operation, item: printable(directory.path),
            reason: "this process is a forked child of the one that opened the container", remedy: .openInChild)
    }
}

/// Checks whether the container is still there, for a reader before it sleeps until there are changes. The check takes
/// nine system calls, and a reader that has just received a change wants the next one soon. So of all members' readers
/// one checks in a second, and wakes the others if the container is gone; so does the leader, which is notified where
/// the container itself is removed or moved. Each reader checks every ten seconds for itself, because the container may
/// be unmounted in its mount namespace alone.
struct RemovalCheck: Sendable {
    private static let interval: Int64 = 1_000_000_000
    private static let ownInterval: Int64 = 10_000_000_000
    private var last: (time: Int64, removals: UInt32)?

    /// How often the container had been noted as removed at the last check; nil where there was none.
    var removals: UInt32? { last?.removals }

    /// Checks, if that is due. Error: `notFound`, once the container was removed or moved.
    mutating func check(_ member: OpenContainer, _ operation: String) throws(CoordinationError) {
        let table = member.memberTable
        let now = (time: monotonicNanoseconds(), removals: table.removals)
        if let last, last.removals == now.removals, now.time - last.time < Self.ownInterval {
            let checked = max(last.time, table.presenceCheckedAt)
            // A time that is not over yet is of another clock, and shows nothing.
            if (0..<Self.interval).contains(now.time &- checked) { return }
        }
        last = now
        table.presenceCheckedAt = now.time
        try member.checkIsThere(operation)
    }
}
