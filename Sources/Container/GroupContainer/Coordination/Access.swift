import GroupBytes
import GroupLocking
import GroupLog
import GroupSystemCalls

/// Granted access to the items of a request, valid during its closure. Every call blocks while the disk works.
///
/// Errors of all calls: `invalidArgument` for an item that the request did not name in that mode, and after the closure
/// has ended.
public final class Access: ChangingAccess {
    /// The lock; nil once it was released: at the closure's end, or before the closure runs where the request needs
    /// only snapshots.
    private(set) var granted: HeldLock?
    /// The locks of the directories that a transaction makes.
    private var further: [HeldLock] = []
    private var isOver = false
    /// Where the changes of a transaction, or of a proposal, are staged; nil where each is made at once.
    private(set) var staging: (any ItemBackend)?
    private let request: AccessRequest
    let durability: Durability
    /// The request's deadline, which also limits waits under its lock.
    let deadline: Deadline
    let resolution: AccessRequest.Resolution
    /// The end of the last record that must be on the disk before the request returns.
    var durableThrough: LogPosition?
    private(set) var snapshots: [PrivateCopy] = []
    /// Removed trees in staging, to be deleted after the lock was released.
    private var leftovers: [[UInt8]] = []

    /// The questions that were asked for this access; nil where no presenter was in the way.
    let inquiry: Inquiry?
    /// The sequence numbers of the changes that were made; nil: none.
    private(set) var changes: ClosedRange<UInt64>?

    init(_ grant: GrantedRequest, _ inquiry: Inquiry?, _ durability: Durability) {
        granted = grant.frame.lock
        request = grant.request
        resolution = grant.resolution
        self.durability = durability
        deadline = grant.deadline
        self.inquiry = inquiry
    }

    var container: OpenContainer { request.container }
    var intents: Few<AccessIntent> { request.intents }
    var purpose: [UInt8] { request.purpose }
    var presenter: PresentedItem? { request.presenter }

    /// The presenters that were asked for this access and did not answer in time: what they have not saved is not in
    /// the item.
    public var unresponsivePresenters: [CoordinationError.Holder] { inquiry?.unresponsive ?? [] }

    /// Makes the requested snapshots. If the request needs only snapshots, the lock is released then.
    func makeSnapshots() throws(CoordinationError) {
        for intent in intents where intent.wantsSnapshot && !snapshots.contains(where: { $0.path == intent.path }) {
            guard let location = resolution.location(of: intent.path) else { continue }
            snapshots.append(try PrivateCopy(of: intent.path, at: location, by: container))
        }
        if !snapshots.isEmpty && intents.allSatisfy({ $0.wantsSnapshot || !$0.needsLock }) {
            inquiry?.end()
            granted?.end()
            granted = nil
        }
    }

    /// Releases the locks and ends this access, also for a caller that kept the object.
    func end() {
        isOver = true
        for lock in further { lock.end() }
        further = []
        granted?.end()
        granted = nil
    }

    /// Locks a directory that is to be made above an item, exclusively; nil if it is locked already.
    ///
    /// The lock is taken when the directory is made, under those of the request, and not with them: otherwise requests
    /// for two items would exclude each other as long as the directory is missing. Errors: `lockTimedOut`, `deadlock`
    func lock(missing directory: ItemLocation, _ operation: String) throws(CoordinationError) -> HeldLock? {
        guard let granted, !covers(directory, for: .exclusive) else { return nil }
        if further.contains(where: { $0.covers(directory, for: .exclusive) }) { return nil }
        let locks = ItemLocks(
            Few(LockRequest.Item(directory.bytes, .exclusive)), of: container, for: purpose, operation: operation,
            answering: request.answering?.owner)
        // Whoever makes a directory needs milliseconds, which a request with a single try has.
        let isShort = deadline.remaining.map { $0 < Self.patience } ?? false
        let limit = isShort ? Deadline(after: .nanoseconds(Self.patience)) : deadline
        return try LockFrame.within(LockFrame(granted, outer: LockFrame.current).inCallersChain) {
            Result { () throws(CoordinationError) in try locks.acquireBlocking(until: limit) }
        }.get()
    }

