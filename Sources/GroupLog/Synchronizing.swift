import GroupSystemCalls

/// Synchronization to the disk. A failure is final for its segment: the kernel forgets which pages it could not write,
/// so a second sync of the same pages would wrongly succeed. The segment is poisoned for all processes and sealed, and
/// the log goes on in the next one, once the content of the poisoned one was written again.
extension SegmentedLog {
    /// Returns when everything before a position is on the disk. Errors: `notDurable`. System calls: fdatasync(2); of a
    /// compacted log's new segment also fsync(2) of the directory
    package func synchronize(through position: LogPosition) throws(LogFailure) {
        let writer = try requireWriter("synchronize")
        guard let file = try file(position.file) else {
            // The records of a dropped segment are in one that was on the disk before it got its name.
            return try translating("synchronize", file: name) { () throws(Errno) in try secureName(of: nil) }
        }
        if file.isDurable(through: position.offset) { return }
        do throws(Errno) {
            if file.isPoisoned { throw Errno.inputOutput }
            try file.descriptor.synchronizeData()
            try secureName(of: file)
        } catch {
            file.poison()
            configuration.report(.notDurable(file: file.name, error))
            // Others append meanwhile; each of them moves the end on, so this loop ends.
            while let end = try? file.findEnd(), !end.isSealed, !seal(file, at: end.offset, by: writer) {}
            throw LogFailure(.notDurable(error), file: file.name, operation: "synchronize")
        }
        file.noteDurable(through: position.offset)
    }

    /// Syncs the name of a compacted log's segment, which may be new and not synced yet. A segment that was durable in
    /// part before has a durable name.
    private func secureName(of file: Segment?) throws(Errno) {
        if configuration.makePreamble == nil { return }
        if let file, file.isDurable(through: file.firstAppended + 8) { return }
        try directory.synchronize()
    }

    /// Does the same for a sealed segment, before its successor is created; also for a poisoned one. Throws if the disk
    /// still refuses: then there is no successor, and nothing can be appended.
    func secure(_ file: Segment, through end: LogPosition) throws(LogFailure) {
        if file.isDurable(through: end.offset) { return }
        // The kernel reports a failure that others have met once to each open file; a second failure concerns this
        // writer's pages.
        for isLast in [false, true] {
            do throws(Errno) {
                let isPoisoned = file.isPoisoned
                if isPoisoned { file.dirtyPages(before: end.offset) }
                try file.descriptor.synchronizeData()
                try secureName(of: file)
                if isPoisoned { configuration.report(.rewritten(file: file.name)) }
                break
            } catch {
                file.poison()
                if isLast { throw LogFailure(error, file: file.name, operation: "synchronize") }
            }
        }
        file.noteDurable(through: end.offset)
    }
}

extension Segment {
    package var isPoisoned: Bool { map.load64(SegmentHeader.poisoned) != 0 }

    fileprivate func poison() { writableMap?.store64(SegmentHeader.poisoned, 1) }

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
        guard let file = try file(position.file), let map = file.writableMap else {
            return try synchronize(through: position)
        }
        let writer = try requireWriter("synchronize")
        while !file.isDurable(through: position.offset) {
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
            let end = try settle(file, upTo: .max)
            try synchronize(through: end.offset > position.offset ? end : position)
        }
    }

    /// Clears the syncer's word and wakes the sleepers. System calls: futex(FUTEX_WAKE), only if there are sleepers
    private func endSyncing(_ own: UInt64, _ map: WritableMap) {
        if map.exchange64(SegmentHeader.syncer, own, 0) { return }
        if map.exchange64(SegmentHeader.syncer, own | Self.hasSleepers, 0) { map.wakeAll(at: SegmentHeader.syncer) }
    }
}
