import GroupBytes
package import GroupSystemCalls

/// Reads what can be read of one segment, whatever is wrong with it, from its bytes alone: also if the file is too
/// short or its first page is broken. After damage, reading goes on at the next record that fits its checksum, which is
/// keyed by the segment's salt and the record's offset. For segments that no process writes to.
package struct SegmentSalvage: Sendable {
    package let name: String
    package let number: UInt64
    /// The first page; not reliable if that is damaged.
    package let header: SegmentHeader
    /// The damage of the segment as a whole.
    package let fault: SegmentDamage?
    /// Whether it belongs to another log: nothing in it is this log's.
    package let isForeign: Bool
    /// Whether its first page is broken.
    private let isGuessed: Bool
    /// Returns whether a body is a control record's, for records whose header is broken.
    private let isControl: @Sendable (_ body: [UInt8]) -> Bool
    private let map: SharedMap
    /// The ranges of a file with holes that have content, ascending; nil for a file without holes. Holes are not read.
    private let contents: [Range<Int>]?
    /// The end of the segment according to the next one.
    private let limit: Int
    /// From this offset on, broken records are the segment's end, because it was not recovered since a boot; nil if it
    /// was.
    private let tornFrom: Int?

    /// The result of reading the segment.
    package struct Reading: Sendable {
        /// In ascending order.
        package internal(set) var faults: [SegmentDamage] = []
        /// The number of faults that made something unreadable.
        package internal(set) var lost = 0
        var records = 0
        /// The position of the first fault, or else of the end, with the sequence number of the record before it.
        package internal(set) var good: LogPosition
        /// The sequence number of the last record.
        package internal(set) var last: UInt64
        /// Whether a record at its end was begun and not finished.
        package internal(set) var isTorn = false
        /// Whether it was read up to its end, rather than to where the file was cut short.
        package internal(set) var isComplete = false

        init(_ start: LogPosition) { (good, last) = (start, start.sequence) }
    }

    /// Opens a segment for salvage. `incarnation` is the present one. Errors: `newerFormat`; `damaged` if nothing in it
    /// can be read; those of opening the file. System calls: openat2, fstat, mmap
    package init(
        _ number: UInt64, of log: String, in directory: borrowing FileDescriptor, identity: [UInt8],
        incarnation: [UInt8], endingAt limit: Int?, isControl: @escaping @Sendable (_ body: [UInt8]) -> Bool
    ) throws(LogFailure) {
        name = "\(log)/\(number).log"
        self.number = number
        self.isControl = isControl
        let descriptor = try translating("read", file: name) { () throws(Errno) in
            try FileDescriptor.open(Array("\(number).log".utf8), in: directory, [.reading, .nonBlocking])
        }
        let status = try translating("read", file: name) { () throws(Errno) in try descriptor.status() }
        if !status.isRegularFile { throw .damaged(name, operation: "read", .notAFile) }
        let size = status.size
        let page = try translating("read", file: name) { () throws(Errno) in
            var page = [UInt8](repeating: 0, count: SegmentHeader.size)
            return Array(page[..<(try descriptor.read(into: &page))])
        }
        let readable: UInt64
        do {
            let decoded = try SegmentHeader(decoding: page)
            header = decoded.withReachableBase
            isGuessed = false
            isForeign = header.number != number || header.identity != identity
            readable = min(size, header.capacity)
            fault =
                isForeign
                ? SegmentDamage(file: name, offset: nil, .foreign)
                : !header.hasPossiblePreviousEnd
                    ? SegmentDamage(file: name, offset: nil, .unconnected)
                    : decoded.isOutOfNumbers
                        ? SegmentDamage(file: name, offset: nil, .outOfNumbers)
                        : size >= header.capacity
                            ? nil
                            : SegmentDamage(file: name, offset: nil, .cutShort(size: size, capacity: header.capacity))
        } catch {
            if case .newer(let format) = error {
                throw LogFailure(.newerFormat(format), file: name, operation: "read")
            }
            guard let guess = SegmentHeader(guessedFrom: page) else { throw Self.nothing(name) }
            (header, isForeign, readable, isGuessed) = (guess, false, size, true)
            fault = SegmentDamage(file: name, offset: nil, .brokenHeader)
        }
        guard readable >= UInt64(SegmentHeader.size) + 8, readable < 1 << 32 else { throw Self.nothing(name) }
        map = try translating("map", file: name) { () throws(Errno) in
            try SharedMap(descriptor, size: Int(readable) / 8 * 8)
        }
        contents = Self.contents(of: descriptor, status, size: Int(readable))
        self.limit = limit ?? .max
        tornFrom =
            isGuessed || header.incarnation == incarnation
                || RecoveryDecision(of: map, in: incarnation) == .goesOn
            ? nil : Int(clamping: map.load64(SegmentHeader.durableMark))
        // A record that fits its checksum shows that the salt is right.
        if isGuessed, read({ _, _, _ in }).records == 0 { throw Self.nothing(name) }
    }

    /// The number of ranges that are distinguished; what follows counts as content.
    private static let mostContents = 65_536

    private static func contents(
        of descriptor: borrowing FileDescriptor, _ status: FileStatus, size: Int
    ) -> [Range<Int>]? {
        if status.allocated >= UInt64(size) { return nil }
        var (contents, offset): ([Range<Int>], Int) = ([], 0)
        while let content = descriptor.nextContent(from: offset, upTo: size) {
            if contents.count == mostContents {
                contents.append(content.lowerBound..<size)
                break
            }
            contents.append(content)
            offset = content.upperBound
        }
        return contents
    }

    /// Returns the first offset at or after another at which there is content; the file's size if there is none.
    private func contentStart(from offset: Int) -> Int {
        guard let contents else { return offset }
        var (low, high) = (0, contents.count)
        while low < high {
            let middle = (low + high) / 2
            if contents[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low < contents.count ? max(offset, contents[low].lowerBound / 8 * 8) : map.size
    }

    private static func nothing(_ name: String) -> LogFailure {
        .damaged(name, operation: "read", .unreadable)
    }

    /// An upper limit of the records of any segment.
    package static let mostRecords = UInt64(1 << 32 / Segment.byteCount(bodyCount: 0) + 1)

    /// An upper limit of the records that this segment had when it was whole.
    package var mostRecords: UInt64 {
        isGuessed ? Self.mostRecords : header.capacity / UInt64(Segment.byteCount(bodyCount: 0)) + 1
    }

    /// Whether a synchronization of the segment failed.
    package var hasFailedSync: Bool { map.load64(SegmentHeader.syncFailed) != 0 }

    /// The offset after the records that the segment was created with.
    private var carriedEnd: Int { max(Int(clamping: map.load64(SegmentHeader.preambleEnd)), SegmentHeader.size) }

    /// Returns whether all records that the segment was created with can be read.
    package func isWholeAtBeginning(_ reading: Reading) -> Bool {
        reading.good.offset >= carriedEnd && carriedEnd < map.size
    }

    /// Passes every record that can be read to `look`. Linear in the segment.
    package func read(_ look: (_ body: [UInt8], _ sequence: UInt64, _ isControl: Bool) -> Void) -> Reading {
        var position = LogPosition.start(of: header)
        var reading = Reading(position)
        while position.offset <= map.size - 8, position.offset < limit {
            note(position, &reading)
            switch RecordHeader.decode(map.load64(position.offset), offset: position.offset, salt: header.salt) {
            case .record(let record) where record.state == .seal:
                reading.isComplete = true
                return reading
            case .record(let record) where position.offset + record.byteCount <= map.size:
                // The last record may have been begun and never finished.
                if record.state == .reserved { reading.isTorn = true }
                if record.state == .committed {
                    reading.isTorn = false
                    if !record.isControl { position.sequence += 1 }
                    if let body = body(at: position.offset, count: record.byteCount) {
                        reading.records += 1
                        look(body, position.sequence, record.isControl)
                    } else if !note(.brokenChecksum(offset: position.offset), position, &reading) {
                        return reading
                    } else {
                        reading.lost += 1
                    }
                }
                position.offset += record.byteCount
            case .empty:
                // Either there are zeros as far as the file reaches, or a process still writes.
                let next = nextRecord(behind: position.offset)
                if map.load64(position.offset) != 0 { continue }
                guard let next, note(.lostRecordHeader(offset: position.offset), position, &reading)
                else {
                    reading.isComplete = true
                    return reading
                }
                reading.lost += 1
                position = skip(to: next, from: position)
            case .record, .damaged:
                guard note(.brokenRecordHeader(offset: position.offset), position, &reading) else {
                    return reading
                }
                // Only the header may be broken: the record's length stands after it.
                let count = bodyCount(at: position.offset)
                if let count, let body = body(at: position.offset, count: Segment.byteCount(bodyCount: count)) {
                    reading.records += 1
                    let isControl = position.offset < carriedEnd || isControl(body)
                    if !isControl { position.sequence += 1 }
                    look(body, position.sequence, isControl)
                    position.offset += Segment.byteCount(bodyCount: count)
                    continue
                }
                reading.lost += 1
                guard let next = nextRecord(behind: position.offset) else { return reading }
                position = skip(to: next, from: position)
            }
        }
        note(position, &reading)
        return reading
    }

    private func note(_ position: LogPosition, _ reading: inout Reading) {
        reading.last = position.sequence
        if reading.faults.isEmpty { reading.good = position }
    }

    /// Records a fault. Returns false if the segment ends here instead, because it was not recovered since a boot.
    private func note(_ damage: LogDamage, _ position: LogPosition, _ reading: inout Reading) -> Bool {
        if let tornFrom, position.offset >= tornFrom {
            reading.isTorn = true
            return false
        }
        reading.faults.append(SegmentDamage(file: name, offset: position.offset, damage))
        return true
    }

    /// Skips damage. As many sequence numbers are left out as records may have stood there, so that no number is used
    /// twice.
    private func skip(to offset: Int, from position: LogPosition) -> LogPosition {
        var position = position
        if position.offset >= carriedEnd {
            position.sequence += UInt64((offset - position.offset) / Segment.byteCount(bodyCount: 0) + 1)
        }
        position.offset = offset
        return position
    }

    private func bodyCount(at offset: Int) -> Int? {
        if offset + 16 > map.size { return nil }
        let count = Int(map.load32(offset + 8))
        return offset + Segment.byteCount(bodyCount: count) <= map.size ? count : nil
    }

    /// Returns a record's body; nil if it does not fit its checksum.
    private func body(at offset: Int, count byteCount: Int) -> [UInt8]? {
        guard offset + byteCount <= map.size, let count = bodyCount(at: offset),
            Segment.byteCount(bodyCount: count) == byteCount
        else { return nil }
        let body = map.bytes(offset + 12, count: count)
        let stored = map.load64(offset + byteCount - 8)
        return stored == SipHash(key: (header.salt, UInt64(offset))).hash(body) ? body : nil
    }

    /// Returns the offset of the next committed record that fits its checksum. Linear in the bytes.
    private func nextRecord(behind offset: Int) -> Int? {
        var offset = offset + 8
        while offset <= map.size - 24, offset < limit {
            if offset.isMultiple(of: 4_096) {
                let start = contentStart(from: offset)
                if start > offset {
                    offset = start
                    continue
                }
            }
            // Most of a segment is zeros.
            if offset.isMultiple(of: 4_096), offset + 4_096 <= map.size, !map.hasBits(offset, count: 4_096) {
                offset += 4_096
                continue
            }
            if case .record(let record) = RecordHeader.decode(map.load64(offset), offset: offset, salt: header.salt),
                record.state == .committed, body(at: offset, count: record.byteCount) != nil
            {
                return offset
            }
            offset += 8
        }
        return nil
    }
}