    /// How long a request waits at least for the lock on a directory that it makes, in nanoseconds.
    private static let patience: Int64 = 1_000_000_000

    /// Keeps a lock until the access ends.
    func keep(_ lock: HeldLock) { further.append(lock) }

    /// Deletes this access's files in staging. Not called under the lock: a large tree takes a while.
    func sweep() {
        for name in leftovers { container.removeStaged(name) }
        for snapshot in snapshots { snapshot.remove(by: container) }
        (leftovers, snapshots) = ([], [])
        staging?.discard()
        // The changes refer to this access: without this, neither object would be freed.
        staging = nil
    }

    func sweepLater(_ name: [UInt8]) { leftovers.append(name) }

    // MARK: What was granted

    func covers(_ location: ItemLocation, for mode: LockMode) -> Bool {
        granted?.covers(location, for: mode) ?? false
    }

    func notGranted(_ path: ItemPath, _ operation: String, remedy: CoordinationError.Remedy? = nil)
        -> CoordinationError
    {
        CoordinationError(
            .invalidArgument, operation: operation, item: path.description,
            reason: isOver ? "the access has ended" : "the request did not name the item in this mode",
            remedy: remedy
                ?? (isOver ? .useAccess : .init(.nameInRequest, "name the item with that intent in `coordinate`")))
    }

    /// Returns the location of an item's content: symbolic links were followed when the request was made.
    func location(_ path: ItemPath, for mode: LockMode, _ operation: String) throws(CoordinationError) -> ItemLocation {
        let requested = try path.location(for: operation)
        let resolved = resolution.location(of: path)
        let location = resolved ?? requested
        if isOver || !covers(location, for: mode) { throw notGranted(path, operation) }
        // A read of a path of the request was checked when it was resolved. In all other cases, a directory may have
        // become a container since.
        if mode != .shared || resolved == nil { try container.checkIsOurs(location, operation) }
        if mode == .shared, let staging { try staging.noteRead(location, operation) }
        return location
    }

    /// Returns the location of an item for a call that needs no lock: the request need only name the item, or one below
    /// it.
    func namedLocation(_ path: ItemPath, _ operation: String) throws(CoordinationError) -> ItemLocation {
        let requested = try path.location(for: operation)
        let resolved = resolution.location(of: path)
        let location = resolved ?? requested
        let isNamed = resolved != nil || covers(location, for: .shared) || isAboveNamed(location)
        if isOver || !isNamed { throw notGranted(path, operation) }
        if resolved == nil { try container.checkIsOurs(location, operation) }
        return location
    }

    /// Whether a directory is above an item of the request, which may have made it.
    private func isAboveNamed(_ directory: ItemLocation) -> Bool {
        intents.contains { resolution.location(of: $0.path)?.isBelow(directory) ?? false }
    }

    /// Returns the location of the entry itself, also where it is a symbolic link, and its status. A directory must
    /// have been granted with everything below it, because the caller moves or removes all of it.
    func entry(_ path: ItemPath, _ operation: String) throws(CoordinationError) -> (ItemLocation, FileStatus) {
        let requested = try path.location(for: operation)
        // An item that was moved while its lock was awaited is at its new location.
        let isNamed = intents.contains { $0.path == path && $0.isStructural }
        let location = isNamed ? resolution.location(of: path) ?? requested : requested
        if isOver || !covers(location, for: .exclusive) { throw notGranted(path, operation) }
        try container.checkIsOurs(location, operation)
        guard let status = try status(of: location, operation) else {
            throw CoordinationError(Errno.noSuchEntry, operation: operation, item: path.description)
        }
        if status.isDirectory && !covers(location, for: .tree) {
            if isNamed {
                throw CoordinationError(
                    .conflict, operation: operation, item: path.description,
                    reason: "a directory took the item's place while the lock was awaited", remedy: .tryAgain)
            }
            throw notGranted(
                path, operation,
                remedy: .init(.nameInRequest, "name the directory with its contents: `.forDeleting` or `.forMoving`"))
        }
        if status.isDirectory { try container.checkHasNoMount(location, operation) }
        return (location, status)
    }

