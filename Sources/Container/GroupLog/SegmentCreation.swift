import GroupSystemCalls

/// The creation of segments: each is built under a private name, complete and on the disk, then renamed to its number
/// without replacing. A process that comes second discards its file; a process that is stopped in between stops no
/// other.
extension SegmentedLog {
    private static let spare = Array("spare".utf8)

    /// Allocates the next segment now if the last one runs low. Called before a change, because a change must not fail
    /// for want of room once it is visible. `bodyCount` is the record's size, where that matters: `recordTooLarge` for
    /// a record that fits into no segment.
    package func ensureRoom(forBodyOf bodyCount: Int = 0) throws(LogFailure) {
        _ = try requireWriter("allocate")
        let segment = try last()
        try checkFits(bodyCount, in: segment)
        let (offset, isSealed) = try findEnd(of: segment)
        if isSealed { _ = try successor(of: segment, sealedAt: offset) }
        if isSealed || offset + Segment.byteCount(bodyCount: bodyCount) < segment.capacity / 4 * 3 { return }
        // The next segment takes the spare, and not before.
        if spareFollows.withLock({ $0 }) == segment.header.number { return }
        try translating("allocate", file: "\(name)/spare") { () throws(Errno) in
            if try directory.statusIfPresent(of: Self.spare) != nil { return }
            let name = try allocate(configuration.capacity)
            do throws(Errno) {
                try directory.rename(name, to: Self.spare, in: directory, replacing: false)
            } catch {
                try? directory.unlink(name)
                if error != .exists { throw error }
            }
        }
        spareFollows.withLock { $0 = segment.header.number }
    }

    /// Ensures room in the log, like `ensureRoom`. A removal may use the rest of the last segment where there is no
    /// room for another one.
    package func ensureRoomForRemoval(bodyCount: Int) throws(LogFailure) {
        do {
            try ensureRoom()
        } catch {
            // Other processes may append to the segment at the same time; hence four times the record's size.
            guard [.system(.noSpace), .system(.quotaExceeded)].contains(error.reason), let segment = try? last(),
                let end = try? findEnd(of: segment), !end.isSealed,
                end.offset + 4 * Segment.byteCount(bodyCount: bodyCount) < segment.capacity
            else { throw error }
        }
    }

    /// Creates the segment that follows `end`, or the first one, with its preamble. Its sequence numbers begin
    /// `leap` higher: as many records may have been lost behind a cut.
    /// Returns the segment that won the race, or the last one if this process was so late that its segment has been
    /// dropped since.
    package func makeSegment(
        after end: LogPosition?, leap: UInt64 = 0, preamble: SegmentPreamble? = nil
    ) throws(LogFailure) -> Segment {
        let writer = try requireWriter("create")
        let number = (end?.segment ?? 0) &+ 1
        let (base, isOver) = (end?.sequence ?? 0).addingReportingOverflow(leap)
        // No reader would take it.
        if isOver || base >= SegmentHeader.baseLimit || number > SegmentHeader.lastNumber {
            throw .damaged("\(name)/\(end?.segment ?? 0).log", operation: "create", .outOfNumbers)
        }
        let label = "\(name)/\(number).log"
        let capacity = preamble?.capacity ?? configuration.capacity
        try translating("create", file: label) { () throws(Errno) in
            var name = preamble == nil ? try claimSpare() : nil
            if name == nil { name = try allocate(capacity) }
            guard let name else { return }
            do throws(Errno) {
                let file = try FileDescriptor.open(name, in: directory, .readingAndWriting)
                let header = SegmentHeader(
                    salt: randomWord(), number: number, base: base,
                    previousEnd: UInt64(end?.offset ?? 0),
                    capacity: UInt64(capacity), identity: configuration.identity,
                    incarnation: configuration.incarnation, created: wallNanoseconds())
                try file.writeAll(header.encoded())
                if let preamble { try preamble.write(into: file, header, by: writer) }
                // The salt must be on the disk before the first record that uses it.
                try file.synchronize()
                try directory.rename(name, to: Array("\(number).log".utf8), in: directory, replacing: false)
                // In a compacted log, the process that makes a record durable syncs the directory: the others need not
                // wait for that.
                if preamble == nil { try directory.synchronize() }
                if end != nil { noteMadeSegment() }
            } catch {
                try? directory.unlink(name)
                if error != .exists { throw error }
            }
        }
        if let segment = try segment(number) { return segment }
        // Later segments exist, and nothing was ever appended to this one: it was this writer's, and no other process
        // uses it.
        if try segmentNumbers().last ?? 0 > number { try? directory.unlink(Array("\(number).log".utf8)) }
        return try last()
    }

