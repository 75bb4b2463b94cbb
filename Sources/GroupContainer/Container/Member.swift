import Dispatch
import GroupSystemCalls

/// This process as a member of a container: it has one slot in the member table, however many `Container` objects refer
/// to it. The membership ends with the last of them.
final class Member: Sendable {
    let directory: ContainerDirectories
    let format: ContainerFormat
    let lockManager: LockManager
    let journal: Journal
    /// Why the container can only be read; nil if this process may write.
    let readOnly: ReadOnlyReason?
    let sleeper: WakeWaiter
    /// The journal view as far as the journal was read, or nil before its first use. Kept so that the journal is read
    /// once.
    let recorded = Guarded<JournalView?>(nil)
    /// The number of items that were looked up in the journal without a journal view.
    let traced = Guarded(0)
    let notes = IntentFiles()
    /// The suites that were opened.
    let suites = Guarded([String: SuiteStore]())
    /// The channels that were opened.
    let channels = Guarded([String: ChannelStore]())
    /// Counts free entries: a slot has eight entries in `pending`, and a ninth operation waits here.
    let changeRoom = DispatchSemaphore(value: MemberTableLayout.pendingCount)
    /// The locks of transactions that are committed and could not be completed: no process may see a part of one.
    let unfinishedLocks = Guarded([[UInt8]: HeldLock]())

    private init(
        directory: ContainerDirectories, format: ContainerFormat, hashKey: SipHash, lockFile: LockFile,
        memberTable: MemberTable,
        journal: Journal, readOnly: ReadOnlyReason? = nil
    ) {
        (self.directory, self.format, self.journal, self.readOnly) = (directory, format, journal, readOnly)
        lockManager = LockManager(lockFile, memberTable, hashKey: hashKey)
        sleeper = WakeWaiter(memberTable, word: MemberTable.journalWord)
    }

    deinit {
        // A child that only forked must not touch its parent's slot.
        guard lockManager.forkGeneration == GroupSystemCalls.forkGeneration else { return }
        if let slot = memberTable.slot, memberTable.pending(of: slot).isEmpty {
            notes.remove(nonce: memberTable.nonce, in: directory.staging)
        }
        memberTable.leave()
    }

    var hashKey: SipHash { lockManager.hashKey }
    var lockFile: LockFile { lockManager.lockFile }
    var memberTable: MemberTable { lockManager.memberTable }

    /// Whether the container was removed, or its member table.
    var isGone: Bool {
        directory.isGone || (try? memberTable.file.status().links) == 0
    }

    /// Checks that the container was neither removed nor moved: a member would otherwise go on silently in a container
    /// that no other process uses or finds. Error: `notFound`
    func checkIsThere(_ operation: String) throws(CoordinationError) {
        if isGone { throw removed(operation) }
        try journal.log.checkLastStands(operation)
        guard let place = directory.movedTo else { return }
        // The container was moved with a directory around it, by a member of a container around that: it is being
        // deleted there.
        if ContainerDirectories.isStaging(place) { throw removed(operation) }
        throw CoordinationError(
            .notFound, item: printable(directory.path), operation: operation,
            cause: "the container was moved: it is '\(printable(place))' now",
            advice: "open it there")
    }

    func removed(_ operation: String) -> CoordinationError {
        CoordinationError(
            .notFound, item: printable(directory.path), operation: operation, cause: "the container was removed")
    }

    func checkNotForked(_ operation: String) throws(CoordinationError) {
        if lockManager.forkGeneration == GroupSystemCalls.forkGeneration { return }
        throw CoordinationError(
            .forked, item: printable(directory.path), operation: operation,
            cause: "this process is a forked child of the one that opened the container",
            advice: "open it anew in the child")
    }

    private struct Key: Hashable {
        var device: UInt64
        var inode: UInt64
        /// A part of the key because one mount may be read-only, another not.
        var mount: UInt64
    }
    private struct Weakly {
        weak var member: Member?
    }
    private static let members = Guarded([Key: Weakly]())

    /// How to create a container that may not exist yet.
    struct Creation: Sendable {
        var identifier: String?
        var unixGroup: UInt32?
        var retention: JournalRetention
    }

    /// Returns the process's member of the container at a path; joins if there is none yet. Waits, up to the deadline,
    /// while other processes open the container. While `repairing`, the container is opened even if its journal is
    /// damaged in a way that otherwise prevents opening.
    static func join(
        path: [UInt8], creating creation: Creation?, until deadline: Deadline, repairing: Bool = false
    ) throws(CoordinationError) -> Member {
        do {
            return try joinWhole(path, creation, until: deadline, repairing: repairing)
        } catch {
            guard creation != nil, error.code == .noSpace else { throw error }
            throw CoordinationError(
                .noSpace, item: printable(path), operation: "create", cause: error.cause,
                advice: "make room and try again: what there is of the container is completed then")
        }
    }

