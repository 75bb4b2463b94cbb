import GroupSystemCalls

/// A damaged part of a log.
package struct SegmentDamage: Hashable, Sendable {
    package var file: String
    /// The byte of the broken record; nil if the segment as a whole cannot be read.
    package var offset: Int?
    package var kind: LogDamage

    init(file: String, offset: Int?, _ kind: LogDamage) {
        self.file = file
        self.offset = offset
        self.kind = kind
    }
}

extension SegmentedLog {
    /// Checks every byte of every record that is kept. Linear in the log.
    package func findDamage() throws(LogFailure) -> [SegmentDamage] {
        var found: [SegmentDamage] = []
        let numbers = try segmentNumbers()
        for number in numbers {
            do {
                if let segment = try segment(number) {
                    if number == numbers.last, segment.header.isOutOfNumbers {
                        found.append(SegmentDamage(file: segment.name, offset: nil, .outOfNumbers))
                    } else if let damage = segment.firstDamage() {
                        found.append(damage)
                    }
                } else if number != numbers.first, try segmentNumbers().dropFirst().contains(number) {
                    // A process that was stopped creates such a file only where all files before it were dropped.
                    found.append(SegmentDamage(file: "\(name)/\(number).log", offset: nil, .unconnected))
                }
            } catch {
                guard let damage = error.damage else { throw error }
                found.append(SegmentDamage(file: "\(name)/\(number).log", offset: nil, damage))
            }
        }
        return found
    }

    /// Returns whether damage is only the end of a log that no process has recovered since a boot, and needs no repair.
    package func isTorn(_ damage: SegmentDamage) -> Bool {
        guard let unrecovered, damage.file == "\(name)/\(unrecovered).log", let offset = damage.offset,
            let segment = try? segment(unrecovered)
        else { return false }
        return isTorn(segment, at: offset)
    }

    /// Cuts each segment before its first broken record, sets aside the segments that cannot be read at all, and
    /// creates a new last segment if that is needed. A follower before a cut gets the records up to it, then a
    /// `rescan`.
    package func repair(isAlone: Bool, atLeast sequence: UInt64 = 0) throws(LogFailure) -> [SegmentDamage] {
        let found = try findDamage()
        var reached = sequence < SegmentHeader.baseLimit ? sequence : 0
        for number in try segmentNumbers() {
            let label = "\(name)/\(number).log"
            if found.contains(where: { $0.file == label && $0.offset == nil }) {
                if !isAlone {
                    throw .damaged(label, operation: "repair", .unreadableInUse)
                }
                try setAside(number, reached)
            } else if let segment = try segment(number) {
                if let offset = found.first(where: { $0.file == label })?.offset {
                    segment.cut(at: offset)
                    try translating("repair", file: label) { () throws(Errno) in
                        try segment.descriptor.synchronizeData()
                    }
                }
                reached = max(reached, try segment.resolve(upTo: segment.end ?? .max).sequence &+ segment.leap)
            }
        }
        let segment = try last()
        if let cut = segment.cut { _ = try successor(of: segment, sealedAt: cut) }
        return found
    }

    /// Ends the log where it ends now, and leaves out a sequence number: every follower gets a `rescan`.
    package func interrupt() throws(LogFailure) {
        let end = try end()
        guard let segment = try segment(end.segment) else { return }
        segment.cut(at: end.offset)
        _ = try successor(of: segment, sealedAt: end.offset)
    }

    /// Renames an unreadable segment, so that a user can still try to read something out of it. A new segment follows
    /// the last one.
    private func setAside(_ number: UInt64, _ sequence: UInt64) throws(LogFailure) {
        let isLast = try segmentNumbers().last == number
        try rename(number)
        forget(number)
        if !isLast { return }
        let end = LogPosition(segment: number, offset: SegmentHeader.size, sequence: sequence, checksum: 0)
        let leap = UInt64((4 << 20) / Segment.byteCount(bodyCount: 0))
        let isOver =
            end.segment &+ 1 >= SegmentHeader.lastNumber
            || end.sequence >= SegmentHeader.baseLimit - UInt64(configuration.capacity) - leap
        let segment = try isOver ? beginAnew() : makeSegment(after: end, leap: leap)
        forgetAll(last: segment.header.number)
    }

    /// Renames all segments, and begins with the first number again: no number is left.
    private func beginAnew() throws(LogFailure) -> Segment {
        forgetAll(last: 0)
        for number in try allSegmentNumbers() { try rename(number) }
        return try makeSegment(after: nil)
    }

    private func rename(_ number: UInt64) throws(LogFailure) {
        try translating("repair", file: "\(name)/\(number).log") { () throws(Errno) in
            try directory.rename(
                Array("\(number).log".utf8), to: Array("damaged-\(number)".utf8), in: directory, replacing: true)
            try directory.synchronize()
        }
    }
}

extension Segment {
    /// Returns the first broken record. Linear in the segment.
    fileprivate func firstDamage() -> SegmentDamage? {
        var offset = SegmentHeader.size
        while offset < end ?? capacity {
            do throws(LogFailure) {
                guard case .record(let record) = try reading(at: offset), record.state != .seal else { return nil }
                if record.state == .committed, body(at: offset, record) == nil {
                    return SegmentDamage(file: name, offset: offset, .brokenChecksum(offset: offset))
                }
                offset += record.byteCount
            } catch {
                guard let damage = error.damage else { return nil }
                return SegmentDamage(file: name, offset: map.isDamaged ? nil : offset, damage)
            }
        }
        return nil
    }
}
