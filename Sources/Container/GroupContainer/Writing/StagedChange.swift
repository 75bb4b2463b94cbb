import GroupLocking
import Dispatch
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The access in which a change is made.
protocol ChangingAccess: AnyObject {
    var container: OpenContainer { get }
    var purpose: [UInt8] { get }
    var durability: Durability { get }
    var preconditions: Preconditions { get }
    /// Has a removed tree in staging deleted, once the lock was released.
    func sweepLater(_ name: [UInt8])
    /// Hands the access's lock over to the caller, for a change whose record could not be appended. The caller keeps
    /// the lock until the record is appended. The access has no lock afterwards.
    func handOver() -> HeldLock?
}

/// A change in progress. Every kind of change happens by one system call, a `Step`, in this order: the new content is
/// built completely in staging; an intent record in staging states which inode moves from where to where; the operation
/// is announced in the member table (`inFlight`); the step is taken; the change record is appended; the announcement is
/// cleared; the directories are synchronized. A process killed at any moment therefore leaves either no change or a
/// change that crash repair (CrashRepair.swift) can finish. The method follows renameio and the write-ahead intents of
/// databases. A new kind of change is a new `Step` for `commit`; transactions have their own (`TransactionStep`).
struct StagedChange {
    private let access: any ChangingAccess
    let operation: [UInt8]
    /// The name in staging.
    let name: [UInt8]

    init(by access: any ChangingAccess) {
        self.access = access
        operation = access.container.memberTable.makeOperation()
        name = StagingName.of(operation)
    }

    var container: OpenContainer { access.container }
    var purpose: [UInt8] { access.purpose }
    var durability: Durability { access.durability }
    var staging: FileDescriptor { _read { yield container.directory.staging } }

    /// The system call of a change, and what its record needs.
    struct Step {
        var kind: ChangeRecord.Kind
        var way: IntentRecord.Way
        var location: ItemLocation
        /// The location before a move.
        var origin: ItemLocation?
        /// The status of the item that moves, before the step; for a change in place, its new status.
        var status: FileStatus
        /// Whether the step may replace an item at the destination.
        var replacing = false
        /// The status of the item at the destination before the step; for a change in place, the item's old status.
        var before: FileStatus?
        var contentHash: UInt64?
        /// The contents of a new directory, parents first. With contents, the record is a transaction.
        var contents: [ChangePart] = []
        /// Whether a directory may have contents.
        var recursively = true
        /// A name in a private directory, which is used instead of one in staging: the new file comes from there, and
        /// an old item moves there.
        var elsewhere: Elsewhere?
        /// The requested operation, for errors.
        var operation: String

        /// Whether the change is announced with the item's lock range, so that only requests whose locks cover the item
        /// finish it first. Any other change is announced for every item.
        var concernsOneItem: Bool { way != .fromPlaceToPlace && !status.isDirectory }
    }

    /// A name in a directory of this package's own.
    struct Elsewhere {
        var directory: OpenDirectory
        var name: [UInt8]
    }

    /// Takes the step and records it. Errors: `notDurable`: the change is visible and recorded; those of the journal:
    /// the change is visible and will be recorded; any other: the item is as before, and its new content is removed
    /// from staging. (An empty directory that a move replaced is not restored where the move is undone because of a
    /// container inside.)
    func commit(_ step: Step) throws(CoordinationError) -> LogPosition {
        // Held until the change has its record: a process that waited to open one of these containers finds then that
        // it was moved.
        let inside = try holdContainers(in: step)
        defer { extendLifetime(inside) }
        container.changeRoom.wait()
        defer { container.changeRoom.signal() }

        let record = record(of: step)
        let entry = try reserveEntry(for: step)
        var reserve: LockFile.Handle?
        let ends = try prepare(step, record, entry, &reserve)
        defer { if let reserve { container.giveBackReserve(reserve, entry) } }
        try take(step, ends, inside, announcedAs: entry)
        // From here on the change is visible and must get its record, even if a later call fails.
        let (position, failure) = try append(record, of: step, ends, entry, &reserve)
        try synchronize(step, ends, position, failure)
        return position
    }

    // MARK: The phases of a commit

