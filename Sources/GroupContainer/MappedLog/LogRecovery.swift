import GroupSystemCalls

extension MappedLog {
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
        if file.header.incarnation == incarnation || LogSettlement(of: file.map, in: incarnation) == .goesOn { return }
        guard let map = file.writableMap else { return }
        // First, because nobody comes back to them once the last one is settled.
        if surroundings.carrying != nil { try settleFiles(before: file.header.number) }
        let (place, isAtEnd) = try endOfWhole(file, repairing: repairing)
        let isClean =
            isAtEnd && file.cut == nil && !file.isPoisoned
            && !map.hasBits(place.offset, count: file.capacity - place.offset) && !map.isDamaged
        if LogSettlement(of: map, in: incarnation) == nil {
            // They are of processes that are gone.
            map.store64(LogFileHeader.turn, 0)
            map.store64(LogFileHeader.syncer, 0)
        }
        let settlement = (isClean ? LogSettlement.goesOn : .ends).decide(in: map, incarnation)
        if settlement == .ends { try end(file, at: place) }
        surroundings.diagnostics.tell(
            .journalRecovered, item: file.name,
            "recovered, after a restart of the machine or as a copy: it is whole up to byte \(place.offset)")
    }

    /// Where its whole records end, and whether nothing begins there. What was reserved, by a process that is gone, is
    /// made void.
    private func endOfWhole(
        _ file: LogFile, repairing: Bool
    ) throws(CoordinationError) -> (LogPosition, isAtEnd: Bool) {
        var place = LogPosition.start(of: file.header)
        let durable = Int(clamping: file.map.load64(LogFileHeader.durableMark))
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
    private func end(_ file: LogFile, at place: LogPosition) throws(CoordinationError) {
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

    private func wholeRecord(in file: LogFile, at offset: Int) -> (bytes: Int, counts: Bool)? {
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
