import GroupSystemCalls

extension MappedLog {
    /// After a boot that no member saw: pages reached the disk in any order, so the last file may have a hole with
    /// valid records behind it. It ends at the first record that is not whole, and the file that is made after it says
    /// so for ever; what lay behind can not come alive again. Records below the durable mark must be whole: there a bad
    /// one is damage, not a cut. Only while no other member lives. Linear in the file's length.
    /// While `repairing`, such damage is cut all the same.
    func recover(repairing: Bool = false) throws(CoordinationError) {
        let file = try last()
        if file.header.incarnation == surroundings.incarnation { return }
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
        _ = try makeFile(
            after: place, leap: file.leap, carriage: try surroundings.carrying?(file, place.offset, 0))
        surroundings.diagnostics.tell(
            .journalRecovered, item: file.name,
            "recovered, after a restart of the machine or as a copy: it is whole up to byte \(place.offset)")
        forget(file)
        if surroundings.carrying != nil {
            try translating(name, "recover") { () throws(Errno) in try folder.synchronize() }
            dropUnsecured(before: file.header.number)
            dropFiles(before: file.header.number &+ 1)
        }
        let kept = (place.offset + 4_095) / 4_096 * 4_096
        if kept < file.capacity { file.descriptor.freeRange(start: kept, length: file.capacity - kept) }
    }

    /// Files of a compacted log are not synced when the next one is made, so nobody knows what of them was on the disk:
    /// whoever stands in one begins with the last.
    private func dropUnsecured(before number: UInt64) {
        let older = ((try? fileNumbers()) ?? []).filter { $0 < number }
        let unsecured = older.last { number in
            guard let file = try? file(number), let end = file.end else { return true }
            return !file.isDurable(through: end)
        }
        for number in older where number <= unsecured ?? 0 { if !drop(number) { return } }
    }

    private func wholeRecord(in file: LogFile, at offset: Int) -> (bytes: Int, counts: Bool)? {
        guard case .record(let record)? = try? file.reading(at: offset) else { return nil }
        switch record.state {
        case .void: return (record.byteCount, false)
        case .committed: return file.body(at: offset, record) == nil ? nil : (record.byteCount, !record.isControl)
        case .reserved, .seal: return nil
        }
    }
}
