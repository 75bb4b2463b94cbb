import GroupSystemCalls

/// How much of the journal is kept. Who comes back with a cursor from before that gets a `rescan`.
public struct JournalRetention: Hashable, Sendable {
    /// In bytes: with more than that the oldest files are dropped. The newest one always stays. The journal's files are
    /// a sixteenth of it each, but at least 64 KiB and at most 4 MiB; a record, of a transaction with many items for
    /// instance, must fit into one.
    public var size: UInt64
    /// A file is dropped when its last change is longer ago than this, as soon as another file is made.
    public var age: Duration

    /// 64 MiB, for 400,000 changes or so, and 30 days.
    public static let standard = JournalRetention()

    /// Either of the two, or both.
    public init(size: UInt64 = 64 << 20, age: Duration = .seconds(30 * 24 * 3_600)) {
        (self.size, self.age) = (size, age)
    }

    /// What is known of a file of the journal.
    struct File: Equatable, Sendable {
        var number: UInt64
        /// What it takes on the disk, in bytes.
        var size: UInt64
        /// When the file after it was made, in nanoseconds since 1970; nil for the newest.
        var ended: Int64?
    }

    /// Which of the files, given from the oldest on, may go now.
    func dropped(of files: [File], now: Int64) -> [UInt64] {
        var rest = files.reduce(0) { $0 + $1.size }
        var dropped: [UInt64] = []
        for file in files.dropLast() {
            // A clock that jumps makes them stay longer, or go earlier; never the newest.
            let isOld = file.ended.map { Duration.nanoseconds(now - max(0, min($0, now))) > age } ?? false
            if rest <= size && !isOld { break }
            rest -= file.size
            dropped.append(file.number)
        }
        return dropped
    }

    /// How large a file is made: whole pages.
    var fileSize: Int { Int(min(max(size / 16, 64 << 10), 4 << 20) / 4_096 * 4_096) }
}

/// Keeping the journal short: a checkpoint now and then, then the oldest files go.
///
/// One at a time, by a lock that nobody waits for: one that is stopped or killed in the middle of it stops nobody, the
/// files only stay longer. Not before the change that needed a new file is acknowledged.
extension Member {
    /// A checkpoint is due when so many changes lie behind the last one, or as many as there are items; so what it
    /// costs is little beside what the changes did. Or when files are to be dropped that it does not cover.
    static let checkpointInterval: UInt64 = 20_000

    /// After a change, without its lock: if a file of the journal was made by it, what is due is done. What fails is
    /// tried again with the next file.
    func tendJournal() {
        let isAsked = journal.log.hasMadeFile.withLock { hasMadeFile in
            defer { hasMadeFile = false }
            return hasMadeFile
        }
        if !isAsked || isReadOnly { return }
        _ = try? keepJournal { () throws(CoordinationError) in
            let last = journal.checkpointed.withLock { $0?.file } ?? 0
            if last >= journal.log.tail().file { return nil }
            var tree = try JournalView(journal)
            try tree.catchUp(journal)
            return tree
        }
    }

    /// Makes a checkpoint of what its caller has read, if one is due, and drops what need not be kept any longer. A few
    /// loads where nothing is due. True if it made one. Not of a tree that is only for looking up. Errors: those of
    /// writing; then nothing was dropped, and the old checkpoint stands.
    @discardableResult
    func keepCheckpoint(_ tree: JournalView) throws(CoordinationError) -> Bool {
        if isReadOnly || tree.isForLookingUp || !isCheckpointDue(for: tree) { return false }
        return try keepJournal { tree }
    }

    private func isCheckpointDue(for tree: JournalView) -> Bool {
        // None is as good as one of the beginning.
        let last = journal.checkpointed.withLock { $0.map { ($0.file, $0.sequence) } ?? (1, 0) }
        let place = tree.position
        if place.sequence >= last.1 &+ max(Self.checkpointInterval, UInt64(tree.treeIndex.items.count)) { return true }
        // Once a file: what may go is found by reading each file's first page.
        let isNew = journal.weighed.withLock { weighed in
            defer { weighed = place.file }
            return weighed != place.file
        }
        if place.file <= last.0 || !isNew { return false }
        guard let files = try? journal.log.keptFiles() else { return false }
        return format.retention.dropped(of: files, now: wallNanoseconds()).contains { $0 >= last.0 && $0 < place.file }
    }

    private func keepJournal(
        _ read: () throws(CoordinationError) -> JournalView?
    ) throws(CoordinationError) -> Bool {
        do {
            return try tryToKeepJournal(read)
        } catch {
            diagnostics.tell(
                .checkpointFailed, item: error.item,
                "no checkpoint was made, and the journal stays longer: \(error.cause)")
            throw error
        }
    }

