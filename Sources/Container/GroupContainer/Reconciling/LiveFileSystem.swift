import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The member that made changes which are found by comparison.
struct ChangeAuthor {
    var purpose: [UInt8]
    /// Returns the identifier of another operation, one for each record.
    var operation: () -> [UInt8]
}

/// The container as the reconciler sees it: its directories on the disk, its journal, its locks and in-flight
/// operations. Used on one thread.
///
/// Directories stay open during a round (one pass over the worklist), or until records of other processes are read, so
/// that a directory's path is walked once for all items in it. If a directory is moved meanwhile without coordination,
/// the event of that move comes after the events of its contents, so no change is missed.
final class LiveFileSystem {
    let container: OpenContainer
    private(set) var tree: JournalView
    private let term: UInt64
    /// The lock under which the caller reconciles; nil without one, as in the leader. For locations that the lock
    /// covers, other processes' locks and in-flight operations are not checked.
    private let lock: HeldLock?
    /// The member that made the changes which are found; nil for external ones.
    private let author: ChangeAuthor?
    /// The sequence numbers of the records that were appended; nil: none.
    private(set) var appended: ClosedRange<UInt64>?
    /// The handle on the lock file through which locks are queried; no lock is set through it.
    private var handle: LockFile.Handle?
    private var directories: [ItemLocation?: OpenDirectory] = [:]
    /// The number of directories that are kept open.
    var openDirectories = 64
    private var lastDirectory: (location: ItemLocation?, directory: OpenDirectory)?
    /// Whether no process held a lock for writing at the first check in this round; nil before that check.
    private var isUnlocked: Bool?
    /// The beginning of the round, by the wall clock, because it is compared with dates of files.
    private var roundBegan = wallNanoseconds()

    /// Whether followers are woken once for several records, by the caller of `takeAppended`. If the leader is killed
    /// before it wakes them, the next leader does, when it begins.
    var wakesReadersLater = false
    /// Whether records were appended for which followers have to be woken.
    private(set) var hasAppended = false
    /// Databases in which a transaction was being written when their state was last read.
    private var writtenDatabases: Set<ItemLocation> = []
    /// When the last commit of each database was recorded. The leader records one at most every 20 ms: readers then
    /// read all that was committed, so a burst of commits need not have a record each.
    private var recordedDatabases: [ItemLocation: Int64] = [:]
    private static let databaseInterval: Int64 = 20_000_000
    /// The slot of the member whose in-flight operation was last found by `isBusy`.
    private(set) var busySlot: Int?

    /// The inotify queue; nil where directories are only compared.
    var queue: InotifyQueue?
    /// Directories that could not be watched, or not even listed.
    var watchGaps = WatchGaps()
    private var hasNotedTerm = false

    init(
        _ container: OpenContainer, _ tree: JournalView, term: UInt64, under lock: HeldLock?,
        by author: ChangeAuthor? = nil
    ) {
        self.container = container
        self.tree = tree
        self.term = term
        self.lock = lock
        self.author = author
    }

    deinit { if let handle { container.lockFile.giveBackUnlocked(handle) } }

    /// Reads the journal up to its end. Takes time in proportion to the number of items.
    func load() throws(CoordinationError) {
        tree = try JournalView(container.journal)
        try tree.catchUp(container.journal)
        noteTermBeyondTable()
    }

    /// The latest term according to the member table. No record has a later one: a leader takes its term in the table
    /// before it appends the record.
    private var termOfTable: UInt64 { container.memberTable.map.load64(MemberTableLayout.term) }

    /// Reports a record whose term is later than the member table's. No leader wrote it, and it supersedes no leader.
    private func noteTermBeyondTable() {
        if tree.newestTerm <= term || hasNotedTerm || tree.newestTerm <= termOfTable { return }
        hasNotedTerm = true
        container.diagnostics.report(
            .damageMet, item: container.journal.log.name,
            "a record has the leader's term \(tree.newestTerm), and there were \(termOfTable): it does not count")
    }

