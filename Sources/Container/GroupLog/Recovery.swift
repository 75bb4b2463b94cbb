import GroupBytes
import GroupSystemCalls

extension SegmentedLog {
    /// Recovers the log, in an incarnation in which no process has recovered it yet.
    ///
    /// After a boot, or after an unmount and mount of the file system, pages have reached the disk in any order, so the
    /// last segment may have a hole with valid records after it. If it has no hole, and nothing stands after its
    /// records, the log goes on in it. Otherwise it ends at its first record that is not whole, and the header of the
    /// next segment records that end for ever, so that the records after the hole cannot reappear. Records below the
    /// durable mark must be whole: a broken record there is damage, not an end; while `repairing`, such damage is cut
    /// all the same.
    ///
    /// Called only while no process of an earlier incarnation lives; several processes of this incarnation may recover
    /// at the same time. Linear in the segment's size.
    package func recover(repairing: Bool = false) throws(LogFailure) {
        let segment = try last()
        let incarnation = configuration.incarnation
        if segment.header.incarnation == incarnation || RecoveryDecision(of: segment.map, in: incarnation) == .goesOn {
            return
        }
        guard let map = segment.writableMap else { return }
        // First, because no recovery looks at older segments once the last one is settled.
        if configuration.makePreamble != nil { try settleSegments(before: segment.header.number) }
        let (position, isAtEnd) = try endOfWhole(segment, repairing: repairing)
        let isClean =
            isAtEnd && segment.cut == nil && !segment.hasFailedSync
            && !segment.hasContent(from: position.offset) && !map.isDamaged
        if RecoveryDecision(of: map, in: incarnation) == nil {
            // These words are of processes that are gone.
            map.store64(SegmentHeader.priority, 0)
            map.store64(SegmentHeader.syncer, 0)
        }
        let decision = (isClean ? RecoveryDecision.goesOn : .ends).decide(in: map, incarnation)
        if decision == .ends { try end(segment, at: position) }
        configuration.report(.recovered(file: segment.name, end: position.offset))
    }

    /// Returns where the segment's whole records end, and whether nothing begins there. Aborts the
    /// reservations, whose writers are gone.
    private func endOfWhole(
        _ segment: Segment, repairing: Bool
    ) throws(LogFailure) -> (LogPosition, isAtEnd: Bool) {
        var position = LogPosition.start(of: segment.header)
        let durable = Int(clamping: segment.map.load64(SegmentHeader.durableMark))
        while position.offset < segment.cut ?? .max, let (bytes, counts) = wholeRecord(in: segment, at: position.offset)
        {
            position.offset += bytes
            if counts { position.sequence += 1 }
        }
        if position.offset < min(durable, segment.cut ?? durable) {
            if !repairing {
                throw .damaged(segment.name, operation: "recover", .brokenAfterSync(offset: position.offset))
            }
            segment.cut(at: position.offset)
        }
        if case .empty? = try? segment.reading(at: position.offset) { return (position, true) }
        return (position, false)
    }

    /// Ends a segment: the log goes on in the next segment, which begins where this one ends.
    private func end(_ segment: Segment, at position: LogPosition) throws(LogFailure) {
        // The next recovery looks at the last segment only, so all earlier ones must be whole on the disk. (If the file
        // system was not unmounted in fact, this one may not be on the disk yet.)
        try secure(segment, through: position)
        _ = try makeSegment(
            after: position, leap: segment.leap, preamble: try configuration.makePreamble?(segment, position.offset, 0))
        forget(segment)
        if configuration.makePreamble != nil {
            try translating("recover", file: name) { () throws(Errno) in try directory.synchronize() }
            dropSegments(before: segment.header.number &+ 1)
        }
        let kept = (position.offset + 4_095) / 4_096 * 4_096
        if kept < segment.capacity { segment.descriptor.freeRange(start: kept, length: segment.capacity - kept) }
    }

    /// Drops the older segments up to the last one that is not whole. The segments of a compacted log are not synced
    /// when the next one is created, so nothing records what was on the disk. Whole segments after that one
    /// are kept for the readers that are still in them; a reader in a dropped segment begins with the last one.
    private func settleSegments(before number: UInt64) throws(LogFailure) {
        let older = try segmentNumbers().filter { $0 < number }
        if older.isEmpty { return }
        // The name of the segment that contains their state must be on the disk before they go.
        try translating("recover", file: name) { () throws(Errno) in try directory.synchronize() }
        let torn = older.last { number in !isWholeOnDisk(number) }
        for number in older where number <= torn ?? 0 { if !drop(number) { return } }
    }

    private func isWholeOnDisk(_ number: UInt64) -> Bool {
        guard let segment = try? segment(number), let end = segment.end else { return false }
        if segment.isDurable(through: end) { return true }
        var position = LogPosition.start(of: segment.header)
        while position.offset < end, let (bytes, counts) = wholeRecord(in: segment, at: position.offset) {
            position.offset += bytes
            if counts { position.sequence += 1 }
        }
        return position.offset == end && (try? secure(segment, through: position)) != nil
    }