    private static func joinWhole(
        _ path: [UInt8], _ creation: Creation?, until deadline: Deadline, repairing: Bool
    ) throws(CoordinationError) -> Member {
        let directory = try ContainerDirectories(path: path, unixGroup: creation?.unixGroup, creating: creation != nil)
        do {
            return try join(directory, creation, until: deadline, repairing: repairing)
        } catch {
            // A container that is deleted meanwhile lacks one thing after the other.
            try directory.checkStands()
            throw error
        }
    }

    private static func join(
        _ directory: ContainerDirectories, _ creation: Creation?, until deadline: Deadline, repairing: Bool
    ) throws(CoordinationError) -> Member {
        let path = directory.path
        let status = try translating(printable(path), "open") { () throws(Errno) in try directory.group.status() }
        let key = Key(device: status.device, inode: status.inode, mount: status.mountID)
        if let member = existing(key) { return member }
        if creation == nil, try ContainerFormat.read(in: directory.group) == nil {
            throw CoordinationError(
                .notFound, item: printable(path), operation: "open", cause: "there is no container",
                advice: "make it with groupctl create, or creating: true")
        }
        let readOnly = ReadOnlyReason(of: directory.group)
        if let readOnly, creation != nil { throw readOnly.error(printable(path), "create") }
        let lockFile = try LockFile(in: directory, creating: creation != nil, isOnlyForReading: readOnly != nil)
        let opening = try lockFile.borrow()
        defer { lockFile.giveBack(opening) }
        let byte = ByteRange(start: LockRange.opening, length: 1)
        // Readers open the container side by side; while a member opens it, they wait.
        let lock: ByteLock = readOnly == nil ? .exclusive : .shared
        switch KernelWait.block([LockWaiter.Step(lock, byte)], on: opening, until: deadline) {
        case .granted: break
        case .failed(let errno): throw CoordinationError(errno, item: ".group/lock", operation: "open")
        case .timedOut, .cancelled:
            throw OpeningErrors.blocked(lockFile, path)
        }
        // Another process may have deleted the container during this wait.
        try directory.checkStands()
        // Another thread may have joined during this wait.
        if let member = existing(key) { return member }
        let member =
            if let readOnly {
                try read(directory, lockFile, readOnly, status)
            } else {
                try join(directory, lockFile, creation, status, repairing: repairing)
            }
        member.diagnostics.finishOpening()
        members.withLock { $0[key] = Weakly(member: member) }
        return member
    }

    private static func existing(_ key: Key) -> Member? {
        guard let member = members.withLock({ $0[key]?.member }) else { return nil }
        return member.lockManager.forkGeneration == GroupSystemCalls.forkGeneration ? member : nil
    }

    private static func join(
        _ directory: ContainerDirectories, _ lockFile: LockFile, _ creation: Creation?, _ status: FileStatus,
        repairing: Bool
    ) throws(CoordinationError) -> Member {
        if creation != nil { try lockFile.probe() }
        let open = try MemberTable.open(in: directory.group, fileMode: directory.fileMode)
        let isAlone = try translating(".group/members", "open") { () throws(Errno) in try !open.hasLiveMember() }
        let (format, isCopy) = try settleFormat(directory, lockFile, creation, isAlone: isAlone)
        guard let hashKey = format.key, let container = format.containerBytes, let origin = format.originBytes else {
            throw .damaged(".group/format", operation: "open", "a field of it is malformed")
        }
        var isAfterLoss = isAlone && open.hasLostMember
        if isAlone {
            let life = try translating(".group/members", "open") { () throws(Errno) in
                try PresentLife(of: directory, status)
            }
            // The container's files may have been copied while they were written.
            if open.renewIncarnation(life, always: isCopy) { isAfterLoss = true }
            if isCopy { try format.write(in: directory.group, mode: directory.fileMode) }
        }
        let free = try translating(".group/members", "join") { () throws(Errno) in try open.takeFreeSlot() }
        guard let (slot, needsRepair) = free else {
            // Opening for reading takes no slot, so this process can still show which members have the slots.
            return try read(directory, lockFile, .full, status)
        }
        let incarnation = open.incarnation
        let memberTable: MemberTable
        do throws(Errno) {
            memberTable = try MemberTable(open, slot: slot, nonce: randomWord())
        } catch {
            throw CoordinationError(error, item: ".group/members", operation: "join")
        }
        let surroundings = SegmentedLog.Surroundings(
            container: origin, incarnation: incarnation, slot: slot, nonce: memberTable.nonce,
            fileMode: directory.fileMode, capacity: format.retention.fileSize
        ) { [weak memberTable] in memberTable?.isAbandoned($0) ?? false }
        let log = try SegmentedLog(name: "journal", directory: try directory.ownDirectory("journal"), surroundings)
        if isAlone {
            if repairing { _ = try log.repair(isAlone: true) }
            try log.recover(repairing: repairing)
        }
        let member = Member(
            directory: directory, format: format, hashKey: hashKey, lockFile: lockFile, memberTable: memberTable,
            journal: Journal(log, container: container, in: directory))
        if needsRepair { try member.repair(slot: slot, hasRight: true) }
        if isAlone {
            // The intent records of dead members are in staging, too: what they left half done in other slots gets its
            // record first.
            for other in memberTable.slotsWithPending() where other != slot {
                try member.repair(slot: other, hasRight: false)
            }
            try member.finishTransactionsOfAnotherBoot()
            member.sweepStaging { _ in true }
            if isAfterLoss { member.sweepLogsOfTheLost() }
            member.keepReserve()
        } else if needsRepair {
            member.sweepLogs()
        }
        try translating(".group/members", "join") { () throws(Errno) in try memberTable.occupy(purpose: programName()) }
        return member
    }