    func beginRound() {
        directories = [:]
        lastDirectory = nil
        isUnlocked = nil
        roundBegan = wallNanoseconds()
    }

    /// Closes the directories, which would keep a file system from being unmounted.
    func endRound() { (directories, lastDirectory) = ([:], nil) }

    /// Returns the open directory that an item is in.
    private func directory(of location: ItemLocation) throws(Errno) -> OpenDirectory {
        if let lastDirectory, location.isEntry(of: lastDirectory.location) { return lastDirectory.directory }
        let parent = location.parent
        let directory = try open(parent)
        lastDirectory = (parent, directory)
        return directory
    }

    private func open(_ directory: ItemLocation?) throws(Errno) -> OpenDirectory {
        if let open = directories[directory] { return open }
        let open: OpenDirectory
        do throws(Errno) {
            open = try container.directory(at: directory)
        } catch {
            if error != .tooManyFiles || directories.isEmpty { throw error }
            // Those that are open for the next items have taken the descriptors.
            endRound()
            open = try container.directory(at: directory)
        }
        if directories.count >= openDirectories { directories = [:] }
        directories[directory] = open
        return open
    }

    /// The errors that mean that a directory on the path is missing, or is now a symbolic link or a file. The container
    /// has no item at such a path.
    private static let nothingThere: [Errno] = [.noSuchEntry, .notADirectory, .tooManyLinks]

    /// Reads a file's content for its hash, and keeps the hash only if the file has not changed meanwhile.
    func learnHash(of location: ItemLocation) throws(CoordinationError) {
        guard let known = tree.treeIndex[location], known.type == .file, known.contentHash == nil,
            known.size <= ItemState.largestHashed, try looks(like: known, location)
        else { return }
        let read: ContentHash?
        do { read = try contentHash(of: location, inode: known.inode) } catch { return }
        guard let read, read.size == known.size, try looks(like: known, location) else { return }
        tree.learn(hash: read.hash, of: location, seen: known)
    }

    private func looks(like known: ItemState, _ location: ItemLocation) throws(CoordinationError) -> Bool {
        guard let found = try state(at: location) else { return false }
        return known.looksLike(found) && !isFresh(found)
    }

    /// Returns whether a record was appended since the last call.
    func takeAppended() -> Bool {
        defer { hasAppended = false }
        return hasAppended
    }
}

extension LiveFileSystem: WatchedFileSystem {
    var treeIndex: TreeIndex { tree.treeIndex }
    var isSuperseded: Bool { tree.newestTerm > term && termOfTable > term }

    @discardableResult
    func catchUp() throws(CoordinationError) -> Bool {
        let before = tree.position
        try tree.catchUp(container.journal)
        if tree.position == before { return false }
        noteTermBeyondTable()
        // An open directory may have been removed, and another one made in its place: items must no longer be looked up
        // in the old one.
        (directories, lastDirectory) = ([:], nil)
        return true
    }

    func append(_ record: ChangeRecord) throws(CoordinationError) -> Bool {
        let isAppended = try tree.append(record, to: container.journal, wakesReaders: !wakesReadersLater)
        if !isAppended { return false }
        hasAppended = true
        if lock == nil, container.mayHaveDatabases, record.kind == .modified,
            let location = try? ItemLocation(record.path), container.isDatabase(location)
        {
            recordedDatabases[location] = monotonicNanoseconds()
        }
        if author != nil { container.movePresenters(by: record) }
        let number = tree.position.sequence
        appended = (appended?.lowerBound ?? number)...number
        return true
    }

    func state(at location: ItemLocation) throws(CoordinationError) -> ItemState? {
        if database(of: location) != nil { return nil }
        do throws(Errno) {
            let directory = try directory(of: location)
            guard let status = try directory.descriptor.statusIfPresent(of: location.name) else { return nil }
            let state = try state(status, at: location, in: directory)
            if !watchGaps.isEmpty && state.type != .directory { watchGaps.close(location) }
            return state
        } catch {
            if Self.nothingThere.contains(error) { return nil }
            return unknownState(of: location, error)
        }
    }