    private func wholeRecord(in segment: Segment, at offset: Int) -> (bytes: Int, counts: Bool)? {
        while case .record(let record)? = try? segment.reading(at: offset) {
            switch record.state {
            case .aborted: return (record.byteCount, false)
            case .committed:
                return segment.body(at: offset, record) == nil ? nil : (record.byteCount, !record.isControl)
            case .reserved:
                var aborted = record
                aborted.state = .aborted
                if !segment.exchange(at: offset, record, aborted) && segment.writableMap == nil { return nil }
            case .seal: return nil
            }
        }
        return nil
    }
}

/// Damage in the middle of a segment: where a record's header is broken, the start of the next record is unknown. So
/// the segment ends there, for all, and the log goes on in the next one. A word in the segment's first page records the
/// cut.
extension Segment {
    /// The offset of the cut; nil if the segment was not cut. Cost: one load.
    package var cut: Int? {
        let word = map.load64(SegmentHeader.cut)
        if word == 0 { return nil }
        let offset = word & 0xffff_ffff_ffff
        // A flipped bit of this word must not cut anything.
        guard word == RecordHeader.checked(offset, offset: SegmentHeader.cut, salt: header.salt),
            let offset = Int(exactly: offset), offset >= SegmentHeader.size, offset <= capacity - 8,
            offset.isMultiple(of: 8)
        else { return nil }
        return offset
    }

    /// Cuts the segment, unless it is cut at or before that offset already. Records after the cut never happened:
    /// followers get a `rescan`.
    func cut(at offset: Int) {
        guard let writableMap else { return }
        let word = RecordHeader.checked(UInt64(offset), offset: SegmentHeader.cut, salt: header.salt)
        while cut.map({ $0 > offset }) ?? true {
            if writableMap.exchange64(SegmentHeader.cut, map.load64(SegmentHeader.cut), word) { return }
        }
    }

    /// The number of sequence numbers that the next segment leaves out, so that none is used twice: as many as there
    /// can have been records after the cut.
    var leap: UInt64 { cut.map { UInt64((capacity - $0) / Self.byteCount(bodyCount: 0)) + 1 } ?? 0 }
}

extension SegmentedLog {
    /// Returns the end of a segment that is to be appended to. If damage hides the end, cuts the segment there.
    package func findEnd(of segment: Segment) throws(LogFailure) -> (offset: Int, isSealed: Bool) {
        do {
            return try segment.findEnd()
        } catch {
            try cutAtDamage(segment, otherwise: error)
            return try segment.findEnd()
        }
    }

    /// Settles and counts records as `Segment.resolve` does; cuts the segment at a broken header.
    func settle(_ segment: Segment, upTo limit: Int) throws(LogFailure) -> LogPosition {
        do {
            return try segment.resolve(upTo: limit)
        } catch {
            try cutAtDamage(segment, otherwise: error)
            return try segment.resolve(upTo: limit)
        }
    }

    private func cutAtDamage(_ segment: Segment, otherwise error: LogFailure) throws(LogFailure) {
        guard !isOnlyForReading, !segment.map.isDamaged, let broken = segment.firstBroken, let damage = error.damage
        else {
            throw error
        }
        cut(segment, at: broken, because: damage)
    }

    /// Cuts a segment at an empty position that has something after it. After the end of a segment that is appended to
    /// there are only zeros, so a header was lost; after a new record in its place, the stale records could seem to
    /// follow.
    func cutAtLostHeader(_ segment: Segment, at offset: Int) {
        cut(segment, at: offset, because: .lostRecordHeader(offset: offset))
    }

    private func cut(_ segment: Segment, at offset: Int, because damage: LogDamage) {
        segment.cut(at: offset)
        configuration.report(.cut(file: segment.name, offset: offset, damage))
    }
}

/// The decision about a log's last segment, by the first process that opened it in an incarnation other than its own: a
/// word in its first page. The decision is made once: several processes may look at the segment at the same time, and
/// once one has decided that the log goes on in it, records are appended to it.
enum RecoveryDecision: Equatable {
    /// All its records are whole, and nothing stands after them.
    case goesOn
    /// The log goes on in the next segment.
    case ends

    /// Reads the decision; nil if there is none in this incarnation. Cost: one load.
    init?(of map: SharedMap, in incarnation: [UInt8]) {
        switch map.load64(SegmentHeader.recoveryDecision) {
        case Self.goesOn.word(in: incarnation): self = .goesOn
        case Self.ends.word(in: incarnation): self = .ends
        default: return nil
        }
    }

    /// The incarnation is random; the word has all bits but two of the incarnation's first word.
    private func word(in incarnation: [UInt8]) -> UInt64 {
        var reader = ByteReader(incarnation)
        return ((try? reader.number(UInt64.self)) ?? 0) & ~3 | (self == .goesOn ? 1 : 2)
    }

    /// Decides, and returns the decision that holds: the first one.
    func decide(in map: WritableMap, _ incarnation: [UInt8]) -> RecoveryDecision {
        while true {
            let known = map.load64(SegmentHeader.recoveryDecision)
            if let decision = RecoveryDecision(of: map, in: incarnation) { return decision }
            _ = map.exchange64(SegmentHeader.recoveryDecision, known, word(in: incarnation))
        }
    }
}
