import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// Joining a container: finds the process's open container, or opens it, takes a slot in the member table and repairs
/// what the last members left.
enum Membership {
    private struct Key: Hashable {
        var device: UInt64
        var inode: UInt64
        /// A part of the key because one mount may be read-only, another not.
        var mount: UInt64
    }
    private struct Weakly {
        weak var container: OpenContainer?
    }
    private static let open = Guarded([Key: Weakly]())

    /// How to create a container that may not exist yet.
    struct Creation: Sendable {
        var identifier: String?
        /// Whether a directory with contents may become the container.
        var isAdopting = false
        var unixGroup: UInt32?
        var retention: JournalRetention
    }

    /// Returns the process's member of the container at a path; joins if there is none yet. Waits, up to the deadline,
    /// while other processes open the container. While `repairing`, the container is opened even if its journal is
    /// damaged in a way that otherwise prevents opening.
    static func join(
        path: [UInt8], creating creation: Creation?, until deadline: Deadline, repairing: Bool = false
    ) throws(CoordinationError) -> OpenContainer {
        if creation?.unixGroup == nil, let container = existing(at: path) { return container }
        do {
            return try joinWhole(path, creation, until: deadline, repairing: repairing)
        } catch {
            guard creation != nil, error.code == .noSpace else { throw error }
            throw CoordinationError(
                .noSpace, operation: "create", item: printable(path), reason: error.reason,
                remedy: .init(
                    .freeSpace,
                    "free space on the file system, and try again: what there is of the container is completed then"),
                cause: error.cause)
        }
    }

    private static func joinWhole(
        _ path: [UInt8], _ creation: Creation?, until deadline: Deadline, repairing: Bool
    ) throws(CoordinationError) -> OpenContainer {
        let directory = try ContainerDirectories(
            path: path, unixGroup: creation?.unixGroup, creating: creation != nil,
            adopting: creation?.isAdopting ?? false)
        do {
            let container = try join(directory, creation, until: deadline, repairing: repairing)
            // After the opening, as what they left in staging may take a while to delete.
            container.repairTheLost()
            return container
        } catch {
            // A container that is deleted meanwhile lacks one thing after the other.
            try directory.checkStands()
            throw error
        }
    }

    private static func join(
        _ directory: ContainerDirectories, _ creation: Creation?, until deadline: Deadline, repairing: Bool
    ) throws(CoordinationError) -> OpenContainer {
        let path = directory.path
        let status = try translating("open", item: printable(path)) { () throws(Errno) in try directory.group.status() }
        let key = Key(device: status.device, inode: status.inode, mount: status.mountID)
        if let container = existing(key) { return container }
        if creation == nil, try ContainerFormat.read(in: directory.group) == nil {
            if directory.hasJournal { throw formatRemoved }
            throw CoordinationError(
                .notFound, operation: "open", item: printable(path), reason: "there is no container",
                remedy: .createContainer)
        }
        let readOnly = ReadOnlyReason(of: directory.group)
        if let readOnly, creation != nil { throw readOnly.error(printable(path), "create") }
        let lockFile = try directory.lockFile(creating: creation != nil, isOnlyForReading: readOnly != nil)
        let opening = try locking("open") { () throws(LockFileFailure) in try lockFile.borrow() }
        defer { lockFile.giveBack(opening) }
        let byte = ByteRange(start: ContainerLock.opening, length: 1)
        // Readers open the container side by side; while a member opens it, they wait.
        let lock: ByteLock = readOnly == nil ? .exclusive : .shared
        switch KernelWait.block([LockWaiter.Step(lock, byte)], on: opening, until: deadline) {
        case .granted: break
        case .failed(let errno): throw CoordinationError(errno, operation: "open", item: ".group/lock")
        case .timedOut, .cancelled:
            throw OpeningErrors.blocked(lockFile, path)
        }
        // Another process may have deleted the container during this wait.
        try directory.checkStands()
        // Another thread may have joined during this wait.
        if let container = existing(key) { return container }
        let container =
            if let readOnly {
                try read(directory, lockFile, readOnly, status)
            } else {
                try join(directory, lockFile, creation, status, repairing: repairing)
            }
        container.diagnostics.finishOpening()
        open.withLock { $0[key] = Weakly(container: container) }
        return container
    }