    /// Notes an item that cannot be looked at, or the directory around it, as a gap. Returns the journal's state of the
    /// item, since the item may still be there; nil below a directory that this process may not enter.
    private func unknownState(of location: ItemLocation, _ error: Errno) -> ItemState? {
        let above = location.ancestors.first { ancestor in
            do throws(Errno) {
                _ = try container.directory(at: ancestor)
                return false
            } catch let other {
                return other == error
            }
        }
        // An item in a directory that may be listed, and not be entered.
        let gap = above ?? (error == .accessDenied ? location.parent : location)
        watchGaps.note(gap, WatchGaps.Reason(error))
        return error == .accessDenied ? nil : tree.treeIndex[location]
    }

    func awaitRenames(from location: ItemLocation) {
        try? container.directory(at: location.parent).descriptor.awaitRenames()
    }

    /// Closes the gaps at locations where there is no item any more; a gap that a limit of watches made, only with
    /// `limits`.
    func closeGapsWithoutItems(limits: Bool) {
        for location in watchGaps.locations(limits: limits) where tree.treeIndex[location] == nil {
            do throws(Errno) {
                if try container.directory(at: location.parent).descriptor.statusIfPresent(of: location.name) != nil {
                    continue
                }
            } catch {
                if !Self.nothingThere.contains(error) { continue }
            }
            watchGaps.noteOtherLocation(nil, of: location)
            watchGaps.close(location)
        }
    }

    /// Returns the state of an item, which for a database includes its last commit.
    private func state(
        _ status: FileStatus, at location: ItemLocation, in directory: OpenDirectory
    ) throws(Errno) -> ItemState {
        let state = ItemState(status, contentHash: nil)
        guard container.mayHaveDatabases,
            let database = try container.databaseState(state, at: location, in: directory.descriptor)
        else { return state }
        if database.isBusy { writtenDatabases.insert(location) } else { writtenDatabases.remove(location) }
        return database.state
    }

    func database(of location: ItemLocation) -> ItemLocation? { container.database(of: location) }

    func isBeingWritten(_ location: ItemLocation) -> Bool {
        !writtenDatabases.isEmpty && writtenDatabases.contains(location)
    }

    func contentHash(of location: ItemLocation, inode: UInt64) throws(CoordinationError) -> ContentHash? {
        // A commit does not change the file, and the file may be large.
        if container.isDatabase(location) { return nil }
        do throws(CoordinationError) {
            let file = try container.contentHash(at: location, operation: "watch")
            if file.inode == inode { return file.content }
            throw CoordinationError(Errno.noSuchEntry, operation: "watch", item: printable(location.bytes))
        } catch {
            if error.code == .notFound { throw error }
            // This process is not permitted to read the file: the change is recorded nevertheless, without a hash.
            return nil
        }
    }

    /// The margin is needed because many file systems take their dates from the kernel's clock tick: two changes within
    /// one tick have the same date.
    func isFresh(_ state: ItemState) -> Bool { state.changed > roundBegan - 50_000_000 }