    func status(of location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try container.status(of: location, for: operation)
    }

    /// Returns where a path can be read in a snapshot; nil where it is in none.
    func snapshotCopy(of path: ItemPath) -> [UInt8]? {
        if isOver { return nil }
        for snapshot in snapshots { if let copy = snapshot.path(of: path) { return copy } }
        return nil
    }

    // MARK: What is changed

    var backend: any ItemBackend { staging ?? DirectChanges(access: self) }

    /// Has the changes from now on staged, and not made.
    func stage(in staging: any ItemBackend) { self.staging = staging }

    /// Runs a transaction's closure and commits its changes. If the closure throws, nothing is changed. See
    /// `TransactionChanges.commit`.
    func transact<Answer>(
        _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, outcome: TransactionChanges.Outcome) {
        let transaction = TransactionAccess(self)
        staging = transaction
        // The changes refer to this access: without this, neither object would be freed.
        defer { staging = nil }
        let answer: Answer
        do {
            answer = try body(self)
            try checkIsThere()
        } catch {
            isOver = true
            transaction.transaction.discard()
            throw error
        }
        isOver = true
        presenter?.noteOwn(transaction.transaction.operation)
        let outcome = try container.locating { () throws(CoordinationError) in
            try transaction.transaction.commit { granted?.handOver() }
        }
        if let position = outcome.position { note(position) }
        if durability == .durable, let position = outcome.position { durableThrough = position }
        return (answer, outcome)
    }

    func handOver() -> HeldLock? {
        defer { (granted, isOver) = (nil, true) }
        return granted?.handOver()
    }

    var preconditions: Preconditions { Preconditions(container: container, lock: granted, deadline: deadline) }

    private func note(_ position: LogPosition) { note(position.sequence...position.sequence) }

    func note(_ made: ClosedRange<UInt64>) {
        changes = min(made.lowerBound, changes?.lowerBound ?? .max)...max(made.upperBound, changes?.upperBound ?? 0)
    }

    /// Checks, for a durable change, that the container was not removed or moved since the request was granted.
    private func checkIsThere() throws(CoordinationError) {
        try container.checkIsThere(for: request.operation, durability)
    }

    /// Makes one change. With `.durable`, its record is synchronized to the disk after the lock was released.
    func change(
        _ make: (StagedChange) throws(CoordinationError) -> LogPosition
    ) throws(CoordinationError) -> Generation {
        try checkIsThere()
        let change = StagedChange(by: self)
        presenter?.noteOwn(change.operation)
        let position = try make(change)
        note(position)
        if durability == .durable { durableThrough = position }
        return Generation(rawValue: position.sequence)
    }

    /// Synchronizes an item that already has the requested state: a relaxed change, or a change whose writer died, may
    /// have made that state, which is then perhaps not on the disk. A durable call must not return before it is.
    func confirm(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if durability != .durable { return }
        try checkIsThere()
        try translating(operation, item: printable(location.bytes)) { () throws(Errno) in
            try SeparateTable.within(container.directory.root) { root throws(Errno) in
                try FileDescriptor.open(location.bytes, in: root, .readingItself).synchronize()
            }
            try container.openDirectory(location.parent).synchronize()
        }
        durableThrough = try translating(container.journal.log.end())
    }
}

extension Access {
    /// Returns an item's content, or its snapshot's if the request included one. Reading closes a descriptor of the
    /// item, and Linux then drops this process's own `fcntl(F_SETLK)` locks on it, such as SQLite's. Errors:
    /// `notFound`, `wrongType`, `inputOutput`. System calls: openat2, read
    public func readBytes(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        try container.locating { () throws(CoordinationError) in try content(of: path) }
    }

