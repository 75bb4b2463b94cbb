import GroupSystemCalls

/// Granted access to the items of a request, for the time of its closure. Every call blocks while the disk works.
///
/// Errors of all calls: `invalidArgument` for an item that the request did not ask for in that way, and once the
/// closure has ended.
public final class Access {
    /// Nil once it was given back: at the closure's end, or before it, where all there is are snapshots.
    private(set) var granted: HeldLock?
    private var isOver = false
    let member: Member
    let durability: Durability
    /// Of the request: what it waits for under its lock ends then, too.
    let deadline: Deadline
    private let intents: [AccessIntent]
    private let locations: [ItemPath: ItemLocation]
    let purpose: String
    /// The end of the last record that must be on the disk before the request returns.
    var durableThrough: LogPosition?
    /// There are new records, of changes or of what was changed without coordination.
    var hasChanged = false
    private(set) var snapshots: [PrivateCopy] = []
    /// Trees in staging that were removed, to be deleted when nobody waits for the lock any more.
    private var leftovers: [[UInt8]] = []

    init(
        _ lock: HeldLock, _ resolution: AccessRequest.Resolution, _ intents: [AccessIntent], purpose: String,
        _ durability: Durability, until deadline: Deadline
    ) {
        (granted, member, self.intents) = (lock, lock.member, intents)
        (self.purpose, self.durability, self.deadline) = (purpose, durability, deadline)
        locations = resolution.locations
    }

    /// Makes the snapshots that were asked for, then runs the closure. With nothing but snapshots to read, the lock is
    /// given back in between.
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

    /// Gives the lock back: a caller that kept the object has nothing.
    func end() {
        isOver = true
        granted?.end()
        granted = nil
    }

    /// Deletes what it leaves in staging. Not under the lock: a large tree takes a while.
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

    /// Where an item's content is: links were followed when the request was made.
    func location(_ path: ItemPath, for mode: LockMode, _ operation: String) throws(CoordinationError) -> ItemLocation {
        let asked = try path.location(for: operation)
        let location = locations[path] ?? asked
        if isOver || !covers(location, for: mode) { throw notGranted(path, operation) }
        // What is read by the path that was asked for was looked at before; a directory may have become a container
        // since.
        if mode != .reading || locations[path] == nil { try member.checkIsOurs(location, operation) }
        return location
    }

    /// The same, where no lock is needed: it is enough to have named it.
    func namedLocation(_ path: ItemPath, _ operation: String) throws(CoordinationError) -> ItemLocation {
        let asked = try path.location(for: operation)
        let location = locations[path] ?? asked
        if isOver || (locations[path] == nil && !covers(location, for: .reading)) { throw notGranted(path, operation) }
        if locations[path] == nil { try member.checkIsOurs(location, operation) }
        return location
    }

    /// The entry itself, also where it is a link, and what it is. A directory goes with everything below it, so that
    /// must have been granted, too.
    func entry(_ path: ItemPath, _ operation: String) throws(CoordinationError) -> (ItemLocation, FileStatus) {
        let asked = try path.location(for: operation)
        // If it was moved while its lock was awaited, it is where it went.
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

    /// Where a path can be read in a snapshot, and nil where it is not in one.
    func snapshotPlace(of path: ItemPath) -> [UInt8]? {
        if isOver { return nil }
        for snapshot in snapshots { if let place = snapshot.place(of: path) { return place } }
        return nil
    }

    // MARK: What is changed

    /// Makes one change, and has it confirmed at the end.
    /// The lock, for a change that cannot be finished now; nothing more is done with it here.
    private func handOver() -> HeldLock? {
        defer { (granted, isOver) = (nil, true) }
        return granted?.handOver()
    }

    var ground: Preconditions { Preconditions(member: member, lock: granted, deadline: deadline) }

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

    /// What stands there already may have come by a relaxed change, or by one whose maker died: what is acknowledged as
    /// durable is on the disk.
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
    /// An item's content; its snapshot's, if the request asked for one. Locks of the whole process on the item itself
    /// (`fcntl(F_SETLK)`: SQLite's) go by that, as by any reading. Errors: `notFound`, `wrongType`, `inputOutput`.
    /// System calls: openat2, read
    public func readBytes(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        if let place = snapshotPlace(of: path) {
            return try member.readFile(place, in: member.directory.staging, label: path.description).content
        }
        return try member.readFile(location(path, for: .reading, "read")).content
    }

    /// The same, or nil where nothing stands.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// What stands at a path, or nil: type, size, date. With `.immediatelyAvailableMetadataOnly` this is all there is,
    /// as it is at this moment: the holder of the item may be changing it. System calls: openat2, statx
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

    /// Where an item is, from the root of all files, for other programs: its snapshot's place, if the request asked for
    /// one with `.forUploading`; it is gone after the closure. Bytes, as the kernel has them.
    /// Errors: `notFound` where there was nothing to make a snapshot of. System calls: readlink
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