    func isBusy(_ locations: [ItemLocation], in directories: [ItemLocation]) throws(CoordinationError) -> Bool {
        if locations.contains(where: isBeingWritten) || locations.contains(where: wasJustRecorded) { return true }
        let uncovered = locations.filter { !(lock?.covers($0, for: .shared) ?? false) }
        if uncovered.isEmpty && directories.isEmpty { return false }
        // A writer that got its lock after the first check of this round is found below by its announced operation, or
        // causes another event later. With a lock and without an author, other locks are not checked: the uncovered
        // locations are directories, which no process writes in place. With an author, locks are checked, because the
        // author may have changed uncovered locations.
        if lock == nil || author != nil, try !hasNoLockHolder() {
            for location in uncovered {
                // A writer holds the whole range; a waiter, which holds only the turnstile, does not hold this byte.
                let byte = LockRange(location, key: container.hashKey).sharedByte
                if try isHeld(ByteRange(start: byte, length: 1)) { return true }
            }
        }
        // The member table has to be read after the disk, which the caller read before this call.
        SharedMap.fence()
        if !container.memberTable.hasInFlight { return false }
        let rangeStarts = uncovered.map { LockRange($0, key: container.hashKey).start }
        let subtrees = directories.map { LockRange($0, key: container.hashKey).subtree }
        var isUnfinished = false
        for slot in container.memberTable.slotsWithInFlight() {
            for change in container.memberTable.inFlight(of: slot) {
                let start = Int64(bitPattern: change.rangeStart)
                let isOfOne = change.rangeStart == MemberTable.everyItem || rangeStarts.contains(start)
                let isInside = subtrees.contains { $0.contains(LockRange(start: start, length: 1)) }
                if !isOfOne && !isInside { continue }
                if container.memberTable.isAlive(slot) {
                    busySlot = slot
                    return true
                }
                // An operation that a dead member left within one of `directories` is not repaired here: its record is
                // made by the process that locks its item next.
                if isOfOne { isUnfinished = true }
            }
        }
        return isUnfinished ? try !repairDeadMembers(uncovered) : false
    }

    private func wasJustRecorded(_ location: ItemLocation) -> Bool {
        guard !recordedDatabases.isEmpty, let last = recordedDatabases[location] else { return false }
        return monotonicNanoseconds() - last < Self.databaseInterval
    }

    /// Finishes the operations that a dead member left unfinished on the items, by taking and releasing their locks.
    /// Returns false if another process holds one of the locks. If the repair appends a record, this reconciler's next
    /// append fails, and the reconciler compares the item again.
    private func repairDeadMembers(_ locations: [ItemLocation]) throws(CoordinationError) -> Bool {
        do {
            try ItemLocks(
                Few(locations.map { .init($0.bytes, .shared) }), of: container, for: Array("leader".utf8),
                operation: "watch"
            ).acquireBlocking(until: Deadline(after: .zero)).end()
            return true
        } catch {
            if error.code != .lockTimedOut && error.code != .deadlock { throw error }
            return false
        }
    }

    private func hasNoLockHolder() throws(CoordinationError) -> Bool {
        if let isUnlocked { return isUnlocked }
        let answer = try !isHeld(
            ByteRange(start: LockRange.all.first, length: LockRange.all.last - LockRange.all.first))
        isUnlocked = answer
        return answer
    }

    /// Returns whether a write lock in the range is set through another open file description, in this process or
    /// another. System calls: fcntl(F_OFD_GETLK)
    private func isHeld(_ range: ByteRange) throws(CoordinationError) -> Bool {
        let handle = try lockHandle()
        return try translating("watch", item: ".group/lock") { () throws(Errno) in
            try handle.descriptor.conflict(with: .shared, range) != nil
        }
    }

    private func lockHandle() throws(CoordinationError) -> LockFile.Handle {
        if let handle { return handle }
        let new = try locking("open") { () throws(LockFileFailure) in try container.lockFile.borrow() }
        handle = new
        return new
    }

