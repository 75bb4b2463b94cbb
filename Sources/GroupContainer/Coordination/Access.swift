import GroupSystemCalls

/// Granted access to the items of a request, valid during its closure. Every call blocks while the disk works.
///
/// Errors of all calls: `invalidArgument` for an item that the request did not name in that mode, and after the closure
/// has ended.
public final class Access {
    /// The lock; nil once it was released: at the closure's end, or before it where the request needs only snapshots.
    private(set) var granted: HeldLock?
    private var isOver = false
    let member: Member
    let durability: Durability
    /// The request's deadline, which also limits waits under its lock.
    let deadline: Deadline
    private let intents: [AccessIntent]
    private let locations: [ItemPath: ItemLocation]
    let purpose: String
    /// The end of the last record that must be on the disk before the request returns.
    var durableThrough: LogPosition?
    /// Whether there are new records, of coordinated or of external changes.
    var hasChanged = false
    private(set) var snapshots: [PrivateCopy] = []
    /// Removed trees in staging, to be deleted after the lock was released.
    private var leftovers: [[UInt8]] = []

    init(
        _ lock: HeldLock, _ resolution: AccessRequest.Resolution, _ intents: [AccessIntent], purpose: String,
        _ durability: Durability, until deadline: Deadline
    ) {
        (granted, member, self.intents) = (lock, lock.member, intents)
        (self.purpose, self.durability, self.deadline) = (purpose, durability, deadline)
        locations = resolution.locations
    }

    /// Makes the requested snapshots, then runs the closure. If the request needs only snapshots, the lock is released
    /// in between.
    func run<Answer>(_ body: (Access) throws -> Answer) throws -> Answer {
        for intent in intents where intent.wantsSnapshot && !snapshots.contains(where: { $0.path == intent.path }) {
            guard let location = locations[intent.path] else { continue }
            snapshots.append(try PrivateCopy(of: intent.path, at: location, by: member))
        }
        if !snapshots.isEmpty && intents.allSatisfy({ $0.wantsSnapshot || !$0.needsLock }) {
            granted?.end()
            granted = nil
        }
        return try body(self)
    }

    /// Releases the lock and ends this access, also for a caller that kept the object.
    func end() {
        isOver = true
        granted?.end()
        granted = nil
    }

    /// Deletes this access's files in staging. Not called under the lock: a large tree takes a while.
    func sweep() {
        for name in leftovers { try? member.directory.staging.removeTree(name) }
        for snapshot in snapshots { snapshot.remove(by: member) }
        (leftovers, snapshots) = ([], [])
    }

    // MARK: What was granted

    func covers(_ location: ItemLocation, for mode: LockMode) -> Bool {
        granted?.covers(location, for: mode) ?? false
    }

