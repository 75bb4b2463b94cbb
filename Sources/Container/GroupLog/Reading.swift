import GroupSystemCalls

extension SegmentedLog {
    package typealias RecordPosition = (position: LogPosition, segment: Segment, reading: RecordHeader.Reading)

    /// Finds the position of the record that follows a position, or where it will stand: skips aborted records
    /// and the ends of segments. A seal is returned if the next segment is not created yet. Returns nil if the position
    /// is lost.
    package func advance(_ position: LogPosition) throws(LogFailure) -> RecordPosition? {
        var current = position
        while true {
            guard let segment = try segment(current.segment) else {
                if try isDropped(current.segment) { return nil }
                throw .damaged("\(name)/\(current.segment).log", operation: "read", .missing)
            }
            // Records after the end of a segment that was recovered or cut never happened.
            let end = segment.end
            if let end, current.offset >= end {
                if current.offset > end { return nil }
                guard let next = try self.segment(current.segment &+ 1) else {
                    return try isDropped(current.segment &+ 1) ? nil : (current, segment, .record(.seal(by: 0)))
                }
                segment.map.releasePages()
                current = .start(of: next.header)
                continue
            }
            let reading = try reading(of: segment, at: current.offset)
            guard case .record(let record) = reading else { return (current, segment, reading) }
            // An end within a record, which only damage makes: the record does not count. A reader that took it would
            // be behind the end, lose its position, and begin anew for ever.
            if let end, record.state != .seal, current.offset + record.byteCount > end {
                current.offset = end
                continue
            }
            switch record.state {
            case .aborted: current.offset += record.byteCount
            case .seal:
                // Only a writer creates the next segment: reading must go on while the disk refuses that.
                guard let next = try self.segment(current.segment &+ 1) else {
                    return try isDropped(current.segment &+ 1) ? nil : (current, segment, reading)
                }
                segment.map.releasePages()
                current = .start(of: next.header)
            case .reserved, .committed: return (current, segment, reading)
            }
        }
    }

    /// Returns whether a segment was dropped: a later one exists, and this one does not.
    private func isDropped(_ number: UInt64) throws(LogFailure) -> Bool {
        guard let newest = try segmentNumbers().last, newest > number else { return false }
        // A reader that begins anew is to begin there: the segment that was the last one, as far as this process has
        // looked, may still be open.
        noteLast(newest)
        return true
    }

    private func reading(of segment: Segment, at offset: Int) throws(LogFailure) -> RecordHeader.Reading {
        do {
            return try segment.reading(at: offset)
        } catch {
            if isTorn(segment, at: offset) { return .empty }
            throw error
        }
    }

    /// The result of reading at a position.
    package enum Step: Sendable {
        case entry(LogEntry)
        /// No record yet.
        case end
        /// Counted records are missing here: the segment was cut because of damage. The log goes on at this position.
        case gap(LogPosition)
        /// The position is not in the log any more: its segment was dropped, or cut before it.
        case lost
    }

    /// Returns the next step. Waits at most the patience of a reservation that its writer left behind. At the end of
    /// the log, a reader that may not write opens the segments again and looks once more.
    package func step(behind position: LogPosition) throws(LogFailure) -> Step {
        let step = try knownStep(behind: position)
        guard case .end = step, isOnlyForReading else { return step }
        try lookAnew()
        return try knownStep(behind: position)
    }

    /// The form of `step(behind:)` that uses the segments that are open. If `waits` is false, a reservation counts as
    /// the end.
    package func knownStep(behind position: LogPosition, waits: Bool = true) throws(LogFailure) -> Step {
        while true {
            guard let next = try advance(position) else { return .lost }
            let segment = next.segment
            var current = next.position
            if current.sequence != position.sequence { return .gap(current) }
            guard case .record(let record) = next.reading else { return .end }
            switch record.state {
            case .seal, .aborted: return .end
            case .reserved: if !waits || !awaits(record, in: segment, at: current.offset) { return .end }
            case .committed:
                guard let (body, checksum) = segment.body(at: current.offset, record) else {
                    if isTorn(segment, at: current.offset) { return .end }
                    throw .damaged(segment.name, operation: "read", .brokenChecksum(offset: current.offset))
                }
                current.offset += record.byteCount
                if !record.isControl { current.sequence += 1 }
                current.checksum = checksum
                return .entry(LogEntry(body: body, isControl: record.isControl, position: current))
            }
        }
    }

    private func awaits(_ record: RecordHeader, in segment: Segment, at offset: Int) -> Bool {
        segment.awaitOrAbort(record, at: offset, sleeping: configuration.awaitCommit)
    }

    /// Returns the position after a record that does not fit its checksum; nil if no such record stands there.
    package func positionBehindBroken(_ position: LogPosition) throws(LogFailure) -> LogPosition? {
        guard let next = try advance(position), case .record(let record) = next.reading, record.state == .committed
        else { return nil }
        var current = next.position
        current.offset += record.byteCount
        if !record.isControl { current.sequence += 1 }
        current.checksum = next.segment.map.load64(current.offset - 8)
        return current
    }

    /// Returns whether `step(behind:)` would have a record to return or a reservation to wait for. Cost: one load,
    /// except for aborted records and the ends of segments. A reader that may not write always gets false, and has to
    /// look again after a while.
    package func hasMore(behind position: LogPosition) -> Bool {
        if isOnlyForReading { return false }
        // The reader that reads on finds and reports an error or a lost position.
        guard let next = try? advance(position) else { return true }
        if next.position.sequence != position.sequence { return true }
        guard case .record(let record) = next.reading else { return false }
        return record.state != .seal
    }

    /// Returns whether a kept position belongs to this log: a record ends there, with the sequence number and the
    /// checksum of the position. Linear in the records before it in its segment.
    package func contains(_ position: LogPosition) throws(LogFailure) -> Bool {
        if isOnlyForReading { try lookAnew() }
        guard let segment = try segment(position.segment), position.offset <= segment.end ?? segment.capacity else {
            return false
        }
        if segment.header.number == unrecovered, segment.end == nil {
            if try endOfUnrecovered(segment).offset < position.offset { return false }
        }
        return try segment.resolve(upTo: position.offset) == position
    }

    /// Returns the position after everything that is written, once all records before it are committed or aborted.
    package func end() throws(LogFailure) -> LogPosition {
        if isOnlyForReading { try lookAnew() }
        while true {
            let segment = try last()
            if segment.header.number == unrecovered { return try endOfUnrecovered(segment) }
            let position = try settle(segment, upTo: .max)
            if segment.cut != nil {
                if try self.segment(segment.header.number &+ 1) == nil { return position }
                continue
            }
            switch try segment.reading(at: position.offset) {
            case .empty: return position
            // Another writer began a record meanwhile: settle that record, too.
            case .record(let record) where record.state != .seal:
                if isOnlyForReading { return position }
                continue
            default: break
            }
            if try self.segment(segment.header.number &+ 1) == nil { return position }
        }
    }

    /// Returns the oldest position that is kept.
    package func start() throws(LogFailure) -> LogPosition {
        // The oldest segment may be dropped in between.
        for number in try segmentNumbers() {
            if let segment = try segment(number) { return .start(of: segment.header) }
        }
        return .start(of: try last().header)
    }

    /// Returns a position at or before the end, without waiting for a reservation: every later record is appended after
    /// it.
    package func tail() -> (segment: UInt64, offset: Int) {
        guard let segment = try? last(), let end = try? findEnd(of: segment) else { return (1, SegmentHeader.size) }
        return (segment.header.number, end.offset)
    }
}