    /// Allocates an empty file with all its blocks, under a name that no other process uses.
    private func allocate(_ capacity: Int) throws(Errno) -> [UInt8] {
        // Files that killed processes left here are as large as the one to be created.
        directory.removeUnfinished(among: try directory.entryNames(), where: configuration.isAbandoned)
        let name = configuration.unfinishedName()
        let file = try FileDescriptor.open(
            name, in: directory, [.readingAndWriting, .creating, .exclusively], mode: 0o600)
        do {
            try file.setMode(configuration.fileMode)
            file.avoidCopyOnWrite()
            try file.allocate(capacity)
        } catch {
            try? directory.unlink(name)
            throw error
        }
        return name
    }

    /// Renames the spare file to a private name; only one of several renames can succeed. Nil if there is no spare
    /// file.
    private func claimSpare() throws(Errno) -> [UInt8]? {
        let name = configuration.unfinishedName()
        do {
            try directory.rename(Self.spare, to: name, in: directory, replacing: false)
            if try directory.status(of: name).isRegularFile { return name }
            try directory.removeTree(name)
            return nil
        } catch {
            if error == .noSuchEntry { return nil }
            throw error
        }
    }
}

/// The preamble of a compacted log's segment: records of the state that all segments before it come to. The records are
/// not counted, so the sequence goes on.
package struct SegmentPreamble: Sendable {
    /// Makes the preamble of the next segment, as of an offset in a segment, with room for a record of `needed` bytes.
    /// Returns nil if the segment has to be read for it.
    package typealias Maker = (Segment, _ end: Int, _ needed: Int) throws(LogFailure) -> SegmentPreamble?
    package static let unknown: @Sendable (Segment, Int, Int) throws(LogFailure) -> SegmentPreamble? = { _, _, _ in nil
    }

    package var bodies: [[UInt8]]
    /// The size of the whole segment, in bytes.
    package var capacity: Int

    package init(bodies: [[UInt8]], capacity: Int) { (self.bodies, self.capacity) = (bodies, capacity) }

    /// Writes the records into a file that has no number yet, after its header.
    func write(into descriptor: borrowing FileDescriptor, _ header: SegmentHeader, by writer: Int) throws(Errno) {
        let map = try WritableMap(descriptor, size: Int(header.capacity))
        var offset = SegmentHeader.size
        for body in bodies {
            let units = Segment.byteCount(bodyCount: body.count) / 8
            if offset + units * 8 > map.size - 8 || units > RecordHeader.largestUnits { throw Errno.tooLarge }
            let record = RecordHeader(state: .committed, isControl: true, units: units, writer: writer, tries: 0)
            Segment.writeBody(body, into: map, at: offset, units: units, salt: header.salt)
            map.store64(offset, record.encoded(offset: offset, salt: header.salt))
            offset += units * 8
        }
        map.store64(SegmentHeader.preambleEnd, UInt64(offset))
        // The whole preamble is on the disk before any other process can open the segment.
        map.store64(SegmentHeader.durableMark, UInt64(offset))
    }

    /// Returns the size of the records in a segment, in bytes.
    package static func size(of bodies: [[UInt8]]) -> Int {
        bodies.reduce(0) { $0 + Segment.byteCount(bodyCount: $1.count) }
    }
}

extension Segment {
    /// The position after the records that the segment was created with.
    package var positionAfterPreamble: LogPosition {
        var position = LogPosition.start(of: header)
        position.offset = firstAppended
        if position.offset > SegmentHeader.size { position.checksum = map.load64(position.offset - 8) }
        return position
    }

    /// Returns whether nothing stands after a position of this segment by now, and something can. Cost: a few loads.
    package func isEnd(_ position: LogPosition) -> Bool {
        map.load64(position.offset) == 0 && position.segment == header.number && recordedEnd == nil && !map.isDamaged
            && map.load64(SegmentHeader.cut) == 0
    }

    /// Moves a position of this segment on over committed records, and passes each to `look`, without a look at other
    /// segments. Returns true if nothing stands after the position; false if there is something that needs a closer
    /// look, or where another segment begins.
    package func readOn(
        from position: inout LogPosition,
        _ look: (_ offset: Int, _ bodyCount: Int, _ sequence: UInt64, _ isControl: Bool) -> Void
    ) throws(LogFailure) -> Bool {
        if recordedEnd != nil || position.segment != header.number { return false }
        while cut == nil {
            guard case .record(let record) = try reading(at: position.offset) else { return true }
            switch record.state {
            case .seal, .reserved: return false
            case .aborted: position.offset += record.byteCount
            case .committed:
                let offset = position.offset
                guard let (count, checksum) = checkedBody(at: offset, record) else { return false }
                position.offset += record.byteCount
                if !record.isControl { position.sequence += 1 }
                position.checksum = checksum
                look(offset, count, position.sequence, record.isControl)
            }
        }
        return false
    }

    /// Passes the bodies of the committed records before an offset to `look`, with their sequence numbers. Records that
    /// do not fit their checksums are left out; returns how many. Linear in the records.
    package func forEachCommitted(
        before limit: Int, _ look: (_ body: [UInt8], _ sequence: UInt64, _ isControl: Bool) -> Void
    ) throws(LogFailure) -> Int {
        var (offset, broken, sequence) = (SegmentHeader.size, 0, header.base)
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