    private func reserveEntry(for step: Step) throws(CoordinationError) -> Int {
        if let entry = container.memberTable.reserveInFlight() { return entry }
        discard(step)
        throw CoordinationError(
            .limitReached, operation: step.operation, item: printable(step.location.bytes),
            reason: "too many changes of this process are in progress",
            remedy: .init(.makeFewerRequests, "wait until some of them are done, and try again"))
    }

    /// Announces the change and takes its step. Where this throws, the change is not announced, and the item is as
    /// before.
    private func take(
        _ step: Step, _ ends: borrowing StepEnds, _ inside: ContainersInside?, announcedAs entry: Int
    ) throws(CoordinationError) {
        do throws(CoordinationError) {
            try access.preconditions.ensure(step.preconditions, step.operation)
        } catch {
            container.memberTable.clearInFlight(entry)
            discard(step)
            throw error
        }
        let rangeStart = step.concernsOneItem ? LockRange(step.location, key: container.hashKey).start : nil
        container.memberTable.announce(
            entry, rangeStart: rangeStart.map(UInt64.init(bitPattern:)) ?? MemberTable.everyItem, operation: operation)
        do throws(Errno) {
            try ends.take(step)
        } catch {
            container.memberTable.clearInFlight(entry)
            discard(step)
            let items = [step.origin, step.location].compactMap(\.self)
            if error == .busy, let mount = container.mountPoint(among: items, step.operation) { throw mount }
            // Without an origin, or where the destination is in the way, the error is about the destination.
            let isDestination = error == .exists || error == .notEmpty
            let item = isDestination ? step.location : step.origin ?? step.location
            throw CoordinationError(error, operation: step.operation, item: printable(item.bytes))
        }
        if let obstacle = obstacle(to: step, ends, inside), (try? ends.undo(step)) != nil {
            container.memberTable.clearInFlight(entry)
            throw CoordinationError(obstacle, at: step.origin ?? step.location, step.operation)
        }
    }

    /// Appends the record of a step that was taken, and withdraws the announcement. Returns the record's position, and
    /// why the item's new state could not be read. Where this throws, the announcement stays, and whoever needs the item
    /// appends the record.
    private func append(
        _ record: ChangeRecord, of step: Step, _ ends: borrowing StepEnds, _ entry: Int,
        _ reserve: inout LockFile.Handle?
    ) throws(CoordinationError) -> (LogPosition, failure: Errno?) {
        var record = record
        var failure: Errno?
        do throws(Errno) {
            // An external change may have removed or moved the item already: its record follows this one.
            if !step.way.isRemoval, let status = try ends.to.statusIfPresent(of: ends.toName) {
                record.complete(with: ItemState(status, contentHash: step.contentHash))
            }
        } catch {
            failure = error
        }
        let position: LogPosition
        do {
            position = try container.journal.append(record)
        } catch {
            container.keepLock(access.handOver(), of: operation)
            container.memberTable.leaveUnfinished(entry)
            // The reserve's file stays in staging as the intent record, which a repair needs. Only the lock on the
            // reserve is released.
            if let handle = reserve { container.lockFile.giveBack(handle) }
            reserve = nil
            throw error
        }
        // Moved before the entry is cleared: until then, a request that touches the item waits for the record, and
        // finds the presenters at their new paths.
        container.movePresenters(by: record)
        container.memberTable.clearInFlight(entry)
        if let state = record.state { container.writtenContents.note(state) }
        return (position, failure)
    }

    /// Brings a change that has its record to the disk, if it is to be durable. Error: `notDurable`, also for an earlier
    /// `failure`
    private func synchronize(
        _ step: Step, _ ends: borrowing StepEnds, _ position: LogPosition, _ failure: Errno?
    ) throws(CoordinationError) {
        var failure = failure
        if durability == .durable {
            // The disk writes the record while it writes the directories; the caller synchronizes the journal then.
            container.journal.log.beginSynchronizing(through: position)
            do throws(Errno) { try ends.synchronize(step) } catch { failure = failure ?? error }
            // Completes the synchronization that was begun: if writing the record fails, too, the log's segment is
            // marked and sealed.
            if failure != nil { try? container.journal.log.synchronize(through: position) }
        }
        if step.way == .intoStaging { access.sweepLater(name) }
        guard let failure else { return }
        throw CoordinationError(
            .notDurable, operation: step.operation, item: printable(step.location.bytes),
            reason: "\(failure); the change is visible, but may be lost after a power cut", remedy: .checkDisk,
            cause: failure)
    }