    /// Returns the process's member of the container at a path, if there is one: by one system call, so that a program
    /// may open the container wherever it needs it. System calls: statx(2)
    private static func existing(at path: [UInt8]) -> OpenContainer? {
        if open.withLock(\.isEmpty) { return nil }
        let group = path + [UInt8(ascii: "/")] + ContainerMark.present
        guard let status = try? FileDescriptor.status(path: group), status.isDirectory else { return nil }
        return existing(Key(device: status.device, inode: status.inode, mount: status.mountID))
    }

    private static func existing(_ key: Key) -> OpenContainer? {
        guard let container = open.withLock({ $0[key]?.container }) else { return nil }
        return container.lockManager.forkGeneration == GroupSystemCalls.forkGeneration ? container : nil
    }

    private static func join(
        _ directory: ContainerDirectories, _ lockFile: LockFile, _ creation: Creation?, _ status: FileStatus,
        repairing: Bool
    ) throws(CoordinationError) -> OpenContainer {
        if creation != nil { try locking("lock") { () throws(LockFileFailure) in try lockFile.probe() } }
        let open = try directory.openMemberTable()
        let isAlone = try translating("open", item: ".group/members") { () throws(Errno) in try !open.hasLiveMember() }
        let (format, isCopy) = try settleFormat(directory, lockFile, creation, isAlone: isAlone)
        guard let hashKey = format.key, let identity = format.containerBytes, let origin = format.originBytes else {
            throw .damaged(operation: "open", item: ".group/format", reason: "a field is malformed")
        }
        var isAfterLoss = isAlone && open.hasLostMember
        if isAlone {
            let life = try translating("open", item: ".group/members") { () throws(Errno) in
                try directory.presentLife(status)
            }
            // The container's files may have been copied while they were written.
            if open.renewIncarnation(life, always: isCopy) {
                isAfterLoss = true
                open.noteDatabases(DatabaseRegister.bits(in: directory.group))
            }
            if isCopy { try format.write(in: directory.group, mode: directory.fileMode) }
            open.hidePresenters()
        }
        let free = try translating("join", item: ".group/members") { () throws(Errno) in try open.takeFreeSlot() }
        guard let (slot, needsRepair) = free else {
            // Opening for reading takes no slot, so this process can still show which members have the slots.
            return try read(directory, lockFile, .full, status)
        }
        let incarnation = open.incarnation
        let memberTable: MemberTable
        do throws(Errno) {
            memberTable = try MemberTable(open, slot: slot, nonce: randomWord())
        } catch {
            throw CoordinationError(error, operation: "join", item: ".group/members")
        }
        let diagnostics = DiagnosticHub()
        var configuration = LogConfiguration(
            identity: origin, incarnation: incarnation, writer: slot, fileMode: directory.fileMode)
        configuration.capacity = format.retention.segmentSize
        configuration.largestCapacity = JournalRetention.largestSegment
        configuration.unfinishedName = { [nonce = memberTable.nonce] in
            UnfinishedName.bytes(slot: slot, nonce: nonce, randomBytes(8))
        }
        configuration.isAbandoned = { memberTable.isAbandoned($0) }
        configuration.report = { diagnostics.report($0) }
        configuration.wakeFirstReader = { memberTable.wakeFirst(MemberTable.journalWord) }
        configuration.wakeOtherReaders = { memberTable.wake(MemberTable.journalWord) }
        configuration.awaitCommit = { limit, isDecided in
            memberTable.awaitCommit(MemberTable.journalWord, atMost: limit, unless: isDecided)
        }
        let log = try SegmentedLog.open("journal", in: directory.ownDirectory("journal"), configuration)
        if isAlone {
            if repairing { _ = try translating(log.repair(isAlone: true)) }
            try translating(log.recover(repairing: repairing))
        }
        let opened = OpenContainer(
            directory: directory, format: format, hashKey: hashKey, lockFile: lockFile, memberTable: memberTable,
            journal: Journal(log, container: identity, in: directory), diagnostics: diagnostics)
        if needsRepair { try opened.repair(slot: slot, hasRight: true, puttingAside: true) }
        if isAlone {
            // The intent records of dead members are in staging, too: what they left half done in other slots gets its
            // record first.
            for other in memberTable.slotsWithInFlight() where other != slot && !opened.isRefused(other) {
                try opened.repair(slot: other, hasRight: false)
            }
            let kept = opened.namesKeptInStaging()
            try opened.finishTransactionsOfAnotherBoot(besides: kept)
            opened.sweepStaging { name in !kept.contains { name.starts(with: $0) } }
            if isAfterLoss { opened.sweepLogsOfTheLost() }
            opened.keepReserve()
        } else if needsRepair {
            opened.sweepLogs()
        }
        try translating("join", item: ".group/members") { () throws(Errno) in
            try memberTable.occupy(purpose: programName())
        }
        return opened
    }

