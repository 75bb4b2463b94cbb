import GroupSystemCalls

/// A damaged place of a log.
struct SegmentDamage: Hashable, Sendable {
    var file: String
    /// The byte of the broken record; nil if the segment as a whole cannot be read.
    var offset: Int?
    var cause: String
}

extension SegmentedLog {
    /// Checks every byte of every record that is kept. Linear in the log.
    func findDamage() throws(CoordinationError) -> [SegmentDamage] {
        var found: [SegmentDamage] = []
        for number in try fileNumbers() {
            do {
                if let file = try file(number), let damage = file.firstDamage() { found.append(damage) }
            } catch {
                if error.code != .damaged { throw error }
                found.append(SegmentDamage(file: "\(name)/\(number).log", offset: nil, cause: error.cause))
            }
        }
        return found
    }

    /// Cuts each segment before its first broken record, sets aside the segments that cannot be read at all, and
    /// creates a new last segment if that is needed. A follower before a cut gets the records up to it, then a
    /// `rescan`.
    func repair(isAlone: Bool, atLeast sequence: UInt64 = 0) throws(CoordinationError) -> [SegmentDamage] {
        let found = try findDamage()
        var reached = sequence
        for number in try fileNumbers() {
            let label = "\(name)/\(number).log"
            if found.contains(where: { $0.file == label && $0.offset == nil }) {
                if !isAlone {
                    throw .damaged(
                        label, operation: "repair",
                        "it cannot be read, and other members may write to it; end them first (groupctl status)")
                }
                try setAside(number, reached)
            } else if let file = try file(number) {
                if let offset = found.first(where: { $0.file == label })?.offset {
                    file.cut(at: offset)
                    try translating(label, "repair") { () throws(Errno) in try file.descriptor.synchronizeData() }
                }
                reached = max(reached, try file.resolve(upTo: file.end ?? .max).sequence &+ file.leap)
            }
        }
        let file = try last()
        if let cut = file.cut { _ = try successor(of: file, sealedAt: cut) }
        return found
    }

    /// Ends the log where it ends now, and leaves out a sequence number: every follower gets a `rescan`.
    func interrupt() throws(CoordinationError) {
        let end = try end()
        guard let file = try file(end.file) else { return }
        file.cut(at: end.offset)
        _ = try successor(of: file, sealedAt: end.offset)
    }

    /// Renames an unreadable segment, so that a user can still try to read something out of it.
    private func setAside(_ number: UInt64, _ sequence: UInt64) throws(CoordinationError) {
        let isLast = try fileNumbers().last == number
        try translating("\(name)/\(number).log", "repair") { () throws(Errno) in
            try directory.rename(
                Array("\(number).log".utf8), to: Array("damaged-\(number)".utf8), in: directory, replacing: true)
            try directory.synchronize()
        }
        forget(number)
        if !isLast { return }
        let end = LogPosition(file: number, offset: SegmentHeader.size, sequence: sequence, checksum: 0)
        let file = try makeFile(after: end, leap: UInt64((4 << 20) / Segment.byteCount(bodyCount: 0)))
        forgetAll(last: file.header.number)
    }
}

extension Segment {
    /// Returns the first broken record. Linear in the segment.
    fileprivate func firstDamage() -> SegmentDamage? {
        var offset = SegmentHeader.size
        while offset < end ?? capacity {
            do throws(CoordinationError) {
                guard case .record(let record) = try reading(at: offset), record.state != .seal else { return nil }
                if record.state == .committed, body(at: offset, record) == nil {
                    return SegmentDamage(
                        file: name, offset: offset, cause: "the record at byte \(offset) does not fit its checksum")
                }
                offset += record.byteCount
            } catch {
                return SegmentDamage(file: name, offset: map.isDamaged ? nil : offset, cause: error.cause)
            }
        }
        return nil
    }
}