    /// Holds the containers inside a directory that is moved or removed: a directory moves only while no process has
    /// one of its containers open.
    private func holdContainers(in step: Step) throws(CoordinationError) -> ContainersInside? {
        guard step.status.isDirectory, step.recursively, [.intoStaging, .fromPlaceToPlace].contains(step.way) else {
            return nil
        }
        return try ContainersInside(step.origin ?? step.location, of: container, step.operation)
    }

    /// Returns the obstacle of a container that was created, and opened, since the directory was checked.
    private func obstacle(
        to step: Step, _ ends: StepEnds, _ inside: ContainersInside?
    ) -> ContainersInside.Obstacle? {
        do throws(ContainersInside.Obstacle) {
            try inside?.checkNoneCreated(ends.toName, in: ends.to)
            return nil
        } catch {
            return error.reason == .busy ? error : nil
        }
    }

    private func record(of step: Step) -> ChangeRecord {
        let state = step.way.isRemoval ? nil : ItemState(step.status, contentHash: step.contentHash)
        if !step.contents.isEmpty {
            let top = ChangePart(kind: step.kind, path: step.location.bytes, state: state)
            return ChangeRecord(
                transaction: [top] + step.contents, operation: operation,
                processIdentifier: container.memberTable.processIdentifier,
                purpose: purpose, time: wallNanoseconds())
        }
        var record = ChangeRecord(
            step.kind, path: step.location.bytes, from: step.origin?.bytes, state: state, isCoordinated: true,
            operation: operation, processIdentifier: container.memberTable.processIdentifier, purpose: purpose,
            time: wallNanoseconds())
        record.wasDirectory = step.way.isRemoval && step.status.isDirectory
        return record
    }

    private func prepare(
        _ step: Step, _ record: ChangeRecord, _ entry: Int, _ reserve: inout LockFile.Handle?
    ) throws(CoordinationError) -> StepEnds {
        do throws(Errno) {
            let ends = try StepEnds.open(step, staged: name, container)
            reserve = try writeIntentRecord(record, step, entry)
            return ends
        } catch {
            container.memberTable.clearInFlight(entry)
            discard(step)
            throw CoordinationError(error, operation: step.operation, item: printable(step.location.bytes))
        }
    }

    private func writeIntentRecord(_ record: ChangeRecord, _ step: Step, _ entry: Int) throws(Errno) -> LockFile.Handle?
    {
        let tail = container.journal.log.tail()
        let record = IntentRecord(
            way: step.way, inode: step.status.inode, journalSegment: tail.segment, journalOffset: UInt64(tail.offset),
            change: record)
        return try container.writeIntentRecord(record, entry: entry)
    }

    /// Deletes the new content in staging. Called only before the step was taken: until then staging contains what this
    /// change made.
    private func discard(_ step: Step) {
        if step.way == .intoPlace && step.elsewhere == nil { try? staging.removeTree(name) }
    }
}

/// The two directories of a change's step, open, and the names in them.
struct StepEnds {
    private let fromDirectory: OpenDirectory
    let fromName: [UInt8]
    private let toDirectory: OpenDirectory
    let toName: [UInt8]

    var from: FileDescriptor { _read { yield fromDirectory.descriptor } }
    var to: FileDescriptor { _read { yield toDirectory.descriptor } }

    static func open(
        _ step: StagedChange.Step, staged name: [UInt8], _ container: OpenContainer
    ) throws(Errno) -> StepEnds {
        let origin = step.origin ?? step.location
        let name = step.elsewhere?.name ?? name
        func end(_ item: ItemLocation?) throws(Errno) -> OpenDirectory {
            if item == nil, let elsewhere = step.elsewhere { return elsewhere.directory }
            return try directory(of: item, container)
        }
        return StepEnds(
            fromDirectory: try end(step.way == .intoPlace ? nil : origin),
            fromName: step.way == .intoPlace ? name : origin.name,
            toDirectory: try end(step.way.isRemoval ? nil : step.location),
            toName: step.way.isRemoval ? name : step.location.name)
    }

