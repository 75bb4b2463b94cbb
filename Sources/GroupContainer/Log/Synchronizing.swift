import GroupSystemCalls

/// Synchronization to the disk. A failure is final for its segment: the kernel forgets which pages it could not write,
/// so a second sync of the same pages would wrongly succeed. The segment is poisoned for all members and sealed, and
/// the log goes on in the next one, once the content of the poisoned one was written again.
extension SegmentedLog {
    /// Returns when everything before a position is on the disk. Errors: `notDurable`. System calls: fdatasync(2); of a
    /// compacted log's new segment also fsync(2) of the directory
    func synchronize(through position: LogPosition) throws(CoordinationError) {
        let slot = try writerSlot("synchronize")
        guard let file = try file(position.file) else {
            // The records of a dropped segment are in one that was on the disk before it got its name.
            return try translating(name, "synchronize") { () throws(Errno) in try secureName(of: nil) }
        }
        if file.isDurable(through: position.offset) { return }
        do throws(Errno) {
            if file.isPoisoned { throw Errno.inputOutput }
            try file.descriptor.synchronizeData()
            try secureName(of: file)
        } catch {
            file.poison()
            surroundings.diagnostics.tell(.journalNotDurable, item: file.name, "the disk refused to keep it: \(error)")
            // Others append meanwhile; each of them moves the end on, so this loop ends.
            while let end = try? file.findEnd(), !end.isSealed, !seal(file, at: end.offset, by: slot) {}
            throw CoordinationError(
                .notDurable, item: file.name, operation: "synchronize", cause: error.description,
                advice: "the change is visible, but may be gone after a power cut; check the disk")
        }
        file.noteDurable(through: position.offset)
    }

    /// Syncs the name of a compacted log's segment, which may be new and not synced yet. A segment that was durable in
    /// part before has a durable name.
    private func secureName(of file: Segment?) throws(Errno) {
        if surroundings.carrying == nil { return }
        if let file, file.isDurable(through: file.firstAppended + 8) { return }
        try directory.synchronize()
    }

    /// Does the same for a sealed segment, before its successor is created; also for a poisoned one. Throws if the disk
    /// still refuses: then there is no successor, and nothing can be appended.
    func secure(_ file: Segment, through end: LogPosition) throws(CoordinationError) {
        if file.isDurable(through: end.offset) { return }
        // The kernel reports a failure that others have met once to each open file; a second failure concerns this
        // member's pages.
        for isLast in [false, true] {
            do throws(Errno) {
                let isPoisoned = file.isPoisoned
                if isPoisoned { file.dirtyPages(before: end.offset) }
                try file.descriptor.synchronizeData()
                try secureName(of: file)
                if isPoisoned {
                    surroundings.diagnostics.tell(
                        .journalRenewed, item: file.name, "what the disk had refused was written again, and kept")
                }
                break
            } catch {
                file.poison()
                if isLast { throw CoordinationError(error, item: file.name, operation: "synchronize") }
            }
        }
        file.noteDurable(through: end.offset)
    }
}

extension Segment {
    var isPoisoned: Bool { map.load64(SegmentHeader.poisoned) != 0 }

    fileprivate func poison() { writableMap?.store64(SegmentHeader.poisoned, 1) }

    func isDurable(through offset: Int) -> Bool { map.load64(SegmentHeader.durableMark) >= UInt64(offset) }

    fileprivate func noteDurable(through offset: Int) {
        while true {
            let mark = map.load64(SegmentHeader.durableMark)
            if mark >= UInt64(offset) { return }
            if writableMap?.exchange64(SegmentHeader.durableMark, mark, UInt64(offset)) ?? true { return }
        }
    }

    /// Has the kernel write every page again: a word of each page is replaced by itself, so no concurrent change is
    /// lost.
    fileprivate func dirtyPages(before limit: Int) {
        for page in stride(from: 0, to: limit, by: 4_096) {
            while true {
                let word = map.load64(page)
                if writableMap?.exchange64(page, word, word) ?? true { break }
            }
        }
    }
}

/// A common `fdatasync` for all callers that wait for the disk: the first caller syncs everything that is written by
/// then, and the other callers wait for it. A caller whose syncer takes too long, or was stopped, syncs by itself.
extension SegmentedLog {
    private static let patience: Int64 = 50_000_000

    /// Returns when everything before a position is on the disk. `word` is the wake word of the waiters in the member
    /// table. System calls: fdatasync(2), or futex(FUTEX_WAIT)
    func synchronize(
        through position: LogPosition, togetherBy word: Int, _ memberTable: MemberTable
    ) throws(CoordinationError) {
        guard let file = try file(position.file), let map = file.writableMap else {
            return try synchronize(through: position)
        }
        let slot = try writerSlot("synchronize")
        while !file.isDurable(through: position.offset) {
            let syncer = map.load64(SegmentHeader.syncer)
            let now = UInt64(bitPattern: monotonicNanoseconds())
            let own = (now & 0xffff_ffff_ffff) << 16 | UInt64(slot + 1)
            if syncer != 0 {
                let age = Int64(((own >> 16) &- (syncer >> 16)) & 0xffff_ffff_ffff)
                if age >= Self.patience { return try synchronize(through: position) }
                memberTable.awaitWake(on: word, atMost: Self.patience - age) {
                    file.isDurable(through: position.offset) || map.load64(SegmentHeader.syncer) != syncer
                }
                continue
            }
            guard map.exchange64(SegmentHeader.syncer, 0, own) else { continue }
            defer {
                _ = map.exchange64(SegmentHeader.syncer, own, 0)
                memberTable.wake(word)
            }
            // Records that others have begun by now are included.
            let end = try settle(file, upTo: .max)
            try synchronize(through: end.offset > position.offset ? end : position)
        }
    }
}
