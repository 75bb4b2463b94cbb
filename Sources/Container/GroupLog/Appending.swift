import GroupSystemCalls

extension SegmentedLog {
    /// Appends a record and returns the position right after it. The record is visible, but not yet durable. Wait-free
    /// except for earlier reservations of other writers: each of those gets about 2 ms. Constant time except for the
    /// scan of the records since the last call.
    package func append(_ body: [UInt8], isControl: Bool = false) throws(LogFailure) -> LogPosition {
        let writer = try requireWriter("append")
        var tries = 0
        while true {
            let segment = try last()
            let fits = try makesRoom(for: body.count, in: segment)
            let (offset, isSealed) = try findEnd(of: segment)
            if isSealed {
                _ = try successor(of: segment, sealedAt: offset, needed: body.count)
                continue
            }
            if !fits {
                seal(segment, at: offset, by: writer)
                continue
            }
            switch reserveAndCommit(body, isControl: isControl, by: writer, in: segment, at: offset, tries: tries) {
            case .committed(let behind): return try segment.resolve(upTo: behind)
            case .occupied: continue
            case .aborted: tries += 1
            }
        }
    }

    /// Appends a record only if nothing stands after `expected`, the end of what the caller has read. Returns nil if
    /// something does; then the caller must read on and decide again. With `wakesReaders` false, the caller wakes the
    /// readers later, and some other process does if the caller is killed before.
    package func append(
        _ body: [UInt8], isControl: Bool = false, exactlyAt expected: LogPosition, wakesReaders: Bool = true
    ) throws(LogFailure) -> LogPosition? {
        while true {
            switch try tryAppending(
                body, isControl: isControl, exactlyAt: expected, wakesReaders: wakesReaders)
            {
            case .appended(let position): return position
            case .occupied, .pending: return nil
            case .full(let segment, let end): _ = try successor(of: segment, sealedAt: end, needed: body.count)
            }
        }
    }

    /// The result of appending a record exactly at a position.
    package enum ExactAppend {
        case appended(LogPosition)
        /// Another record stands there.
        case occupied
        /// A reservation of another writer stands there.
        case pending(Segment, RecordHeader, offset: Int)
        /// The segment is sealed there, and there is no next one yet.
        case full(Segment, end: Int)
    }

    /// The form of `append(_:isControl:exactlyAt:)` that neither waits for another process nor creates a segment.
    /// `segment` is the segment of the position, if the caller has it.
    package func tryAppending(
        _ body: [UInt8], isControl: Bool, exactlyAt expected: LogPosition, in segment: Segment? = nil,
        wakesReaders: Bool = true
    ) throws(LogFailure) -> ExactAppend {
        let writer = try requireWriter("append")
        if let segment, segment.isEnd(expected), try makesRoom(for: body.count, in: segment) {
            switch reserveAndCommit(
                body, isControl: isControl, by: writer, in: segment, at: expected.offset, tries: 0, wakesReaders)
            {
            case .committed(let behind): return .appended(segment.position(behind, of: expected, isControl: isControl))
            case .aborted: return .occupied
            case .occupied: break
            }
        }
        while true {
            guard let next = try advanceToAppend(expected) else { return .occupied }
            let fits = try makesRoom(for: body.count, in: next.segment)
            switch next.reading {
            case .empty: break
            case .record(let record) where record.state == .seal:
                return .full(next.segment, end: next.position.offset)
            case .record(let record) where record.state == .reserved:
                return .pending(next.segment, record, offset: next.position.offset)
            default: return .occupied
            }
            if !fits {
                seal(next.segment, at: next.position.offset, by: writer)
                continue
            }
            switch reserveAndCommit(
                body, isControl: isControl, by: writer, in: next.segment, at: next.position.offset, tries: 0,
                wakesReaders)
            {
            case .committed(let behind): return .appended(try next.segment.resolve(upTo: behind))
            case .aborted: return .occupied
            // Another record or a seal, perhaps this writer's own, stands there: look again.
            case .occupied: continue
            }
        }
    }

    /// Advances as `advance` does. Where a record header is broken, first cuts the segment there: the caller has read
    /// up to that position, and not beyond it.
    private func advanceToAppend(_ expected: LogPosition) throws(LogFailure) -> RecordPosition? {
        do {
            return try advance(expected)
        } catch {
            _ = try findEnd(of: try last())
            return try advance(expected)
        }
    }

    /// Returns false if the record must go into the next segment, which is created as large as needed (compacted logs
    /// only).
    private func makesRoom(for bodyCount: Int, in segment: Segment) throws(LogFailure) -> Bool {
        guard configuration.makePreamble != nil else {
            try checkFits(bodyCount, in: segment)
            return true
        }
        return segment.firstAppended + Segment.byteCount(bodyCount: bodyCount) <= segment.capacity - 8
    }

    /// Throws `recordTooLarge` for a record that fits into no segment: the search for room would never end.
    func checkFits(_ bodyCount: Int, in segment: Segment) throws(LogFailure) {
        let room = min(segment.capacity - SegmentHeader.size - 8, RecordHeader.largestUnits * 8)
        if Segment.byteCount(bodyCount: bodyCount) <= room { return }
        throw LogFailure(.recordTooLarge(byteCount: bodyCount, room: room), file: segment.name, operation: "append")
    }

    private enum Attempt {
        case committed(behind: Int)
        /// Another record or a seal stands there by now: look again.
        case occupied
        case aborted
    }

    private func reserveAndCommit(
        _ body: [UInt8], isControl: Bool, by writer: Int, in segment: Segment, at offset: Int, tries: Int,
        _ wakesReaders: Bool = true
    ) -> Attempt {
        let units = Segment.byteCount(bodyCount: body.count) / 8
        var header = RecordHeader(
            state: .reserved, isControl: isControl, units: units, writer: writer, tries: tries)
        // The last word is kept for the seal.
        if offset + units * 8 > segment.capacity - 8 {
            seal(segment, at: offset, by: writer)
            return .occupied
        }
        // The order matters: if the position is still empty after the first load, no other process has appended after
        // it.
        if segment.map.load64(offset + units * 8) != 0, segment.map.load64(offset) == 0 {
            cutAtLostHeader(segment, at: offset)
            return .occupied
        }
        guard segment.exchange(at: offset, nil, header) else { return .occupied }
        segment.writeBody(body, at: offset, units: units)
        if wakesReaders { configuration.wakeFirstReader() }
        let reserved = header
        header.state = .committed
        let isCommitted = segment.exchange(at: offset, reserved, header)
        if wakesReaders { configuration.wakeOtherReaders() }
        guard isCommitted else { return .aborted }
        // If the segment was cut before this position meanwhile, the record is in no segment.
        if let cut = segment.cut, cut <= offset { return .aborted }
        return .committed(behind: offset + units * 8)
    }

    /// Seals a segment if nothing else stands at the offset by now. Returns true if this call sealed it.
    @discardableResult
    func seal(_ segment: Segment, at offset: Int, by writer: Int) -> Bool {
        segment.exchange(at: offset, nil, .seal(by: writer))
    }
}

extension Segment {
    /// The position after a record that was appended exactly at a position up to which everything was read.
    fileprivate func position(_ offset: Int, of expected: LogPosition, isControl: Bool) -> LogPosition {
        LogPosition(
            segment: expected.segment, offset: offset, sequence: expected.sequence + (isControl ? 0 : 1),
            checksum: map.load64(offset - 8))
    }
}