    private func tryToKeepJournal(
        _ read: () throws(CoordinationError) -> JournalView?
    ) throws(CoordinationError) -> Bool {
        let handle = try lockFile.borrow()
        defer { lockFile.giveBack(handle) }
        let byte = ByteRange(start: LockRange.keeping, length: 1)
        let isFree = try translating(".group/lock", "lock") { () throws(Errno) in
            try handle.descriptor.tryLock(.exclusive, byte)
        }
        if !isFree { return false }
        // Another member may have made one meanwhile. One that is damaged is replaced; one of a newer version is not.
        do {
            let last = try journal.checkpoint.open()?.header.position
            journal.checkpointed.withLock { $0 = last }
        } catch {
            if error.code != .damaged { throw error }
            journal.checkpointed.withLock { $0 = nil }
        }
        guard let tree = try read(), tree.position.sequence > journal.checkpointed.withLock({ $0?.sequence ?? 0 })
        else {
            return false
        }
        try writeCheckpoint(tree)
        dropFiles()
        return true
    }

    /// On the disk when it returns, and so is the journal that it is about. Only with the lock.
    func writeCheckpoint(_ tree: JournalView) throws(CoordinationError) {
        // Not in a file that ends there: that one may go.
        guard let place = try journal.log.advance(tree.position)?.place,
            let file = try journal.log.file(place.file)
        else { return }
        try journal.log.synchronize(through: place)
        let header = journal.checkpoint.header(
            at: place, fileSalt: file.header.salt, newestTerm: tree.newestTerm)
        try journal.checkpoint.replace(by: tree.treeIndex, header)
        journal.checkpointed.withLock { $0 = place }
        diagnostics.tell(
            .checkpointWritten, item: CheckpointFile.label,
            "\(tree.treeIndex.items.count) items, as of change \(place.sequence)")
    }

    /// As far as the checkpoint has what they say, and nobody who repairs a change has to look through them. The oldest
    /// first, each gone from the disk before the next: there is never a gap.
    private func dropFiles() {
        guard let checkpointed = journal.checkpointed.withLock({ $0 }), let files = try? journal.log.keptFiles() else {
            return
        }
        let limit = min(checkpointed.file, oldestFileToBeLookedThrough() ?? .max)
        var dropped: [UInt64] = []
        for number in format.retention.dropped(of: files, now: wallNanoseconds()) where number < limit {
            guard journal.log.drop(number) else { break }
            dropped.append(number)
        }
        if let oldest = dropped.last {
            diagnostics.tell(
                .journalFilesDropped, item: journal.log.name, count: dropped.count,
                "files up to \(oldest).log went; who comes back to a place in them compares everything")
        }
    }

    /// Where repairs of changes under way would begin to look for their records.
    private func oldestFileToBeLookedThrough() -> UInt64? {
        for slot in memberTable.slotsWithPending() where slot != memberTable.slot && !memberTable.isAlive(slot) {
            try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
        }
        let pending = memberTable.slotsWithPending().flatMap { memberTable.pending(of: $0) }
        let notes = Set(
            pending.compactMap { change in
                memberTable.member(at: change.slot).map { IntentFiles.name(nonce: $0.nonce, entry: change.entry) }
            })
        var files: [UInt64] = []
        for name in (try? directory.staging.entryNames()) ?? [] {
            let isManifest = name.count > 32 && name.dropFirst(32).elementsEqual(TransactionChanges.manifestSuffix)
            guard isManifest || notes.contains(name),
                let file = try? FileDescriptor.open(name, in: directory.staging, [.reading, .nonBlocking])
            else { continue }
            var start = [UInt8](repeating: 0, count: 64)
            guard (try? file.read(into: &start)) ?? 0 >= 32 else { continue }
            let number =
                isManifest
                ? TransactionManifest.journalFile(ofManifest: start) : IntentRecord.journalFile(ofNote: start)
            if let number { files.append(number) }
        }
        return files.min()
    }
}

extension SegmentedLog {
    /// Those that are kept, the oldest first. Reads their first pages.
    func keptFiles() throws(CoordinationError) -> [JournalRetention.File] {
        var files: [JournalRetention.File] = []
        for number in try fileNumbers() {
            guard let (header, allocated) = try header(of: number) else { continue }
            if !files.isEmpty { files[files.count - 1].ended = header.created }
            // What lies behind the end of one that was recovered was given back.
            files.append(JournalRetention.File(number: number, size: min(header.capacity, allocated), ended: nil))
        }
        return files
    }

    private func header(
        of number: UInt64
    ) throws(CoordinationError) -> (SegmentHeader, allocated: UInt64)? {
        guard let descriptor = try open(number) else { return nil }
        var page = [UInt8](repeating: 0, count: SegmentHeader.size)
        let (count, allocated) = try translating("\(name)/\(number).log", "read") { () throws(Errno) in
            (try descriptor.read(into: &page), try descriptor.status().allocated)
        }
        do {
            return (try SegmentHeader(decoding: Array(page[..<count])), allocated)
        } catch {
            throw .damaged("\(name)/\(number).log", operation: "read", "its first page is not a log's")
        }
    }

    /// Removes a file; a process that has it mapped reads it still. False where that could not be done.
    func drop(_ number: UInt64) -> Bool {
        do throws(Errno) {
            try directory.unlink(Array("\(number).log".utf8))
            // A compacted one may come back after a power cut, and is nobody's.
            if surroundings.carrying == nil { try directory.synchronize() }
        } catch {
            return error == .noSuchEntry
        }
        forget(number)
        return true
    }
}
