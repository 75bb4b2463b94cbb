import GroupSystemCalls

extension SegmentedLog {
    /// In an incarnation in which nobody has looked at the log yet: after a boot, or where the file system was
    /// unmounted and mounted again, pages have reached the disk in any order, so the last file may have a hole with
    /// valid records behind it. Where it has none, and nothing stands behind the records, everything goes on in it, and
    /// it is as if nothing had been. Else it ends at the first record that is not whole, and the file that is made
    /// after it says so for ever; what lay behind can not come alive again. Records below the durable mark must be
    /// whole: there a bad one is damage, not an end. Only while no member of an earlier incarnation lives; members of
    /// this one may do it at the same time. Linear in the file's size. While `repairing`, such damage is cut all the
    /// same.
    func recover(repairing: Bool = false) throws(CoordinationError) {
        let file = try last()
        let incarnation = surroundings.incarnation
        if file.header.incarnation == incarnation || SegmentSettlement(of: file.map, in: incarnation) == .goesOn {
            return
        }
        guard let map = file.writableMap else { return }
        // First, because nobody comes back to them once the last one is settled.
        if surroundings.carrying != nil { try settleFiles(before: file.header.number) }
        let (place, isAtEnd) = try endOfWhole(file, repairing: repairing)
        let isClean =
            isAtEnd && file.cut == nil && !file.isPoisoned
            && !map.hasBits(place.offset, count: file.capacity - place.offset) && !map.isDamaged
        if SegmentSettlement(of: map, in: incarnation) == nil {
            // They are of processes that are gone.
            map.store64(SegmentHeader.turn, 0)
            map.store64(SegmentHeader.syncer, 0)
        }
        let settlement = (isClean ? SegmentSettlement.goesOn : .ends).decide(in: map, incarnation)
        if settlement == .ends { try end(file, at: place) }
        surroundings.diagnostics.tell(
            .journalRecovered, item: file.name,
            "recovered, after a restart of the machine or as a copy: it is whole up to byte \(place.offset)")
    }

    /// Where its whole records end, and whether nothing begins there. What was reserved, by a process that is gone, is
    /// made void.
    private func endOfWhole(
        _ file: Segment, repairing: Bool
    ) throws(CoordinationError) -> (LogPosition, isAtEnd: Bool) {
        var place = LogPosition.start(of: file.header)
        let durable = Int(clamping: file.map.load64(SegmentHeader.durableMark))
        while place.offset < file.cut ?? .max, let (bytes, counts) = wholeRecord(in: file, at: place.offset) {
            place.offset += bytes
            if counts { place.sequence += 1 }
        }
        if place.offset < min(durable, file.cut ?? durable) {
            if !repairing {
                throw .damaged(
                    file.name, operation: "recover",
                    "the record at byte \(place.offset) was on the disk and is broken now")
            }
            file.cut(at: place.offset)
        }
        if case .empty? = try? file.reading(at: place.offset) { return (place, true) }
        return (place, false)
    }

    /// Everything goes on in the next file, which begins where this one ends.
    private func end(_ file: Segment, at place: LogPosition) throws(CoordinationError) {
        // The next recovery looks at the last file only, so all before it must be whole on the disk. (Where the file
        // system was not unmounted after all, it may not be there yet.)
        try secure(file, through: place)
        _ = try makeFile(
            after: place, leap: file.leap, preamble: try surroundings.carrying?(file, place.offset, 0))
        forget(file)
        if surroundings.carrying != nil {
            try translating(name, "recover") { () throws(Errno) in try directory.synchronize() }
            dropFiles(before: file.header.number &+ 1)
        }
        let kept = (place.offset + 4_095) / 4_096 * 4_096
        if kept < file.capacity { file.descriptor.freeRange(start: kept, length: file.capacity - kept) }
    }

    /// Files of a compacted log are not synced when the next one is made, so no member knows what of them was on the
    /// disk. A file of which everything is there is kept for the readers that still read it; a reader that stands in
    /// another file begins with the last.
    private func settleFiles(before number: UInt64) throws(CoordinationError) {
        let older = try fileNumbers().filter { $0 < number }
        if older.isEmpty { return }
        // The file that has what they say has its name for ever, before they go.
        try translating(name, "recover") { () throws(Errno) in try directory.synchronize() }
        let torn = older.last { number in !isWholeOnDisk(number) }
        for number in older where number <= torn ?? 0 { if !drop(number) { return } }
    }

    private func isWholeOnDisk(_ number: UInt64) -> Bool {
        guard let file = try? file(number), let end = file.end else { return false }
        if file.isDurable(through: end) { return true }
        var place = LogPosition.start(of: file.header)
        while place.offset < end, let (bytes, counts) = wholeRecord(in: file, at: place.offset) {
            place.offset += bytes
            if counts { place.sequence += 1 }
        }
        return place.offset == end && (try? secure(file, through: place)) != nil
    }

