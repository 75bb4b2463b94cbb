import GroupLocking
import GroupLog
import GroupSystemCalls

/// A container as the doctor examines it, opened only for reading and not joined, because a process that joins repairs
/// what is to be found, and cannot join a damaged container. A part that cannot be opened is nil, and `parts` has the
/// reason.
struct CheckedContainer {
    let directory: ContainerDirectories
    let format: ContainerFormat?
    let lock: LockFile?
    let memberTable: MemberTable?
    /// Nil also where nothing was presented yet.
    let presenters: PresenterTable?
    private(set) var parts = PartsFacts()
    /// Whether no member lives, and files that were mapped before a boot may have reached the disk only in part.
    private(set) var awaitsRecovery = false

    /// How long a process may take to open a container before it is reported, in nanoseconds.
    private static let openingTime: Int64 = 1_000_000_000

    init(_ directory: ContainerDirectories) {
        self.directory = directory
        var found = PartsFacts()
        format = Self.part(&found.format) { () throws(CoordinationError) in
            try ContainerFormat.read(in: directory.group)
        }
        lock = Self.part(&found.lock) { () throws(CoordinationError) in
            if try !Self.exists("lock", directory) { return nil }
            return try directory.lockFile(creating: false, isOnlyForReading: true)
        }
        memberTable = Self.part(&found.memberTable) { () throws(CoordinationError) in
            if try !Self.exists("members", directory) { return nil }
            return try directory.memberTableForReading()
        }
        presenters = Self.part(&found.presenters) { () throws(CoordinationError) in
            try PresenterTable.open(in: directory, isOnlyForReading: true)
        }
        parts = found
        parts.isInUse = Self.isLocked("lock", directory) || Self.isLocked("members", directory)
        parts.misplaced = directory.misplacedParts().map { ($0.label, $0.isDirectory) }
        if let format, let lock { parts.isOtherLockFile = format.lockInode != lock.inode }
        parts.isOtherMemberTable = memberTable != nil && Self.hasMembersElsewhere(directory)
        parts.readOnlyCause = ReadOnlyReason(of: directory.group)?.reason
        if parts.readOnlyCause == nil { parts.closed = directory.closed }
        if let memberTable, let status = try? directory.group.status() {
            let recovery = try? memberTable.awaitsRecovery { () throws(Errno) in try directory.presentLife(status) }
            awaitsRecovery = recovery?.awaitsRecovery ?? false
        }
        // What earlier members presented is forgotten when the container is opened.
        if parts.presenters == .missing && !(parts.isInUse && memberTable?.hasPresenters == true) {
            parts.presenters = .good
        }
        if let lock { lookForOpener(lock) }
    }

    private static func part<Value>(
        _ state: inout PartsFacts.Part, _ open: () throws(CoordinationError) -> Value?
    ) -> Value? {
        do {
            if let value = try open() { return value }
            state = .missing
        } catch {
            switch error.code {
            case .damaged: state = .damaged(error.reason)
            case .newerFormat: state = .newer(error.reason)
            case .olderFormat: state = .older(error.reason)
            default: state = .failed(error.reason)
            }
        }
        return nil
    }

    private static func exists(_ name: String, _ directory: ContainerDirectories) throws(CoordinationError) -> Bool {
        try translating("read", item: ".group/\(name)") { () throws(Errno) in
            try directory.group.statusIfPresent(of: Array(name.utf8)) != nil
        }
    }

    /// Returns whether any process has a lock on the file; locks of this process count, too.
    static func isLocked(_ name: String, _ directory: ContainerDirectories) -> Bool {
        guard let file = try? FileDescriptor.open(Array(name.utf8), in: directory.group, [.reading, .nonBlocking]),
            let found = try? file.conflict(with: .exclusive, .all)
        else { return false }
        return found.length >= 0
    }

    /// Returns whether a process has a lock that only members have, while no member of the member table lives. Looks
    /// several times, as a member that leaves does not give up both at once. The first byte does not count: a process
    /// that opens the container locks it before it is a member.
    private static func hasMembersElsewhere(_ directory: ContainerDirectories) -> Bool {
        for attempt in 0..<3 {
            if attempt > 0 { pause(nanoseconds: 100_000_000) }
            if isLocked("members", directory) || !isLockedByMember(directory) { return false }
        }
        return true
    }

    /// Returns whether a member has a lock. Processes that may only read are no members, and take only shared locks.
    private static func isLockedByMember(_ directory: ContainerDirectories) -> Bool {
        let access: FileDescriptor.OpenMode = [.reading, .nonBlocking]
        guard let file = try? FileDescriptor.open(LockFile.name, in: directory.group, access) else { return false }
        let found = try? file.conflict(with: .shared, ByteRange(start: 1, length: 0))
        return found.flatMap(\.self) != nil
    }

    /// Returns whether any process has a lock on that byte.
    func isHeld(_ byte: Int64) -> Bool {
        guard let lock, let handle = try? lock.borrow() else { return false }
        defer { lock.giveBackUnlocked(handle) }
        let found = try? handle.descriptor.conflict(with: .exclusive, ByteRange(start: byte, length: 1))
        return found.flatMap(\.self) != nil
    }

    private mutating func lookForOpener(_ lock: LockFile) {
        let began = monotonicNanoseconds()
        while isHeld(ContainerLock.opening) {
            let time = monotonicNanoseconds() - began
            if time < Self.openingTime {
                pause(nanoseconds: 5_000_000)
                continue
            }
            parts.openingFor = time
            parts.opener = OpeningProcess(ofLockFile: lock.inode).map { ($0.process, $0.command) }
            return
        }
    }

    /// Opens the journal as a reader. Throws what is wrong with the journal as a whole.
    func journal() throws(CoordinationError) -> Journal? {
        guard let format, let origin = format.originBytes, let container = format.containerBytes else {
            return nil
        }
        var configuration = LogConfiguration(
            identity: origin, incarnation: memberTable?.map.bytes(MemberTableLayout.incarnation, count: 16) ?? [],
            writer: nil, fileMode: directory.fileMode)
        configuration.largestCapacity = JournalRetention.largestSegment
        configuration.awaitsRecovery = awaitsRecovery || memberTable == nil
        let log = try SegmentedLog.open("journal", in: directory.journalDirectory(), configuration)
        return Journal(log, container: container, in: directory)
    }
}