    /// Opens the container for reading only, without a slot and without writing anything: other processes do not see
    /// this one.
    private static func read(
        _ directory: ContainerDirectories, _ lockFile: LockFile, _ reason: ReadOnlyReason, _ status: FileStatus
    ) throws(CoordinationError) -> Member {
        guard let format = try ContainerFormat.read(in: directory.group), let hashKey = format.key,
            let container = format.containerBytes, let origin = format.originBytes
        else { throw .damaged(".group/format", operation: "open", "it was removed") }
        let memberTable = try MemberTable(onlyForReadingIn: directory.group)
        let (hasLiveMember, awaitsRecovery) = try translating(".group/members", "open") { () throws(Errno) in
            try memberTable.awaitsRecovery(in: directory, status)
        }
        // A copied or restored container that no member has adopted yet has the history of the first one.
        if format.lockInode != lockFile.inode && hasLiveMember { throw lockFileReplaced }
        let surroundings = SegmentedLog.Surroundings(
            container: origin, incarnation: memberTable.map.bytes(MemberTableLayout.incarnation, count: 16), slot: nil,
            fileMode: directory.fileMode, awaitsRecovery: awaitsRecovery)
        let log = try SegmentedLog(name: "journal", directory: try directory.journalDirectory(), surroundings)
        return Member(
            directory: directory, format: format, hashKey: hashKey, lockFile: lockFile, memberTable: memberTable,
            journal: Journal(log, container: container, in: directory), readOnly: reason)
    }

    private static var lockFileReplaced: CoordinationError {
        .damaged(".group/lock", operation: "open", "the lock file was replaced while members are alive")
    }

    /// Reads the format file, or creates it for a new container. For a copied or restored container it draws a new
    /// identity, which the caller writes.
    private static func settleFormat(
        _ directory: ContainerDirectories, _ lockFile: LockFile, _ creation: Creation?, isAlone: Bool
    ) throws(CoordinationError) -> (ContainerFormat, isCopy: Bool) {
        guard let format = try ContainerFormat.read(in: directory.group) else {
            // The format file is written before the journal is created, so where the journal exists without it, it was
            // removed.
            let isOld = (try? directory.group.statusIfPresent(of: Array("journal".utf8))) != nil
            guard let creation, !isOld else { throw .damaged(".group/format", operation: "open", "it was removed") }
            let new = ContainerFormat(
                identifier: creation.identifier, lockInode: lockFile.inode, creation.retention)
            try new.write(in: directory.group, mode: directory.fileMode)
            return (new, false)
        }
        if format.lockInode == lockFile.inode { return (format, false) }
        if !isAlone { throw lockFileReplaced }
        return (format.adopted(lockInode: lockFile.inode), true)
    }
}

/// Checks whether the container is still there, for a reader that waits for changes. The check is made at most every
/// 100 ms: it takes six system calls, and a reader that has just received a change wants the next one soon.
struct PresenceCheck: Sendable {
    private static let interval: Int64 = 100_000_000
    private var last: Int64?

    /// Checks, unless the last check was less than 100 ms ago. Error: `notFound`, once the container was removed or
    /// moved, at the latest 100 ms after that.
    mutating func check(_ member: Member, _ operation: String) throws(CoordinationError) {
        let now = monotonicNanoseconds()
        if let last, now - last < Self.interval { return }
        last = now
        try member.checkIsThere(operation)
    }
}
