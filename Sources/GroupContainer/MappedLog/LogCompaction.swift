import GroupSystemCalls

/// What a file of a log that is compacted begins with: records that say what all before it came to. They are not
/// counted, so the sequence goes on.
struct LogPreamble: Sendable {
    /// As of a place in a file, for the next one, with room for a record of so many bytes.
    /// Nil: the file is to be read for it.
    typealias Maker = (LogFile, _ end: Int, _ needed: Int) throws(CoordinationError) -> LogPreamble?
    static let unknown: @Sendable (LogFile, Int, Int) throws(CoordinationError) -> LogPreamble? = { _, _, _ in nil }

    var bodies: [[UInt8]]
    /// Of the whole file, in bytes.
    var capacity: Int

    /// Into a file that has no name yet, behind its header.
    func write(into descriptor: borrowing FileDescriptor, _ header: LogFileHeader, by slot: Int) throws(Errno) {
        let map = try WritableMap(descriptor, size: Int(header.capacity))
        var offset = LogFileHeader.size
        for body in bodies {
            let units = LogFile.byteCount(bodyCount: body.count) / 8
            if offset + units * 8 > map.size - 8 || units > LogHeader.largestUnits { throw Errno.tooLarge }
            let record = LogHeader(state: .committed, isControl: true, units: units, slot: slot, tries: 0)
            LogFile.writeBody(body, into: map, at: offset, units: units, salt: header.salt)
            map.store64(offset, record.encoded(place: offset, salt: header.salt))
            offset += units * 8
        }
        map.store64(LogFileHeader.carried, UInt64(offset))
        // All of it is on the disk before anybody sees it.
        map.store64(LogFileHeader.durableMark, UInt64(offset))
    }

    /// As many bytes as the records take, in a file.
    static func size(of bodies: [[UInt8]]) -> Int {
        bodies.reduce(0) { $0 + LogFile.byteCount(bodyCount: $1.count) }
    }
}

extension LogFile {
    /// Behind what it was made with.
    var placeBehindCarried: LogPosition {
        var place = LogPosition.start(of: header)
        place.offset = firstAppended
        if place.offset > LogFileHeader.size { place.checksum = map.load64(place.offset - 8) }
        return place
    }

    /// Nothing stands behind a place of this file by now, and something can. A few loads.
    func isEnd(_ place: LogPosition) -> Bool {
        map.load64(place.offset) == 0 && place.file == header.number && recordedEnd == nil && !map.isDamaged
            && map.load64(LogFileHeader.cut) == 0
    }

    /// Moves a place of this file on over committed records, and shows where each is, without a look at other files.
    /// True: nothing stands behind it. False: something that is to be looked at more closely, or where another file
    /// begins.
    func readOn(
        from place: inout LogPosition,
        _ look: (_ offset: Int, _ bodyCount: Int, _ sequence: UInt64, _ isControl: Bool) -> Void
    ) throws(CoordinationError) -> Bool {
        if recordedEnd != nil || place.file != header.number { return false }
        while cut == nil {
            guard case .record(let record) = try reading(at: place.offset) else { return true }
            switch record.state {
            case .seal, .reserved: return false
            case .void: place.offset += record.byteCount
            case .committed:
                let offset = place.offset
                guard let (count, checksum) = checkedBody(at: offset, record) else { return false }
                place.offset += record.byteCount
                if !record.isControl { place.sequence += 1 }
                place.checksum = checksum
                look(offset, count, place.sequence, record.isControl)
            }
        }
        return false
    }

    /// Shows the bodies of the committed records before a place, with their sequence; those that do not fit their
    /// checksums are left out, and counted in the answer. Linear in them.
    func forEachCommitted(
        before limit: Int, _ look: (_ body: [UInt8], _ sequence: UInt64, _ isControl: Bool) -> Void
    ) throws(CoordinationError) -> Int {
        var (offset, broken, sequence) = (LogFileHeader.size, 0, header.base)
        while offset < min(limit, cut ?? limit), case .record(let record) = try reading(at: offset),
            record.state != .seal
        {
            if record.state == .committed {
                if !record.isControl { sequence += 1 }
                if let (body, _) = body(at: offset, record) {
                    look(body, sequence, record.isControl)
                } else {
                    broken += 1
                }
            }
            offset += record.byteCount
        }
        return broken
    }
}

extension MappedLog {
    /// For who is still reading them, the file before the last one is kept, and older ones as far as all of them take
    /// half of its room. The name of the one that replaces them is on the disk first.
    func dropFiles(before number: UInt64) {
        guard let files = try? keptFiles(), let room = try? last().capacity else { return }
        var kept: UInt64 = 0
        var dropped: [UInt64] = []
        for file in files.reversed() where file.number < number {
            kept += file.size
            if kept > UInt64(room / 2) && file.number &+ 1 != number { dropped.append(file.number) }
        }
        if dropped.isEmpty { return }
        do throws(Errno) { try directory.synchronize() } catch { return }
        // The oldest first: there is never a gap.
        for number in dropped.reversed() where !drop(number) { return }
    }
}
