import SystemCalls

extension MappedLog {
    /// Appends a record; returns the place right behind it. It is visible, not yet durable. Wait-free but for the
    /// records of others that were begun before it: those get about 2 ms. Constant time but for the scan of what came
    /// since the last call.
    func append(_ body: [UInt8], isControl: Bool = false) throws(CoordinationError) -> LogPosition {
        var tries = 0
        while true {
            let file = try last()
            try checkFits(body, in: file)
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
        // A file that a recovery ended stays empty behind its end.
        guard let file = try file(expected.file), expected.offset < file.end ?? .max else { return nil }
        try checkFits(body, in: file)
        guard case .empty = try file.reading(at: expected.offset) else { return nil }
        switch reserveAndCommit(body, isControl: isControl, in: file, at: expected.offset, tries: 0) {
        case .committed(let behind): return try file.resolve(upTo: behind)
        case .taken, .voided: return nil
        }
    }

    /// What fits into no file would go from one to the next for ever.
    private func checkFits(_ body: [UInt8], in file: LogFile) throws(CoordinationError) {
        let room = min(file.capacity - LogFileHeader.size - 8, LogHeader.largestUnits * 8)
        if LogFile.byteCount(bodyCount: body.count) <= room { return }
        throw CoordinationError(
            .limitReached, item: file.name, operation: "append",
            cause: "a record of \(body.count) bytes is larger than the \(room) that a file of the log has room for")
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
                place = .start(of: try successor(of: file, endingAt: try file.resolve(upTo: place.offset)).header)
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

    /// Whether `entry(behind:)` would have something to give or to do. One load, but for voids and the ends of files.
    func hasMore(behind position: LogPosition) -> Bool {
        var place = position
        while true {
            guard let file = try? file(place.file) else { return true }
            if file.end.map({ place.offset >= $0 }) ?? false {
                guard let next = try? self.file(place.file + 1) else { return true }
                place = .start(of: next.header)
                continue
            }
            guard let reading = try? file.reading(at: place.offset) else { return true }
            guard case .record(let record) = reading else { return false }
            switch record.state {
            case .reserved, .committed: return true
            case .void: place.offset += record.byteCount
            case .seal:
                guard let next = try? self.file(place.file + 1) else { return true }
                place = .start(of: next.header)
            }
        }
    }

    /// Whether a place that was kept is one of this log: a record ends there, with the sequence and the checksum that
    /// it names. Linear in the records before it in its file.
    func contains(_ position: LogPosition) throws(CoordinationError) -> Bool {
        guard let file = try file(position.file), position.offset <= file.end ?? file.capacity else { return false }
        return try file.resolve(upTo: position.offset) == position
    }

    /// Everything before a place is on the disk when it returns. System calls: fdatasync(2)
    func synchronize(through position: LogPosition) throws(CoordinationError) {
        guard let file = try file(position.file) else { return }
        let target = UInt64(position.offset)
        if file.map.load64(LogFileHeader.durableMark) >= target { return }
        do throws(Errno) {
            if file.map.load64(LogFileHeader.poisoned) != 0 { throw Errno.inputOutput }
            try file.descriptor.synchronizeData()
        } catch {
            // The kernel forgets which pages it failed to write, so a second try would lie. The file is closed to all.
            file.map.store64(LogFileHeader.poisoned, 1)
            if let end = try? file.findEnd(), !end.isSealed {
                _ = file.exchange(
                    at: end.offset, nil,
                    LogHeader(state: .seal, isControl: true, units: 1, slot: surroundings.slot, tries: 0))
            }
            throw CoordinationError(
                .notDurable, item: file.name, operation: "synchronize", cause: error.description,
                advice: "the change is visible, but may be gone after a power cut; check the disk")
        }
        while true {
            let mark = file.map.load64(LogFileHeader.durableMark)
            if mark >= target || file.map.exchange64(LogFileHeader.durableMark, mark, target) { return }
        }
    }
}

extension MappedLog {
    /// A place at or before the end, without waiting for anybody: everything appended from now on lies behind it.
    func tail() -> (file: UInt64, offset: Int) {
        guard let file = try? last(), let end = try? file.findEnd() else { return (1, LogFileHeader.size) }
        return (file.header.number, end.offset)
    }
}