    func notGranted(_ path: ItemPath, _ operation: String, advice: String? = nil) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: path.description, operation: operation,
            cause: isOver ? "its access has ended" : "the request did not ask for it in this mode",
            advice: advice ?? "name it in coordinate(_:), and use the access within its closure")
    }

    /// Returns the location of an item's content: symbolic links were followed when the request was made.
    func location(_ path: ItemPath, for mode: LockMode, _ operation: String) throws(CoordinationError) -> ItemLocation {
        let asked = try path.location(for: operation)
        let location = locations[path] ?? asked
        if isOver || !covers(location, for: mode) { throw notGranted(path, operation) }
        // A read of a path of the request was checked when it was resolved. In all other cases, a directory may have
        // become a container since.
        if mode != .reading || locations[path] == nil { try member.checkIsOurs(location, operation) }
        return location
    }

    /// Returns the location of an item for a call that needs no lock: the request need only name the item.
    func namedLocation(_ path: ItemPath, _ operation: String) throws(CoordinationError) -> ItemLocation {
        let asked = try path.location(for: operation)
        let location = locations[path] ?? asked
        if isOver || (locations[path] == nil && !covers(location, for: .reading)) { throw notGranted(path, operation) }
        if locations[path] == nil { try member.checkIsOurs(location, operation) }
        return location
    }

    /// Returns the location of the entry itself, also where it is a symbolic link, and its status. A directory must
    /// have been granted with everything below it, because the caller moves or removes all of it.
    func entry(_ path: ItemPath, _ operation: String) throws(CoordinationError) -> (ItemLocation, FileStatus) {
        let asked = try path.location(for: operation)
        // An item that was moved while its lock was awaited is at its new location.
        let isNamed = intents.contains { $0.path == path && $0.isStructural }
        let location = isNamed ? locations[path] ?? asked : asked
        if isOver || !covers(location, for: .writing) { throw notGranted(path, operation) }
        try member.checkIsOurs(location, operation)
        guard let status = try status(of: location, operation) else {
            throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: operation)
        }
        if status.isDirectory && !covers(location, for: .structural) {
            if isNamed {
                throw CoordinationError(
                    .conflict, item: path.description, operation: operation,
                    cause: "a directory has come to its place while its lock was awaited", advice: "try again")
            }
            throw notGranted(
                path, operation, advice: "ask for the directory with everything in it: .forDeleting or .forMoving")
        }
        return (location, status)
    }

    func status(of location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try member.status(of: location, for: operation)
    }

    /// Returns where a path can be read in a snapshot; nil where it is in none.
    func snapshotPlace(of path: ItemPath) -> [UInt8]? {
        if isOver { return nil }
        for snapshot in snapshots { if let place = snapshot.place(of: path) { return place } }
        return nil
    }

    // MARK: What is changed

    /// Returns the lock for a change that cannot be finished now; this access has no lock afterwards.
    private func handOver() -> HeldLock? {
        defer { (granted, isOver) = (nil, true) }
        return granted?.handOver()
    }

    var ground: Preconditions { Preconditions(member: member, lock: granted, deadline: deadline) }

    /// Makes one change. With `.durable`, its record is synchronized to the disk after the lock was released.
    func change(
        _ make: (StagedChange) throws(CoordinationError) -> LogPosition
    ) throws(CoordinationError) -> UInt64 {
        hasChanged = true
        let position = try make(
            StagedChange(
                by: member, purpose: purpose, durability, on: ground, leaving: { self.leftovers.append($0) },
                keepingLock: handOver))
        if durability == .durable { durableThrough = position }
        return position.sequence
    }

    /// Synchronizes an item that needs no change: it may stem from a relaxed change, or from a change whose writer
    /// died. A call acknowledged as durable leaves the item on the disk.
    func confirm(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {
        if durability != .durable { return }
        try translating(printable(location.bytes), operation) { () throws(Errno) in
            try SeparateTable.within(member.directory.root) { root throws(Errno) in
                try FileDescriptor.open(location.bytes, in: root, [.reading, .notFollowing, .nonBlocking]).synchronize()
            }
            try member.openDirectory(location.parent).synchronize()
        }
        durableThrough = try member.journal.log.end()
    }
}

extension Access {
    /// Returns an item's content, or its snapshot's if the request included one. Like any read, this ends locks of the
    /// whole process on the item itself (`fcntl(F_SETLK)`: SQLite's). Errors: `notFound`, `wrongType`, `inputOutput`.
    /// System calls: openat2, read
    public func readBytes(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        if let place = snapshotPlace(of: path) {
            return try member.readFile(place, in: member.directory.staging, label: path.description).content
        }
        return try member.readFile(location(path, for: .reading, "read")).content
    }

    /// Returns an item's content, or nil where there is no item. See `readBytes`.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// Returns the type, size and date of the item at a path, or nil where there is no item. With
    /// `.immediatelyAvailableMetadataOnly`, this is all there is, as it is at this moment: the item's holder may be
    /// changing it. System calls: openat2, statx
    public func item(_ path: ItemPath) throws(CoordinationError) -> Item? {
        let found: FileStatus?
        if let place = snapshotPlace(of: path) {
            found = try translating(path.description, "look at") { () throws(Errno) in
                try member.status(of: place, in: member.directory.staging)
            }
        } else {
            found = try status(of: namedLocation(path, "look at"), "look at")
        }
        return found.map { Item(path: path, ItemState($0, contentHash: nil)) }
    }

    /// Returns the absolute path of an item, for other programs: that of its snapshot if the request included one with
    /// `.forUploading`, which is deleted after the closure. The path is in bytes, as the kernel has it. Errors:
    /// `notFound` where there was no item to make a snapshot of. System calls: readlink
    public func place(of path: ItemPath) throws(CoordinationError) -> [UInt8] {
        let slash = [UInt8(ascii: "/")]
        if let place = snapshotPlace(of: path) {
            if try item(path) == nil {
                throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "find")
            }
            return try absolute(member.directory.staging, path) + slash + place
        }
        let location = try namedLocation(path, "find")
        return try absolute(member.directory.root, path) + slash + location.bytes
    }

    private func absolute(
        _ directory: borrowing FileDescriptor, _ path: ItemPath
    ) throws(CoordinationError) -> [UInt8] {
        do throws(Errno) {
            return try directory.absolutePath()
        } catch {
            throw CoordinationError(error, item: path.description, operation: "find")
        }
    }
}
