import SystemCalls

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
        let kept = (place.offset + 4_095) / 4_096 * 4_096
        if kept < file.capacity { file.descriptor.freeRange(start: kept, length: file.capacity - kept) }
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