    /// Opens the container for reading only, without a slot and without writing anything: other processes do not see
    /// this one.
    private static func read(
        _ directory: ContainerDirectories, _ lockFile: LockFile, _ reason: ReadOnlyReason, _ status: FileStatus
    ) throws(CoordinationError) -> OpenContainer {
        guard let format = try ContainerFormat.read(in: directory.group), let hashKey = format.key,
            let identity = format.containerBytes, let origin = format.originBytes
        else { throw formatRemoved }
        let memberTable = try directory.memberTableForReading()
        let (hasLiveMember, awaitsRecovery) = try translating("open", item: ".group/members") { () throws(Errno) in
            try memberTable.awaitsRecovery { () throws(Errno) in try directory.presentLife(status) }
        }
        // A copied or restored container that no member has adopted yet has the history of the first one.
        if format.lockInode != lockFile.inode && hasLiveMember { throw lockFileReplaced }
        let diagnostics = DiagnosticHub()
        let incarnation = memberTable.map.bytes(MemberTableLayout.incarnation, count: 16)
        var configuration = LogConfiguration(
            identity: origin, incarnation: incarnation, writer: nil, fileMode: directory.fileMode)
        configuration.largestCapacity = JournalRetention.largestSegment
        configuration.awaitsRecovery = awaitsRecovery
        configuration.report = { diagnostics.report($0) }
        let log = try SegmentedLog.open("journal", in: directory.journalDirectory(), configuration)
        return OpenContainer(
            directory: directory, format: format, hashKey: hashKey, lockFile: lockFile, memberTable: memberTable,
            journal: Journal(log, container: identity, in: directory), diagnostics: diagnostics, readOnly: reason)
    }

    private static var formatRemoved: CoordinationError {
        .damaged(operation: "open", item: ".group/format", reason: "the file was removed")
    }

    private static var lockFileReplaced: CoordinationError {
        .damaged(operation: "open", item: ".group/lock", reason: "the lock file was replaced while members are alive")
    }

    /// Reads the format file, or creates it for a new container. For a copied or restored container it draws a new
    /// identity, which the caller writes.
    private static func settleFormat(
        _ directory: ContainerDirectories, _ lockFile: LockFile, _ creation: Creation?, isAlone: Bool
    ) throws(CoordinationError) -> (ContainerFormat, isCopy: Bool) {
        guard let format = try ContainerFormat.read(in: directory.group) else {
            guard let creation, !directory.hasJournal else { throw formatRemoved }
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

extension ContainerDirectories {
    /// Opens the lock file, or creates it.
    func lockFile(creating: Bool, isOnlyForReading: Bool) throws(CoordinationError) -> LockFile {
        try locking("open") { () throws(LockFileFailure) in
            try LockFile(creating: creating, fileMode: fileMode, isOnlyForReading: isOnlyForReading) {
                (mode) throws(Errno) in try FileDescriptor.open(LockFile.name, in: self.group, mode, mode: 0o600)
            }
        }
    }

    /// Opens the member table, or creates it. Call it only while the container's opening byte is held.
    fileprivate func openMemberTable() throws(CoordinationError) -> MemberTable.Open {
        do throws(MemberTable.Failure) {
            return try MemberTable.open(in: group, fileMode: fileMode)
        } catch {
            throw CoordinationError(error)
        }
    }

    /// Opens the member table in a process that may only read.
    func memberTableForReading() throws(CoordinationError) -> MemberTable {
        do throws(MemberTable.Failure) {
            return try MemberTable(onlyForReadingIn: group)
        } catch {
            throw CoordinationError(error)
        }
    }

    /// Reads the present life of the file system. System calls: open(2), read(2)
    func presentLife(_ status: FileStatus) throws(Errno) -> PresentLife {
        PresentLife(try group.fileSystemLife(status)) { self.group.fileSystemSession(status) }
    }
}
