import GroupSystemCalls

extension SegmentedLog {
    typealias Place = (place: LogPosition, file: Segment, reading: RecordHeader.Reading)

    /// Where the record behind a place stands, or will stand: over voids and the ends of files. A seal is where the
    /// next file is not made yet. Nil where the place is lost.
    func advance(_ position: LogPosition) throws(CoordinationError) -> Place? {
        var place = position
        while true {
            guard let file = try file(place.file) else {
                if try isDropped(place.file) { return nil }
                throw .damaged("\(name)/\(place.file).log", operation: "read", "the file is gone")
            }
            // What may stand behind the end of a file that was recovered, or cut, never happened.
            if let end = file.end, place.offset >= end {
                if place.offset > end { return nil }
                guard let next = try self.file(place.file &+ 1) else {
                    return try isDropped(place.file &+ 1) ? nil : (place, file, .record(.seal(by: 0)))
                }
                place = .start(of: next.header)
                continue
            }
            let reading = try reading(of: file, at: place.offset)
            guard case .record(let record) = reading else { return (place, file, reading) }
            switch record.state {
            case .void: place.offset += record.byteCount
            case .seal:
                // The next file is made by who appends: reading must go on while the disk refuses that.
                guard let next = try self.file(place.file &+ 1) else {
                    return try isDropped(place.file &+ 1) ? nil : (place, file, reading)
                }
                place = .start(of: next.header)
            case .reserved, .committed: return (place, file, reading)
            }
        }
    }

    /// A later file is there, and this one is not.
    private func isDropped(_ number: UInt64) throws(CoordinationError) -> Bool {
        try fileNumbers().last.map { $0 > number } ?? false
    }

    private func reading(of file: Segment, at offset: Int) throws(CoordinationError) -> RecordHeader.Reading {
        do {
            return try file.reading(at: offset)
        } catch {
            if isTorn(file, at: offset) { return .empty }
            throw error
        }
    }

    /// What comes behind a place.
    enum Step: Sendable {
        case entry(LogEntry)
        /// Nothing yet.
        case end
        /// Records that were counted are missing here: the file was cut, because of damage. It goes on at this place.
        case gap(LogPosition)
        /// The place is not in the log any more: its file was dropped, or cut before it.
        case lost
    }

    /// The next step. Waits at most the patience of a reservation that its member left behind. At the end, who may only
    /// read opens the files anew and looks once more.
    func step(behind position: LogPosition) throws(CoordinationError) -> Step {
        let step = try knownStep(behind: position)
        guard case .end = step, isOnlyForReading else { return step }
        try lookAnew()
        return try knownStep(behind: position)
    }

    /// The same, in the files that are open.
    /// With `waits` false, what is reserved is the end for now.
    func knownStep(behind position: LogPosition, waits: Bool = true) throws(CoordinationError) -> Step {
        while true {
            guard let next = try advance(position) else { return .lost }
            let file = next.file
            var place = next.place
            if place.sequence != position.sequence { return .gap(place) }
            guard case .record(let record) = next.reading else { return .end }
            switch record.state {
            case .seal, .void: return .end
            case .reserved: if !waits || !file.awaitOrVoid(record, at: place.offset) { return .end }
            case .committed:
                guard let (body, checksum) = file.body(at: place.offset, record) else {
                    if isTorn(file, at: place.offset) { return .end }
                    throw .damaged(
                        file.name, operation: "read", "the record at byte \(place.offset) does not fit its checksum")
                }
                place.offset += record.byteCount
                if !record.isControl { place.sequence += 1 }
                place.checksum = checksum
                return .entry(LogEntry(body: body, isControl: record.isControl, position: place))
            }
        }
    }

    /// The place behind a record that does not fit its checksum; nil where none stands there.
    func placeBehindBroken(_ position: LogPosition) throws(CoordinationError) -> LogPosition? {
        guard let next = try advance(position), case .record(let record) = next.reading, record.state == .committed
        else { return nil }
        var place = next.place
        place.offset += record.byteCount
        if !record.isControl { place.sequence += 1 }
        place.checksum = next.file.map.load64(place.offset - 8)
        return place
    }

    /// Whether `step(behind:)` would have something to give or to wait for. One load, but for voids and ends of files.
    /// A reader that is no member is not told, and looks again after a while.
    func hasMore(behind position: LogPosition) -> Bool {
        if isOnlyForReading { return false }
        // An error is found, and said, by the reader that reads on; so is a place that is lost.
        guard let next = try? advance(position) else { return true }
        if next.place.sequence != position.sequence { return true }
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
            let position = try settle(file, upTo: .max)
            if file.cut != nil {
                if try self.file(file.header.number &+ 1) == nil { return position }
                continue
            }
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
        // The oldest one may be dropped in between.
        for number in try fileNumbers() {
            if let file = try file(number) { return .start(of: file.header) }
        }
        return .start(of: try last().header)
    }

    /// A place at or before the end, without waiting for anybody: everything appended from now on lies behind it.
    func tail() -> (file: UInt64, offset: Int) {
        guard let file = try? last(), let end = try? findEnd(of: file) else { return (1, SegmentHeader.size) }
        return (file.header.number, end.offset)
    }
}
