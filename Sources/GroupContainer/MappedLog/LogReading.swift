import SystemCalls

extension MappedLog {
    /// Where the record behind a place stands, or will stand: over voids and the ends of files. A seal is where the
    /// next file is not made yet.
    func advance(
        _ position: LogPosition
    ) throws(CoordinationError) -> (place: LogPosition, file: LogFile, reading: LogHeader.Reading) {
        var place = position
        while true {
            guard let file = try file(place.file) else {
                throw .damaged("\(name)/\(place.file).log", operation: "read", "the file is gone")
            }
            // What may stand behind the end of a file that was recovered never happened.
            if let end = file.end, place.offset >= end, let next = try self.file(place.file &+ 1) {
                place = .start(of: next.header)
                continue
            }
            let reading = try reading(of: file, at: place.offset)
            guard case .record(let record) = reading else { return (place, file, reading) }
            switch record.state {
            case .void: place.offset += record.byteCount
            case .seal:
                // The next file is made by who appends: reading must go on while the disk refuses that.
                guard let next = try self.file(place.file &+ 1) else { return (place, file, reading) }
                place = .start(of: next.header)
            case .reserved, .committed: return (place, file, reading)
            }
        }
    }

    private func reading(of file: LogFile, at offset: Int) throws(CoordinationError) -> LogHeader.Reading {
        do {
            return try file.reading(at: offset)
        } catch {
            if isTorn(file, at: offset) { return .empty }
            throw error
        }
    }

    /// The record behind a place; nil at the end. Waits at most the patience of a reservation that its member left
    /// behind. At the end, who may only read opens the files anew and looks once more.
    func entry(behind position: LogPosition) throws(CoordinationError) -> LogEntry? {
        if let entry = try knownEntry(behind: position) { return entry }
        if !isOnlyForReading { return nil }
        try lookAnew()
        return try knownEntry(behind: position)
    }

    /// The same, in the files that are open.
    func knownEntry(behind position: LogPosition) throws(CoordinationError) -> LogEntry? {
        while true {
            var (place, file, reading) = try advance(position)
            guard case .record(let record) = reading else { return nil }
            switch record.state {
            case .seal, .void: return nil
            case .reserved: if !file.awaitOrVoid(record, at: place.offset) { return nil }
            case .committed:
                guard let (body, checksum) = file.body(at: place.offset, record) else {
                    if isTorn(file, at: place.offset) { return nil }
                    throw .damaged(
                        file.name, operation: "read", "the record at byte \(place.offset) does not fit its checksum")
                }
                place.offset += record.byteCount
                if !record.isControl { place.sequence += 1 }
                place.checksum = checksum
                return LogEntry(body: body, isControl: record.isControl, position: place)
            }
        }
    }

    /// Whether `entry(behind:)` would have something to give or to wait for. One load, but for voids and ends of files.
    /// Who may only read is not told, and looks again after a while.
    func hasMore(behind position: LogPosition) -> Bool {
        if isOnlyForReading { return false }
        // An error is found, and said, by whoever reads on.
        guard let next = try? advance(position) else { return true }
        guard case .record(let record) = next.reading else { return false }
        return record.state != .seal
    }

    /// Whether a place that was kept is one of this log: a record ends there, with the sequence and the checksum that
    /// it names. Linear in the records before it in its file.
    func contains(_ position: LogPosition) throws(CoordinationError) -> Bool {
        if isOnlyForReading { try lookAnew() }
        guard let file = try file(position.file), position.offset <= file.end ?? file.capacity else { return false }
        if file.header.number == unrecovered, file.end == nil {
            if try endOfUnrecovered(file).offset < position.offset { return false }
        }
        return try file.resolve(upTo: position.offset) == position
    }

    /// The place behind everything that is written, after all before it is settled.
    func end() throws(CoordinationError) -> LogPosition {
        if isOnlyForReading { try lookAnew() }
        while true {
            let file = try last()
            if file.header.number == unrecovered { return try endOfUnrecovered(file) }
            let position = try file.resolve(upTo: .max)
            switch try file.reading(at: position.offset) {
            case .empty: return position
            // Somebody began a record meanwhile: settle that, too.
            case .record(let record) where record.state != .seal:
                if isOnlyForReading { return position }
                continue
            default: break
            }
            if try self.file(file.header.number &+ 1) == nil { return position }
        }
    }

    /// The oldest place that is kept.
    func start() throws(CoordinationError) -> LogPosition {
        guard let number = try fileNumbers().first, let file = try file(number) else {
            throw .damaged(name, operation: "open", "it has no file")
        }
        return .start(of: file.header)
    }

    /// A place at or before the end, without waiting for anybody: everything appended from now on lies behind it.
    func tail() -> (file: UInt64, offset: Int) {
        guard let file = try? last(), let end = try? file.findEnd() else { return (1, LogFileHeader.size) }
        return (file.header.number, end.offset)
    }
}
