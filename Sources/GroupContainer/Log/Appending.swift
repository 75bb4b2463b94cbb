import GroupSystemCalls

extension SegmentedLog {
    /// Appends a record; returns the place right behind it. It is visible, not yet durable. Wait-free but for the
    /// records of others that were begun before it: those get about 2 ms. Constant time but for the scan of what came
    /// since the last call.
    func append(_ body: [UInt8], isControl: Bool = false) throws(CoordinationError) -> LogPosition {
        let slot = try writerSlot("append")
        var tries = 0
        while true {
            let file = try last()
            let fits = try makesRoom(for: body.count, in: file)
            let (offset, isSealed) = try findEnd(of: file)
            if isSealed {
                _ = try successor(of: file, sealedAt: offset, needed: body.count)
                continue
            }
            if !fits {
                seal(file, at: offset, by: slot)
                continue
            }
            switch reserveAndCommit(body, isControl: isControl, by: slot, in: file, at: offset, tries: tries) {
            case .committed(let behind): return try file.resolve(upTo: behind)
            case .taken: continue
            case .voided: tries += 1
            }
        }
    }

    /// Appends only if nothing stands behind `expected`, which is to be at the end of what its caller has read. Nil:
    /// something does, and the caller must read on and decide again.
    func append(
        _ body: [UInt8], isControl: Bool = false, exactlyAt expected: LogPosition
    ) throws(CoordinationError) -> LogPosition? {
        while true {
            switch try tryAppending(body, isControl: isControl, exactlyAt: expected) {
            case .appended(let place): return place
            case .taken, .pending: return nil
            case .full(let file, let end): _ = try successor(of: file, sealedAt: end, needed: body.count)
            }
        }
    }

    /// What became of a record that was to stand exactly at a place.
    enum ExactAppend {
        case appended(LogPosition)
        /// Something stands there.
        case taken
        /// So does a reservation.
        case pending(Segment, RecordHeader, offset: Int)
        /// The file is sealed there, and there is no next one yet.
        case full(Segment, end: Int)
    }

    /// The same without waiting for anybody, and without making a file.
    /// `file` is the one that the place is in, if it is known.
    func tryAppending(
        _ body: [UInt8], isControl: Bool, exactlyAt expected: LogPosition, in file: Segment? = nil
    ) throws(CoordinationError) -> ExactAppend {
        let slot = try writerSlot("append")
        if let file, file.isEnd(expected), try makesRoom(for: body.count, in: file) {
            switch reserveAndCommit(body, isControl: isControl, by: slot, in: file, at: expected.offset, tries: 0) {
            case .committed(let behind): return .appended(file.place(behind, of: expected, isControl: isControl))
            case .voided: return .taken
            case .taken: break
            }
        }
        while true {
            guard let next = try advanceToAppend(expected) else { return .taken }
            let fits = try makesRoom(for: body.count, in: next.file)
            switch next.reading {
            case .empty: break
            case .record(let record) where record.state == .seal:
                return .full(next.file, end: next.place.offset)
            case .record(let record) where record.state == .reserved:
                return .pending(next.file, record, offset: next.place.offset)
            default: return .taken
            }
            if !fits {
                seal(next.file, at: next.place.offset, by: slot)
                continue
            }
            switch reserveAndCommit(
                body, isControl: isControl, by: slot, in: next.file, at: next.place.offset, tries: 0)
            {
            case .committed(let behind): return .appended(try next.file.resolve(upTo: behind))
            case .voided: return .taken
            // Another record, or a seal, our own perhaps: the next look tells.
            case .taken: continue
            }
        }
    }

    /// Where a header is broken there, the file is cut there first: the caller has read up to it, not beyond.
    private func advanceToAppend(_ expected: LogPosition) throws(CoordinationError) -> Place? {
        do {
            return try advance(expected)
        } catch {
            _ = try findEnd(of: try last())
            return try advance(expected)
        }
    }

    /// False: not in this one, but in the next, which is made as large as it takes.
    private func makesRoom(for bodyCount: Int, in file: Segment) throws(CoordinationError) -> Bool {
        guard surroundings.carrying != nil else {
            try checkFits(bodyCount, in: file)
            return true
        }
        return file.firstAppended + Segment.byteCount(bodyCount: bodyCount) <= file.capacity - 8
    }

    /// What fits into no file would go from one to the next for ever.
    func checkFits(_ bodyCount: Int, in file: Segment) throws(CoordinationError) {
        let room = min(file.capacity - SegmentHeader.size - 8, RecordHeader.largestUnits * 8)
        if Segment.byteCount(bodyCount: bodyCount) <= room { return }
        throw CoordinationError(
            .limitReached, item: file.name, operation: "append",
            cause: "a record of \(bodyCount) bytes is larger than the \(room) that a file of the log has room for")
    }

    private enum Attempt {
        case committed(behind: Int)
        /// Somebody else stands there now, or the file is sealed there: look again.
        case taken
        case voided
    }

    private func reserveAndCommit(
        _ body: [UInt8], isControl: Bool, by slot: Int, in file: Segment, at offset: Int, tries: Int
    ) -> Attempt {
        let units = Segment.byteCount(bodyCount: body.count) / 8
        var header = RecordHeader(
            state: .reserved, isControl: isControl, units: units, slot: slot, tries: tries)
        // The last word is kept for the seal.
        if offset + units * 8 > file.capacity - 8 {
            seal(file, at: offset, by: slot)
            return .taken
        }
        // In this order: where the place is still empty, no other process has appended behind it.
        if file.map.load64(offset + units * 8) != 0, file.map.load64(offset) == 0 {
            cutAtLostHeader(file, at: offset)
            return .taken
        }
        guard file.exchange(at: offset, nil, header) else { return .taken }
        file.writeBody(body, at: offset, units: units)
        let reserved = header
        header.state = .committed
        guard file.exchange(at: offset, reserved, header) else { return .voided }
        // Cut meanwhile: then it is in no file.
        if let cut = file.cut, cut <= offset { return .voided }
        return .committed(behind: offset + units * 8)
    }

    /// Ends a file, if nothing else stands there by now. True: it is sealed there.
    @discardableResult
    func seal(_ file: Segment, at offset: Int, by slot: Int) -> Bool {
        file.exchange(at: offset, nil, .seal(by: slot))
    }
}

extension Segment {
    /// Behind a record that was appended exactly at a place, which everything before it was read up to.
    fileprivate func place(_ offset: Int, of expected: LogPosition, isControl: Bool) -> LogPosition {
        LogPosition(
            file: expected.file, offset: offset, sequence: expected.sequence + (isControl ? 0 : 1),
            checksum: map.load64(offset - 8))
    }
}