    func list(_ directory: ItemLocation?) throws(CoordinationError) -> DirectoryListing? {
        do throws(Errno) {
            let open = try open(directory)
            let watch = try watch(open.descriptor, directory)
            var listing = DirectoryListing(watch: watch, inode: try open.descriptor.status().inode, entries: [])
            let entries = try open.descriptor.entries()
            if directory != nil {
                listing.isContainer = isContainer(open.descriptor, entries)
                if !listing.isContainer, let queue, entries.contains(where: { $0.name == ContainerMark.present }),
                    let mark = try? FileDescriptor.open(
                        ContainerMark.present, in: open.descriptor, [.reading, .directory])
                {
                    listing.markWatch = try? queue.watch(mark)
                    // It may have become a container before it was watched.
                    listing.isContainer = isContainer(open.descriptor, entries)
                }
            }
            for (name, _) in entries where !listing.isContainer && !ContainerMark.isOne(name) {
                guard let location = ItemLocation.entry(name, of: directory) else { continue }
                let status: FileStatus?
                do throws(Errno) {
                    status = try open.descriptor.statusIfPresent(of: name)
                } catch {
                    // The directory's permissions concern all of its entries.
                    if error == .accessDenied { throw error }
                    listing.entries.append((name, unknownState(of: location, error)))
                    continue
                }
                guard let status else {
                    listing.entries.append((name, nil))
                    continue
                }
                if database(of: location) != nil { continue }
                listing.entries.append((name, try state(status, at: location, in: open)))
            }
            if watch != nil || queue == nil { watchGaps.close(directory) }
            return listing
        } catch {
            if Self.nothingThere.contains(error) {
                watchGaps.close(directory)
            } else {
                watchGaps.note(directory, WatchGaps.Reason(error))
            }
            return nil
        }
    }

    /// Watches a directory and returns the directories in it, without reading anything else; nil if there is no
    /// directory or it cannot be watched.
    func watchOnly(
        _ directory: ItemLocation?
    ) -> (watch: Int32, inode: UInt64, isContainer: Bool, directories: [ItemLocation])? {
        do throws(Errno) {
            let open = try container.directory(at: directory)
            guard let watch = try watch(open.descriptor, directory) else { return nil }
            var directories: [ItemLocation] = []
            let entries = try open.descriptor.entries()
            let isContainer = directory != nil && isContainer(open.descriptor, entries)
            for (name, kind) in entries where !isContainer {
                var isDirectory = kind == .directory
                if kind == .unknown {
                    isDirectory = try open.descriptor.statusIfPresent(of: name)?.isDirectory ?? false
                }
                if isDirectory, let location = ItemLocation.entry(name, of: directory) { directories.append(location) }
            }
            return (watch, try open.descriptor.status().inode, isContainer, directories)
        } catch {
            return nil
        }
    }

    private func isContainer(
        _ directory: borrowing FileDescriptor, _ entries: [(name: [UInt8], kind: FileDescriptor.EntryKind)]
    ) -> Bool {
        entries.contains { $0.kind != .other && ContainerMark.isOne($0.name) } && ContainerMark.isIn(directory)
    }

    private func watch(_ open: borrowing FileDescriptor, _ directory: ItemLocation?) throws(Errno) -> Int32? {
        guard let queue else { return nil }
        do throws(Errno) {
            return try queue.watch(open)
        } catch {
            // The directory is still listed, now and periodically.
            watchGaps.note(directory, WatchGaps.Reason(error))
            return nil
        }
    }

    func unwatch(_ watch: Int32) { queue?.unwatch(watch) }

    func noteOtherLocation(_ other: ShownLocation?, of directory: ItemLocation?) {
        if other != nil || !watchGaps.isEmpty { watchGaps.noteOtherLocation(other, of: directory) }
    }

    func hasGap(in directory: ItemLocation) -> Bool { !watchGaps.isEmpty && watchGaps.concerns(directory) }

    /// With an author, an item counts as moved only from a location that the lock covers exclusively. An item from
    /// elsewhere counts as a file that the author made there, such as a temporary file.
    func mayComeFrom(_ origin: ItemLocation) -> Bool {
        author == nil || lock?.covers(origin, for: .exclusive) == true
    }

    func record(
        _ kind: ChangeRecord.Kind, _ location: ItemLocation, _ state: ItemState?, from: ItemLocation?,
        other: ItemState?
    ) -> ChangeRecord {
        var record = ChangeRecord(
            kind, path: location.bytes, from: from?.bytes, state: state, isCoordinated: author != nil,
            operation: author?.operation() ?? ChangeRecord.noOperation,
            processIdentifier: author == nil ? 0 : GroupSystemCalls.processIdentifier(),
            purpose: author?.purpose ?? [], time: wallNanoseconds())
        record.otherState = other
        return record
    }
}
