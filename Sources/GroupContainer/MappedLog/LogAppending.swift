import SystemCalls

extension MappedLog {
    /// Appends a record; returns the place right behind it. It is visible, not yet durable. Wait-free but for the
    /// records of others that were begun before it: those get about 2 ms. Constant time but for the scan of what came
    /// since the last call.
    func append(_ body: [UInt8], isControl: Bool = false) throws(CoordinationError) -> LogPosition {
        var tries = 0
        while true {
            let file = try last()
            let (offset, isSealed) = try file.findEnd()
            if isSealed {
                _ = try successor(of: file, endingAt: try file.resolve(upTo: offset))
                continue
            }
            switch reserveAndCommit(body, isControl: isControl, in: file, at: offset, tries: tries) {
            case .committed(let behind): return try file.resolve(upTo: behind)
            case .taken: continue
            case .voided: tries += 1
            }
        }
    }

    /// Appends only if nothing stands behind `expected`, which is to be at the end of what its caller has read. Nil:
    /// something does, and the caller must read on and decide again.
    func append(_ body: [UInt8], isControl: Bool = false, exactlyAt expected: LogPosition) throws(CoordinationError)
        -> LogPosition?
    {
        guard let file = try file(expected.file) else { return nil }
        switch try file.reading(at: expected.offset) {
        case .empty: break
        case .record(let record) where record.state == .seal:
            // Its caller reads on, in the file that comes then.
            _ = try successor(of: file, endingAt: try file.resolve(upTo: expected.offset))
            return nil
        default: return nil
        }
        switch reserveAndCommit(body, isControl: isControl, in: file, at: expected.offset, tries: 0) {
        case .committed(let behind): return try file.resolve(upTo: behind)
        case .taken, .voided: return nil
        }
    }

    private enum Attempt {
        case committed(behind: Int)
        /// Somebody else stands there now, or the file is sealed there: look again.
        case taken
        case voided
    }

    private func reserveAndCommit(_ body: [UInt8], isControl: Bool, in file: LogFile, at offset: Int, tries: Int)
        -> Attempt
    {
        let units = LogFile.byteCount(bodyCount: body.count) / 8
        var header = LogHeader(
            state: .reserved, isControl: isControl, units: units, slot: surroundings.slot, tries: tries)
        // The last word is kept for the seal.
        if offset + units * 8 > file.capacity - 8 {
            _ = file.exchange(
                at: offset, nil, LogHeader(state: .seal, isControl: true, units: 1, slot: surroundings.slot, tries: 0))
            return .taken
        }
        guard file.exchange(at: offset, nil, header) else { return .taken }
        file.writeBody(body, at: offset, units: units)
        let reserved = header
        header.state = .committed
        return file.exchange(at: offset, reserved, header) ? .committed(behind: offset + units * 8) : .voided
    }

    /// The record behind a place; nil at the end. Waits at most the patience of a reservation that its member left
    /// behind.
    func entry(behind position: LogPosition) throws(CoordinationError) -> LogEntry? {
        var place = position
        while true {
            guard let file = try file(place.file) else {
                throw .damaged("\(name)/\(place.file).log", operation: "read", "the file is gone")
            }
            if let end = file.end, place.offset >= end {
                guard let next = try self.file(place.file + 1) else { return nil }
                place = .start(of: next.header)
                continue
            }
            guard case .record(let record) = try file.reading(at: place.offset) else { return nil }
            switch record.state {
            case .reserved:
                file.awaitOrVoid(record, at: place.offset)
            case .void:
                place.offset += record.byteCount
            case .seal:
                // The next file is made by who appends: reading must go on while the disk refuses that.
                guard let next = try self.file(place.file + 1) else { return nil }
                place = .start(of: next.header)
            case .committed:
                guard let (body, checksum) = file.body(at: place.offset, record) else {
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

    /// Whether anything stands behind a place. One load; at a seal, a look for the next file.
    func hasMore(behind position: LogPosition) -> Bool {
        guard let file = try? file(position.file), let reading = try? file.reading(at: position.offset) else {
            return true
        }
        switch reading {
        case .empty: return file.end.map { position.offset >= $0 } ?? false
        case .record(let record) where record.state == .seal:
            return (try? self.file(position.file + 1)).flatMap { $0 } != nil
        default: return true
        }
    }

    /// Whether a place that was kept is one of this log: the record before it has the checksum it names.
    func contains(_ position: LogPosition) throws(CoordinationError) -> Bool {
        guard let file = try file(position.file), position.offset >= LogFileHeader.size,
            position.offset <= file.capacity - 8,
            position.offset.isMultiple(of: 8), position.offset <= file.end ?? .max
        else { return false }
        return file.checksum(before: position.offset) == position.checksum
            && (position.offset > LogFileHeader.size || position.sequence == file.header.base)
    }
}

extension MappedLog {
    /// A place at or before the end, without waiting for anybody: everything appended from now on lies behind it.
    func tail() -> (file: UInt64, offset: Int) {
        guard let file = try? last(), let end = try? file.findEnd() else { return (1, LogFileHeader.size) }
        return (file.header.number, end.offset)
    }
}
