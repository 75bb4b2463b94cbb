import GroupSystemCalls

/// How files of a log come into being: built under a private name, complete and on the disk, then renamed to their
/// number without replacing. Who comes second discards; who is stopped in between stops nobody.
extension SegmentedLog {
    private static let spare = Array("spare".utf8)

    /// A change must not fail for want of room once it is visible. Called before: when the last file runs low, the next
    /// one is allocated now. `bodyCount` is the record's size, where that matters: `limitReached` for one that fits
    /// into no file.
    func ensureRoom(forBodyOf bodyCount: Int = 0) throws(CoordinationError) {
        _ = try writerSlot("allocate")
        let file = try last()
        try checkFits(bodyCount, in: file)
        let (offset, isSealed) = try findEnd(of: file)
        if isSealed { _ = try successor(of: file, sealedAt: offset) }
        if isSealed || offset + Segment.byteCount(bodyCount: bodyCount) < file.capacity / 4 * 3 { return }
        try translating("\(name)/spare", "allocate") { () throws(Errno) in
            if try directory.statusIfPresent(of: Self.spare) != nil { return }
            let name = try allocate(surroundings.capacity)
            do throws(Errno) {
                try directory.rename(name, to: Self.spare, in: directory, replacing: false)
            } catch {
                try? directory.unlink(name)
                if error != .exists { throw error }
            }
        }
    }

    /// Makes the file that follows `end`, or the first one, leaving out `leap` numbers, with what it begins with.
    /// Returns the one that won, or, where this member was so late that it has been dropped since, the last one.
    func makeFile(
        after end: LogPosition?, leap: UInt64 = 0, preamble: SegmentPreamble? = nil
    ) throws(CoordinationError) -> Segment {
        let slot = try writerSlot("create")
        let number = (end?.file ?? 0) &+ 1
        let label = "\(name)/\(number).log"
        let capacity = preamble?.capacity ?? surroundings.capacity
        try translating(label, "create") { () throws(Errno) in
            var name = preamble == nil ? try claimSpare() : nil
            if name == nil { name = try allocate(capacity) }
            guard let name else { return }
            do throws(Errno) {
                let file = try FileDescriptor.open(name, in: directory, .readingAndWriting)
                let header = SegmentHeader(
                    salt: randomWord(), number: number, base: (end?.sequence ?? 0) + leap,
                    previousEnd: UInt64(end?.offset ?? 0),
                    capacity: UInt64(capacity), container: surroundings.container,
                    incarnation: surroundings.incarnation, created: wallNanoseconds())
                try file.writeAll(header.encoded())
                if let preamble { try preamble.write(into: file, header, by: slot) }
                // The salt must be on the disk before the first record that uses it.
                try file.synchronize()
                try directory.rename(name, to: Array("\(number).log".utf8), in: directory, replacing: false)
                // Of what is compacted, who says that something is durable does it: the others need not wait for it.
                if preamble == nil { try directory.synchronize() }
                if end != nil { hasMadeFile.withLock { $0 = true } }
            } catch {
                try? directory.unlink(name)
                if error != .exists { throw error }
            }
        }
        if let file = try file(number) { return file }
        // Later ones are there, and nothing was ever appended to this one: it was ours, and nobody's.
        if try fileNumbers().last ?? 0 > number { try? directory.unlink(Array("\(number).log".utf8)) }
        return try last()
    }

    private func makeUnfinishedName() -> [UInt8] {
        UnfinishedName.bytes(slot: surroundings.slot ?? 0, nonce: surroundings.nonce, randomBytes(8))
    }

    /// An empty file with all its blocks, under a name that nobody else uses.
    private func allocate(_ capacity: Int) throws(Errno) -> [UInt8] {
        // What those left who died here is as large as what is to be made.
        directory.removeUnfinished(among: try directory.entryNames(), where: surroundings.isAbandoned)
        let name = makeUnfinishedName()
        let file = try FileDescriptor.open(
            name, in: directory, [.readingAndWriting, .creating, .exclusively], mode: 0o600)
        do {
            try file.setMode(surroundings.fileMode)
            file.avoidCopyOnWrite()
            try file.allocate(capacity)
        } catch {
            try? directory.unlink(name)
            throw error
        }
        return name
    }

    /// Only one rename away from the spare can succeed.
    private func claimSpare() throws(Errno) -> [UInt8]? {
        let name = makeUnfinishedName()
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

/// What a file of a log that is compacted begins with: records that say what all before it came to. They are not
/// counted, so the sequence goes on.
struct SegmentPreamble: Sendable {
    /// As of a place in a file, for the next one, with room for a record of so many bytes.
    /// Nil: the file is to be read for it.
    typealias Maker = (Segment, _ end: Int, _ needed: Int) throws(CoordinationError) -> SegmentPreamble?
    static let unknown: @Sendable (Segment, Int, Int) throws(CoordinationError) -> SegmentPreamble? = { _, _, _ in nil }

    var bodies: [[UInt8]]
    /// Of the whole file, in bytes.
    var capacity: Int

    /// Into a file that has no name yet, behind its header.
    func write(into descriptor: borrowing FileDescriptor, _ header: SegmentHeader, by slot: Int) throws(Errno) {
        let map = try WritableMap(descriptor, size: Int(header.capacity))
        var offset = SegmentHeader.size
        for body in bodies {
            let units = Segment.byteCount(bodyCount: body.count) / 8
            if offset + units * 8 > map.size - 8 || units > RecordHeader.largestUnits { throw Errno.tooLarge }
            let record = RecordHeader(state: .committed, isControl: true, units: units, slot: slot, tries: 0)
            Segment.writeBody(body, into: map, at: offset, units: units, salt: header.salt)
            map.store64(offset, record.encoded(place: offset, salt: header.salt))
            offset += units * 8
        }
        map.store64(SegmentHeader.carried, UInt64(offset))
        // All of it is on the disk before anybody sees it.
        map.store64(SegmentHeader.durableMark, UInt64(offset))
    }

    /// As many bytes as the records take, in a file.
    static func size(of bodies: [[UInt8]]) -> Int {
        bodies.reduce(0) { $0 + Segment.byteCount(bodyCount: $1.count) }
    }
}

extension Segment {
    /// Behind what it was made with.
    var placeBehindCarried: LogPosition {
        var place = LogPosition.start(of: header)
        place.offset = firstAppended
        if place.offset > SegmentHeader.size { place.checksum = map.load64(place.offset - 8) }
        return place
    }

    /// Nothing stands behind a place of this file by now, and something can. A few loads.
    func isEnd(_ place: LogPosition) -> Bool {
        map.load64(place.offset) == 0 && place.file == header.number && recordedEnd == nil && !map.isDamaged
            && map.load64(SegmentHeader.cut) == 0
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

extension SegmentedLog {
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
