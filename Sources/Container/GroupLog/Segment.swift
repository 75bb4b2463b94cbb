import GroupBytes
package import GroupSystemCalls

/// A segment, a file of a mapped log: a header page, then records. `RecordHeader` describes the protocol of its words.
///
/// Each record is the header word, the length of the body in four bytes, the body, zeros up to a multiple of eight, and
/// a checksum (SipHash, keyed by the segment's salt and the record's offset).
package final class Segment: Sendable {
    let descriptor: FileDescriptor
    package let map: SharedMap
    /// The same map for writing; nil if the segment may only be read.
    package let writableMap: WritableMap?
    package let header: SegmentHeader
    /// The name for errors: the log's name, and "/1.log".
    package let name: String
    /// The end of the segment when its successor was created; nil if it had no successor when it was opened.
    let recordedEnd: Int?

    /// Positions before which every record is committed or aborted, ascending; the last one is the furthest.
    /// They save repeated scans.
    private let resolved: Guarded<[LogPosition]>
    /// The offset up to which the headers were passed by `findEnd`: headers do not change once they are there.
    private let passed = Guarded(SegmentHeader.size)
    private static let stride = 65_536
    private static let looks = 1_000

    /// The size of a record, in bytes, for a body of a size.
    package static func byteCount(bodyCount: Int) -> Int { 8 + (4 + bodyCount + 7) / 8 * 8 + 8 }

    /// Opens a segment. The descriptor must be open for writing, too, unless the segment is only for reading.
    init(
        name: String, descriptor: consuming FileDescriptor, end: Int?, largestCapacity: Int, isOnlyForReading: Bool
    ) throws(LogFailure) {
        self.name = name
        recordedEnd = end
        let page: [UInt8]
        let size: UInt64
        do throws(Errno) {
            let status = try descriptor.status()
            size = status.size
            var first = [UInt8](repeating: 0, count: SegmentHeader.size)
            // Reading a FIFO would block.
            let count = status.isRegularFile ? try descriptor.read(into: &first) : 0
            page = Array(first[..<count])
        } catch {
            throw LogFailure(error, file: name, operation: "read")
        }
        do {
            header = try SegmentHeader(decoding: page)
        } catch {
            switch error {
            case .damaged: throw .damaged(name, operation: "open", .brokenHeader)
            case .newer(let format):
                throw LogFailure(.newerFormat(format), file: name, operation: "open")
            }
        }
        if !header.hasPossiblePreviousEnd { throw .damaged(name, operation: "open", .unconnected) }
        // Before anything is mapped or read: a file of a few pages may claim to have gigabytes.
        if header.capacity > UInt64(largestCapacity) {
            throw .damaged(name, operation: "open", .tooLarge(capacity: header.capacity, largest: largestCapacity))
        }
        guard size >= header.capacity, header.capacity >= UInt64(SegmentHeader.size) + 8, header.capacity < 1 << 32
        else {
            throw .damaged(name, operation: "open", .cutShort(size: size, capacity: header.capacity))
        }
        do throws(Errno) {
            let size = Int(header.capacity)
            map = isOnlyForReading ? try SharedMap(descriptor, size: size) : try WritableMap(descriptor, size: size)
        } catch {
            throw LogFailure(error, file: name, operation: "map")
        }
        writableMap = map as? WritableMap
        self.descriptor = descriptor
        resolved = Guarded([LogPosition.start(of: header)])
    }

    package var capacity: Int { map.size }

    /// The offset after the records that the segment was created with.
    var firstAppended: Int {
        guard let end = Int(exactly: map.load64(SegmentHeader.preambleEnd)), end > SegmentHeader.size,
            end <= capacity - 8, end.isMultiple(of: 8)
        else { return SegmentHeader.size }
        return end
    }

    /// Returns whether anything stands at or after an offset. The holes of a file are not read, because that takes
    /// memory on some file systems, and the time of the file's whole size on all. Linear in the content.
    func hasContent(from offset: Int) -> Bool {
        guard let allocated = try? descriptor.status().allocated, allocated < UInt64(capacity) else {
            return map.hasBits(offset, count: capacity - offset)
        }
        var offset = offset
        while let content = descriptor.nextContent(from: offset, upTo: capacity) {
            let start = content.lowerBound / 8 * 8
            if map.hasBits(start, count: content.upperBound - start) { return true }
            offset = content.upperBound
        }
        return false
    }

    /// Whether nothing was ever appended to it.
    var isEmpty: Bool { map.load64(firstAppended) == 0 }

    /// The end of the segment; nil while it is the last one, or if only its seal records the end.
    var end: Int? { cut.map { min($0, recordedEnd ?? $0) } ?? recordedEnd }

    /// Returns the header word at an offset. Errors: `damaged`, also if the offset cannot be that of a record.
    func reading(at offset: Int) throws(LogFailure) -> RecordHeader.Reading {
        guard offset >= SegmentHeader.size, offset <= capacity - 8, offset.isMultiple(of: 8) else {
            throw .damaged(name, operation: "read", .outside(offset: offset))
        }
        let reading = RecordHeader.decode(map.load64(offset), offset: offset, salt: header.salt)
        // After the load, because that load may be the access that discovers the damage and reads a zero, which is no
        // end of the log.
        if map.isDamaged {
            throw .damaged(name, operation: "read", .truncatedInUse)
        }
        switch reading {
        case .damaged: throw .damaged(name, operation: "read", .brokenRecordHeader(offset: offset))
        case .record(let record) where record.state != .seal && offset + record.byteCount > capacity - 8:
            throw .damaged(name, operation: "read", .recordTooLong(offset: offset))
        default: return reading
        }
    }

    /// Replaces a header word by compare-and-swap. Always false if the segment may only be read.
    func exchange(at offset: Int, _ expected: RecordHeader?, _ desired: RecordHeader) -> Bool {
        guard let writableMap else { return false }
        return writableMap.exchange64(
            offset, expected?.encoded(offset: offset, salt: header.salt) ?? 0,
            desired.encoded(offset: offset, salt: header.salt))
    }

    func writeBody(_ body: [UInt8], at offset: Int, units: Int) {
        if let writableMap { Self.writeBody(body, into: writableMap, at: offset, units: units, salt: header.salt) }
    }

    static func writeBody(_ body: [UInt8], into map: WritableMap, at offset: Int, units: Int, salt: UInt64) {
        map.store32(offset + 8, UInt32(body.count))
        map.write(body, at: offset + 12)
        map.store64(offset + units * 8 - 8, checksum(of: body.count, in: map, at: offset, salt: salt))
    }

    /// After a body there is always one more word: the checksum.
    private static func checksum(of count: Int, in map: SharedMap, at offset: Int, salt: UInt64) -> UInt64 {
        SipHash(key: (salt, UInt64(offset))).hash(count: count) { map.word(at: offset + 12 + $0) }
    }

    /// Returns the length of a committed record's body and its checksum; nil if the checksum does not fit. Linear in
    /// the length.
    func checkedBody(at offset: Int, _ record: RecordHeader) -> (count: Int, checksum: UInt64)? {
        let count = Int(map.load32(offset + 8))
        guard Self.byteCount(bodyCount: count) == record.byteCount else { return nil }
        let stored = map.load64(offset + record.byteCount - 8)
        return stored == Self.checksum(of: count, in: map, at: offset, salt: header.salt) ? (count, stored) : nil
    }

    /// The form of `checkedBody` that returns the body, too.
    func body(at offset: Int, _ record: RecordHeader) -> (bytes: [UInt8], checksum: UInt64)? {
        checkedBody(at: offset, record).map { (bodyBytes(at: offset, count: $0.count), $0.checksum) }
    }

    /// Returns the body of a record that was checked.
    package func bodyBytes(at offset: Int, count: Int) -> [UInt8] { map.bytes(offset + 12, count: count) }

    /// Settles every record before `limit`, so that it is committed or aborted, and counts the records.
    /// Returns the position at `limit`, or at the end if that comes first; with a segment that may only be read, also
    /// at a reservation that its writer left behind. A reservation has until its deadline, then it is aborted. Linear
    /// in the records since the last call, or, for an earlier limit, in the records of 64 KiB.
    func resolve(upTo limit: Int) throws(LogFailure) -> LogPosition {
        // Records that were settled after a cut never happened.
        let limit = min(limit, cut ?? limit)
        var position = resolved.withLock { known in known.last { $0.offset <= limit } } ?? .start(of: header)
        while position.offset < limit {
            guard case .record(let record) = try reading(at: position.offset) else { break }
            if record.state == .seal { break }
            if record.state == .reserved {
                if awaitOrAbort(record, at: position.offset) { continue }
                break
            }
            position.offset += record.byteCount
            // Not for an aborted record: its writer may still be writing into it.
            if record.state == .committed {
                position.checksum = map.load64(position.offset - 8)
                if !record.isControl { position.sequence += 1 }
            }
        }
        let reached = position
        resolved.withLock { known in
            guard let last = known.last, reached.offset > last.offset else { return }
            // The furthest position moves on; one every 64 KiB stays in the list as a milestone.
            if known.count > 1, last.offset - known[known.count - 2].offset < Self.stride { known.removeLast() }
            known.append(reached)
        }
        return reached
    }

    /// The offset of the first broken header, found by way of the headers before it; nil if none is broken. Linear in
    /// the records.
    var firstBroken: Int? {
        var offset = SegmentHeader.size
        while cut.map({ offset < $0 }) ?? true {
            do throws(LogFailure) {
                guard case .record(let record) = try reading(at: offset), record.state != .seal else { return nil }
                offset += record.byteCount
            } catch {
                return map.isDamaged ? nil : offset
            }
        }
        return nil
    }

    /// Waits until a reservation is committed or its deadline has passed; then aborts it, and its writer
    /// appends the record again. Returns false if the record is still reserved, because a segment that may only be read
    /// cannot be changed.
    ///
    /// `sleeping` sleeps for at most some nanoseconds, unless the record is settled.
    package func awaitOrAbort(
        _ record: RecordHeader, at offset: Int,
        sleeping: (_ limit: Int64, _ isDecided: () -> Bool) -> Void = { limit, _ in
            pause(nanoseconds: min(limit, 20_000))
        }
    ) -> Bool {
        let word = record.encoded(offset: offset, salt: header.salt)
        // Mostly the writer is about to commit it on another processor. If it has lost its processor to this thread,
        // it gets it back by the sleep.
        for _ in 0..<Self.looks where map.load64(offset) != word { return true }
        let deadline = monotonicNanoseconds() + record.patience
        while map.load64(offset) == word {
            let left = deadline - monotonicNanoseconds()
            if left <= 0 {
                if writableMap == nil { return false }
                var aborted = record
                aborted.state = .aborted
                _ = exchange(at: offset, record, aborted)
                return true
            }
            sleeping(left) { map.load64(offset) != word }
        }
        return true
    }

    /// Returns the first offset after which nothing is written, or that of the seal or the cut. Does not wait for
    /// reservations.
    func findEnd() throws(LogFailure) -> (offset: Int, isSealed: Bool) {
        let start = max(passed.withLock { $0 }, resolved.withLock { $0.last?.offset } ?? SegmentHeader.size)
        var offset = start
        defer { if offset != start { passed.withLock { $0 = max($0, offset) } } }
        while true {
            if let cut { return (cut, true) }
            guard case .record(let record) = try reading(at: offset) else { return (offset, false) }
            if record.state == .seal { return (offset, true) }
            offset += record.byteCount
        }
    }
}