    /// Opens the parent directory of an item; staging for nil.
    private static func directory(of item: ItemLocation?, _ container: OpenContainer) throws(Errno) -> OpenDirectory {
        guard let item else { return container.directory.stagingDirectory }
        return try container.directory(at: item.parent)
    }

    /// Takes the step by one system call, all or nothing.
    func take(_ step: StagedChange.Step) throws(Errno) {
        switch step.way {
        case .intoPlace where step.elsewhere != nil && step.replacing:
            try from.exchange(fromName, with: toName, in: to)
        case .intoPlace, .fromPlaceToPlace: try rename(step, replacing: step.replacing)
        case .intoStaging: try remove(step)
        case .intoPrivateDirectory: try rename(step, replacing: false)
        case .inPlace: try from.setMode(of: fromName, step.status.permissions)
        }
    }

    /// Renames the item. Moving a directory to another parent requires write permission on the directory itself,
    /// because its `..` changes: its owner gets that permission for the moment of the rename. If this process is killed
    /// then, the owner keeps it.
    private func rename(_ step: StagedChange.Step, replacing: Bool) throws(Errno) {
        let isOpened = try Self.rename(step.status, fromName, in: from, to: toName, in: to, replacing: replacing)
        // In staging, it is going to be deleted.
        if isOpened && step.way != .intoStaging { try? to.setMode(of: toName, step.status.permissions) }
    }

    /// Returns whether the item has got its owner's write permission for it.
    private static func rename(
        _ status: FileStatus, _ name: [UInt8], in directory: borrowing FileDescriptor, to goal: [UInt8],
        in other: borrowing FileDescriptor, replacing: Bool
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            try directory.rename(name, to: goal, in: other, replacing: replacing)
            return false
        } catch {
            if error != .accessDenied || !isClosed(status) { throw error }
        }
        try directory.setMode(of: name, status.permissions | 0o200)
        do throws(Errno) {
            try directory.rename(name, to: goal, in: other, replacing: replacing)
        } catch {
            try? directory.setMode(of: name, status.permissions)
            throw error
        }
        return true
    }

    private static func isClosed(_ status: FileStatus) -> Bool {
        status.isDirectory && status.permissions & 0o200 == 0 && status.owner == effectiveUser()
    }

    private func remove(_ step: StagedChange.Step) throws(Errno) {
        try rename(step, replacing: false)
        if step.recursively || !step.status.isDirectory { return }
        // An external change may have added an item to the directory since it was checked. No path leads to the
        // directory in staging.
        let isEmpty = (try? FileDescriptor.open(toName, in: to, [.reading, .directory]).entryNames().isEmpty) ?? false
        if isEmpty { return }
        try restoreFromStaging(step.status)
        throw .notEmpty
    }

    /// Moves a directory in staging, which is not empty, back to its path; beside it if an external change has made
    /// another one there meanwhile that is not empty either.
    private func restoreFromStaging(_ status: FileStatus) throws(Errno) {
        do throws(Errno) {
            try undo(status, to: fromName, replacing: true)
        } catch {
            if ![.notEmpty, .exists, .notADirectory].contains(error) { throw error }
            let name = fromName.prefix(200) + [UInt8(ascii: ".")] + toName
            try undo(status, to: Array(name.prefix(255)), replacing: false)
        }
    }

    /// Undoes a step that moved an item; an item that the step replaced is not restored.
    func undo(_ step: StagedChange.Step) throws(Errno) { try undo(step.status, to: fromName, replacing: false) }

    /// Moves the item back, and gives a directory the mode that it had.
    private func undo(_ status: FileStatus, to name: [UInt8], replacing: Bool) throws(Errno) {
        _ = try Self.rename(status, toName, in: to, to: name, in: from, replacing: replacing)
        if Self.isClosed(status) { try? from.setMode(of: name, status.permissions) }
    }

    /// Synchronizes the changed directories: first the one that the item moved to, then the one that it left. Staging
    /// is not synchronized: what is in it after a power cut is deleted.
    func synchronize(_ step: StagedChange.Step) throws(Errno) {
        switch step.way {
        case .intoPlace:
            try to.synchronize()
            if step.elsewhere != nil { try from.synchronize() }
        case .intoStaging: try from.synchronize()
        case .intoPrivateDirectory:
            try to.synchronize()
            try from.synchronize()
        case .fromPlaceToPlace:
            try to.synchronize()
            if try to.status().inode != from.status().inode { try from.synchronize() }
        case .inPlace:
            // The item's new mode, or its type, may not permit opening it.
            let access: FileDescriptor.OpenMode = .readingItself
            do throws(Errno) {
                try SeparateTable.within(to) { to throws(Errno) in
                    try FileDescriptor.open(toName, in: to, access).synchronize()
                }
            } catch {
                try to.synchronizeFileSystem()
            }
        }
    }
}

