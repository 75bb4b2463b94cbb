import GroupSystemCalls

/// Synchronization to the disk. A failure is final for its segment: the kernel forgets which pages it could not write,
/// so a second sync of the same pages would wrongly succeed. The segment is sealed, and its header marks the failed
/// sync for all processes. The log goes on in the next segment, once the content of this one was written again.
extension SegmentedLog {
    /// Returns when everything before a position is on the disk. Errors: `notDurable`. System calls: fdatasync(2); of a
    /// compacted log's new segment also fsync(2) of the directory
    package func synchronize(through position: LogPosition) throws(LogFailure) {
        let writer = try requireWriter("synchronize")
        guard let segment = try segment(position.segment) else {
            // The records of a dropped segment are in one that was on the disk before it got its name.
            return try translating("synchronize", file: name) { () throws(Errno) in try secureName(of: nil) }
        }
        if segment.isDurable(through: position.offset) { return }
        do throws(Errno) {
            if segment.hasFailedSync { throw Errno.inputOutput }
            try segment.descriptor.synchronizeData()
            try secureName(of: segment)
        } catch {
            segment.markSyncFailed()
            configuration.report(.notDurable(file: segment.name, error))
            // Others append meanwhile; each of them moves the end on, so this loop ends.
            while let end = try? segment.findEnd(), !end.isSealed, !seal(segment, at: end.offset, by: writer) {}
            throw LogFailure(.notDurable(error), file: segment.name, operation: "synchronize")
        }
        segment.noteDurable(through: position.offset)
    }

    /// Has the kernel begin to write what is before a position, so that `synchronize` waits less. What fails then fails
    /// there. System calls: sync_file_range(2)
    package func beginSynchronizing(through position: LogPosition) {
        guard let segment = try? segment(position.segment), !segment.isDurable(through: position.offset) else { return }
        segment.descriptor.beginWriting()
    }

    /// Syncs the name of a compacted log's segment, which may be new and not synced yet. A segment that was durable in
    /// part before has a durable name.
    private func secureName(of segment: Segment?) throws(Errno) {
        if configuration.makePreamble == nil { return }
        if let segment, segment.isDurable(through: segment.firstAppended + 8) { return }
        try directory.synchronize()
    }

    /// Syncs a sealed segment to the disk before its successor is created, also one whose sync failed. Throws if the
    /// disk still refuses: then there is no successor, and nothing can be appended.
    func secure(_ segment: Segment, through end: LogPosition) throws(LogFailure) {
        if segment.isDurable(through: end.offset) { return }
        // The kernel reports a failure that others have met once to each open file; a second failure concerns this
        // writer's pages.
        for isLast in [false, true] {
            do throws(Errno) {
                let hasFailedSync = segment.hasFailedSync
                if hasFailedSync { segment.dirtyPages(before: end.offset) }
                try segment.descriptor.synchronizeData()
                try secureName(of: segment)
                if hasFailedSync { configuration.report(.rewritten(file: segment.name)) }
                break
            } catch {
                segment.markSyncFailed()
                if isLast { throw LogFailure(error, file: segment.name, operation: "synchronize") }
            }
        }
        segment.noteDurable(through: end.offset)
    }
}

extension Segment {
    package var hasFailedSync: Bool { map.load64(SegmentHeader.syncFailed) != 0 }

    fileprivate func markSyncFailed() { writableMap?.store64(SegmentHeader.syncFailed, 1) }

    package func isDurable(through offset: Int) -> Bool { map.load64(SegmentHeader.durableMark) >= UInt64(offset) }

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
///
/// A word in the segment's first page names the syncer; the others sleep on its lower half, which is not zero while
/// there is a syncer. A sleeper first sets a bit of the word by compare-and-swap, so that a syncer without sleepers
/// makes no system call to wake them, and none is missed.
extension SegmentedLog {
    private static let patience: Int64 = 50_000_000
    private static let hasSleepers: UInt64 = 1 << 15

    /// Returns when everything before a position is on the disk. System calls: fdatasync(2), or futex(FUTEX_WAIT)
    package func synchronizeTogether(through position: LogPosition) throws(LogFailure) {
        guard let segment = try segment(position.segment), let map = segment.writableMap else {
            return try synchronize(through: position)
        }
        let writer = try requireWriter("synchronize")
        while !segment.isDurable(through: position.offset) {
            let syncer = map.load64(SegmentHeader.syncer)
            let now = UInt64(bitPattern: monotonicNanoseconds())
            let own = (now & 0xffff_ffff_ffff) << 16 | UInt64(writer + 1)
            if syncer != 0 {
                let age = Int64(((own >> 16) &- (syncer >> 16)) & 0xffff_ffff_ffff)
                if age >= Self.patience { return try synchronize(through: position) }
                let marked = syncer | Self.hasSleepers
                if syncer != marked, !map.exchange64(SegmentHeader.syncer, syncer, marked) { continue }
                map.wait(
                    whileWord: SegmentHeader.syncer, is: UInt32(truncatingIfNeeded: marked),
                    nanoseconds: Self.patience - age)
                continue
            }
            guard map.exchange64(SegmentHeader.syncer, 0, own) else { continue }
            defer { endSyncing(own, map) }
            // Records that others have begun by now are included.
            let end = try settle(segment, upTo: .max)
            try synchronize(through: end.offset > position.offset ? end : position)
        }
    }

    /// Clears the syncer's word and wakes the sleepers. System calls: futex(FUTEX_WAKE), only if there are sleepers
    private func endSyncing(_ own: UInt64, _ map: WritableMap) {
        if map.exchange64(SegmentHeader.syncer, own, 0) { return }
        if map.exchange64(SegmentHeader.syncer, own | Self.hasSleepers, 0) { map.wakeAll(at: SegmentHeader.syncer) }
    }
}