    private func wholeRecord(in file: Segment, at offset: Int) -> (bytes: Int, counts: Bool)? {
        while case .record(let record)? = try? file.reading(at: offset) {
            switch record.state {
            case .void: return (record.byteCount, false)
            case .committed: return file.body(at: offset, record) == nil ? nil : (record.byteCount, !record.isControl)
            case .reserved:
                var void = record
                void.state = .void
                if !file.exchange(at: offset, record, void) && file.writableMap == nil { return nil }
            case .seal: return nil
            }
        }
        return nil
    }
}

/// Damage in the middle of a file: where the header of a record is none, nobody can tell where the next record begins.
/// So the file ends there, for all, and everything goes on in the next one. A word in the file's first page says so.
extension Segment {
    /// Where it was cut; nil where it was not. One load.
    var cut: Int? {
        let word = map.load64(SegmentHeader.cut)
        if word == 0 { return nil }
        let offset = word & 0xffff_ffff_ffff
        // A flipped bit of this word cuts nothing.
        guard word == RecordHeader.checked(offset, place: SegmentHeader.cut, salt: header.salt),
            let offset = Int(exactly: offset), offset >= SegmentHeader.size, offset <= capacity - 8,
            offset.isMultiple(of: 8)
        else { return nil }
        return offset
    }

    /// Cuts it, unless it was cut before that already. What stands behind never happened: its followers get a `rescan`.
    func cut(at offset: Int) {
        guard let writableMap else { return }
        let word = RecordHeader.checked(UInt64(offset), place: SegmentHeader.cut, salt: header.salt)
        while cut.map({ $0 > offset }) ?? true {
            if writableMap.exchange64(SegmentHeader.cut, map.load64(SegmentHeader.cut), word) { return }
        }
    }

    /// How many numbers the file after this one leaves out, so that none is given twice: as many as there can have been
    /// records behind the cut.
    var leap: UInt64 { cut.map { UInt64((capacity - $0) / Self.byteCount(bodyCount: 0)) + 1 } ?? 0 }
}

extension SegmentedLog {
    /// The end of a file that is to be appended to. One that cannot be found, because of damage, is made.
    func findEnd(of file: Segment) throws(CoordinationError) -> (offset: Int, isSealed: Bool) {
        do {
            return try file.findEnd()
        } catch {
            try cutAtDamage(file, otherwise: error)
            return try file.findEnd()
        }
    }

    /// Settles and counts, as `Segment.resolve`; what is broken is cut.
    func settle(_ file: Segment, upTo limit: Int) throws(CoordinationError) -> LogPosition {
        do {
            return try file.resolve(upTo: limit)
        } catch {
            try cutAtDamage(file, otherwise: error)
            return try file.resolve(upTo: limit)
        }
    }

    private func cutAtDamage(_ file: Segment, otherwise error: CoordinationError) throws(CoordinationError) {
        guard !isOnlyForReading, !file.map.isDamaged, let broken = file.firstBroken else { throw error }
        cut(file, at: broken, because: error.cause)
    }

    /// Cuts a file at its end where something stands behind it. Behind the end of a file that is appended to there are
    /// zeros: a header was lost, and with a new record in its place the stale ones behind could follow that.
    func cutAtLostHeader(_ file: Segment, at offset: Int) {
        cut(file, at: offset, because: "nothing stands at byte \(offset), but behind that")
    }

    private func cut(_ file: Segment, at offset: Int, because cause: String) {
        file.cut(at: offset)
        surroundings.diagnostics.tell(
            .journalCut, item: file.name,
            "it ends at byte \(offset) now, and the journal goes on in the next file: \(cause)")
    }
}

/// What was decided about a log's last file by the first who opened it in an incarnation other than its own: a word in
/// its first page. It is decided once: several may look at it at the same time, and as soon as one has decided that it
/// goes on, records are appended to it.
enum SegmentSettlement: Equatable {
    /// Everything in it is whole, and behind that there is nothing.
    case goesOn
    /// What comes is appended to the next file.
    case ends

    /// Nil: nothing, in this incarnation. One load.
    init?(of map: SharedMap, in incarnation: [UInt8]) {
        switch map.load64(SegmentHeader.settled) {
        case Self.goesOn.word(in: incarnation): self = .goesOn
        case Self.ends.word(in: incarnation): self = .ends
        default: return nil
        }
    }

    /// The incarnation is random; of its first word all bits but two are here.
    private func word(in incarnation: [UInt8]) -> UInt64 {
        var reader = ByteReader(incarnation)
        return ((try? reader.number(UInt64.self)) ?? 0) & ~3 | (self == .goesOn ? 1 : 2)
    }

    /// What holds is what was decided first.
    func decide(in map: WritableMap, _ incarnation: [UInt8]) -> SegmentSettlement {
        while true {
            let known = map.load64(SegmentHeader.settled)
            if let settlement = SegmentSettlement(of: map, in: incarnation) { return settlement }
            _ = map.exchange64(SegmentHeader.settled, known, word(in: incarnation))
        }
    }
}