/// Changes of items that are in the container already.
extension StagedChange {
    /// Removes an item, a directory with everything in it, by one rename into staging and one record. The item is
    /// deleted from staging afterwards. System calls: renameat2, fsync of the directory
    func remove(
        _ location: ItemLocation, _ status: FileStatus, recursively: Bool
    ) throws(CoordinationError) -> LogPosition {
        // The rest of the record's body takes at most 256 bytes.
        try translating(
            container.journal.log.ensureRoomForRemoval(bodyCount: location.bytes.count + purpose.count + 256))
        return try commit(
            Step(
                kind: .removed, way: .intoStaging, location: location, status: status, recursively: recursively,
                operation: "remove"))
    }

    /// Moves an item. System calls: renameat2, fsync of both directories
    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing old: FileStatus?,
        allowed: Bool
    ) throws(CoordinationError) -> LogPosition {
        try translating(container.journal.log.ensureRoom())
        return try commit(
            Step(
                kind: .moved, way: .fromPlaceToPlace, location: location, origin: origin, status: status,
                replacing: allowed, before: old, operation: "move"))
    }

    /// Sets an item's permissions. System calls: fchmodat2, fsync
    func setMode(
        _ mode: UInt32, of location: ItemLocation, _ status: FileStatus
    ) throws(CoordinationError) -> LogPosition {
        try translating(container.journal.log.ensureRoom())
        var changed = status
        changed.mode = status.mode & ~0o7777 | mode
        return try commit(
            Step(
                kind: .touched, way: .inPlace, location: location, status: changed, before: status,
                operation: "set the mode of"))
    }
}

/// Changes that keep the old item: it is moved to another directory, and not deleted.
extension StagedChange {
    /// Puts a new file or symbolic link at a path. With `old`, exchanges the two. System calls: renameat2, fsync of the
    /// directory
    func put(
        _ file: Elsewhere, _ status: FileStatus, at location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) -> LogPosition {
        try translating(container.journal.log.ensureRoom())
        return try commit(
            Step(
                kind: old == nil ? .created : .modified, way: .intoPlace, location: location, status: status,
                replacing: old != nil, before: old, elsewhere: file, operation: "write"))
    }

    /// Removes a file or symbolic link, which is at `goal` afterwards.
    func takeOut(
        _ location: ItemLocation, _ status: FileStatus, to goal: Elsewhere
    ) throws(CoordinationError) -> LogPosition {
        try translating(
            container.journal.log.ensureRoomForRemoval(bodyCount: location.bytes.count + purpose.count + 256))
        return try commit(
            Step(
                kind: .removed, way: .intoPrivateDirectory, location: location, status: status, elsewhere: goal,
                operation: "remove"))
    }
}

/// Changes whose content is built in staging and renamed to its path.
extension StagedChange {
    /// Replaces or creates a file. `old` is the status of the present file, whose attributes are kept, except the mode
    /// if `mode` is given. `hash` is that of the content, if it is known. System calls: those of `NewContent`,
    /// renameat2, fsync of the directory
    func write(
        _ content: NewContent, hash: UInt64?, to location: ItemLocation, replacing old: FileStatus?, mode: UInt32?,
        as kind: ChangeRecord.Kind
    ) throws(CoordinationError) -> LogPosition {
        var hash = hash
        let status = try stage(location, "write") { () throws(Errno) in
            let attributes = try FileAttributes(ofFileAt: location, replacing: old, in: container, mode: mode)
            return try content.make(name, in: staging, attributes, durability) {
                hash = hash ?? container.contentHash(of: content)
            }
        }
        return try commit(
            Step(
                kind: kind, way: .intoPlace, location: location, status: status, replacing: old != nil, before: old,
                contentHash: hash, operation: "write"))
    }