    private func content(of path: ItemPath) throws(CoordinationError) -> [UInt8] {
        if let copy = snapshotCopy(of: path) {
            return try container.readFile(copy, in: container.directory.staging, label: path.description).content
        }
        let location = try location(path, for: .shared, "read")
        if staging == nil { return try container.readFile(location).content }
        var reader = try backend.reader(of: location)
        return try reader.hold()
    }

    /// Returns an item's content, or nil where there is no item. See `readBytes`.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// Returns the type, size and date of the item at a path, or nil where there is no item. With
    /// `.immediatelyAvailableMetadataOnly` the request has no lock: the answer is the item's status at this moment, and
    /// another process may be changing the item. System calls: openat2, statx
    public func item(_ path: ItemPath) throws(CoordinationError) -> Item? {
        try container.locating { () throws(CoordinationError) in try present(path) }
    }

    private func present(_ path: ItemPath) throws(CoordinationError) -> Item? {
        let found: FileStatus?
        if let copy = snapshotCopy(of: path) {
            found = try translating("look at", item: path.description) { () throws(Errno) in
                try container.status(of: copy, in: container.directory.staging)
            }
        } else {
            found = try backend.status(of: namedLocation(path, "look at"), "look at")
        }
        return found.map { Item(path: path, $0) }
    }

    /// Returns the absolute path of an item, for other programs: that of its snapshot if the request included one with
    /// `.forUploading`, which is deleted after the closure. Errors: `notFound` where there was no item
    /// to make a snapshot of. System calls: readlink
    public func absolutePath(of path: ItemPath) throws(CoordinationError) -> AbsolutePath {
        try container.locating { () throws(CoordinationError) in
            if let copy = snapshotCopy(of: path) {
                if try item(path) == nil {
                    throw CoordinationError(Errno.noSuchEntry, operation: "find", item: path.description)
                }
                return AbsolutePath(copy, in: try absolute(container.directory.staging, path))
            }
            let location = try namedLocation(path, "find")
            try backend.checkIsRecorded(location, "find")
            return AbsolutePath(location.bytes, in: try absolute(container.directory.root, path))
        }
    }

    private func absolute(
        _ directory: borrowing FileDescriptor, _ path: ItemPath
    ) throws(CoordinationError) -> [UInt8] {
        do throws(Errno) {
            return try directory.absolutePath()
        } catch {
            throw CoordinationError(error, operation: "find", item: path.description)
        }
    }
}

/// Access to items in an async closure, valid until that closure returns.
public struct HeldAccess: Sendable {
    /// The mutex is held while `perform` runs its work: an access is for one thread at a time, and each waiter has a
    /// thread of its own.
    private let access: Guarded<Access>
    let frame: LockFrame
    private let answering: AnsweredQuestion?

    init(_ access: sending Access, _ frame: LockFrame, _ answering: AnsweredQuestion?) {
        self.access = Guarded(access)
        self.frame = frame
        self.answering = answering
    }

    /// Runs blocking work with the items, on a thread of its own, one call at a time. Errors: those of `work`;
    /// `limitReached` where no thread can be started
    public func perform<Answer: Sendable>(
        _ work: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await OwnThread.run {
            try performBlocking(work)
        }
    }

    /// The blocking form of `perform`, for an access that was begun by `BlockingCoordinator.begin`.
    package func performBlocking<Answer>(_ work: (Access) throws -> Answer) throws -> Answer {
        try within { try access.withLock { try work($0) } }
    }

    /// Runs code that does not use this access itself: requests that it makes are nested in this one.
    package func within<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        try LockFrame.within(frame.inCallersChain) { try AnsweredQuestion.within(answering, body) }
    }

    func end<Answer: Sendable>(
        _ finish: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await OwnThread.run { try access.withLock { try finish($0) } }
    }
}