    /// Creates a file with another file's content and attributes. `old` is the status of the present file. System
    /// calls: ioctl(FICLONE) or copy_file_range, else read and write; the rest as for `write`
    func copy(
        _ source: ItemLocation, to location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) -> LogPosition {
        var hash: UInt64?
        let status = try stage(location, "copy") { () throws(Errno) in
            let made = try FileCopy.make(
                name, of: .item(source), in: container.directory, isDurable: durability == .durable,
                hashKey: container.hashKey)
            hash = made.contentHash
            return made.status
        }
        return try commit(
            Step(
                kind: old == nil ? .created : .modified, way: .intoPlace, location: location, status: status,
                replacing: old != nil, contentHash: hash, operation: "copy"))
    }

    /// Creates a copy of a directory with everything in it. `old` is the status of the present directory. System calls:
    /// those of `TreeCopy`; the rest as for `write`
    func copy(
        _ tree: TreeCopy, of source: ItemLocation, to location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) -> LogPosition {
        var tree = tree
        let status: FileStatus
        do throws(TreeCopy.Fault) {
            status = try makeTree(&tree, of: source)
        } catch {
            try? staging.removeTree(name)
            throw CoordinationError(error, in: source)
        }
        return try commit(
            Step(
                kind: old == nil ? .created : .modified, way: .intoPlace, location: location, status: status,
                replacing: old != nil, contents: tree.parts(at: location), operation: "copy"))
    }

    private func makeTree(_ tree: inout TreeCopy, of source: ItemLocation) throws(TreeCopy.Fault) -> FileStatus {
        try tree.make(
            name, of: source, in: container, isDurable: durability == .durable, hashKey: container.hashKey)
    }

    /// Creates a directory. The default access control list of its parent decides the mode; without one, the mode is
    /// that of `mkdir`, 0777 without the umask, or 2770 where a Unix group shares the container.
    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> LogPosition {
        let status = try stage(location, "create directory") { () throws(Errno) in
            let attributes = try FileAttributes(ofNewDirectoryAt: location, in: container)
            try staging.createDirectory(name, mode: attributes.creationMode)
            let made = try FileDescriptor.open(name, in: staging, [.reading, .directory])
            try attributes.apply(to: made)
            if durability == .durable { try made.synchronize() }
            return try made.status()
        }
        return try commit(
            Step(kind: .created, way: .intoPlace, location: location, status: status, operation: "create directory"))
    }

    /// Builds new content in staging; leaves nothing in staging if that fails.
    private func stage(
        _ location: ItemLocation, _ operation: String, _ build: () throws(Errno) -> FileStatus
    ) throws(CoordinationError) -> FileStatus {
        try translating(container.journal.log.ensureRoom())
        do throws(Errno) {
            return try build()
        } catch {
            try? staging.removeTree(name)
            throw CoordinationError(error, operation: operation, item: printable(location.bytes))
        }
    }
}

extension StagedChange.Step {
    /// The preconditions of a step. A write needs only the parent directory, which is quick to check: content that
    /// replaces other content does not depend on it.
    var preconditions: [Precondition] {
        var preconditions: [Precondition] = []
        if way == .intoPlace || way == .fromPlaceToPlace, let directory = location.parent {
            preconditions.append(.directory(directory))
        }
        switch way {
        case .intoPlace, .inPlace:
            if kind == .touched, let before {
                preconditions.append(.item(location, ItemState(before, contentHash: nil)))
            }
        case .fromPlaceToPlace:
            if let origin { preconditions.append(.item(origin, ItemState(status, contentHash: nil))) }
            preconditions.append(
                before.map { .presence(location, ItemState($0, contentHash: nil).type) } ?? .vacancy(location))
        case .intoStaging, .intoPrivateDirectory:
            preconditions.append(.presence(location, ItemState(status, contentHash: nil).type))
        }
        return preconditions
    }
}
