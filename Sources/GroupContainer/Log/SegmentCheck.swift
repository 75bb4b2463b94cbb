import GroupSystemCalls

/// What is wrong with a log.
struct SegmentDamage: Hashable, Sendable {
    var file: String
    /// Nil where the file as a whole cannot be read.
    var offset: Int?
    var cause: String
}

extension SegmentedLog {
    /// Looks at every byte of every record that is kept. Linear in the log.
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

    /// Cuts each file before its first broken record, puts files aside that cannot be read at all, and begins a new
    /// last one where that is needed. Those who are at a place before a cut get what is there, then a `rescan`.
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

    /// Ends the log where it ends, and leaves out a number: everybody who follows gets a `rescan`.
    func interrupt() throws(CoordinationError) {
        let end = try end()
        guard let file = try file(end.file) else { return }
        file.cut(at: end.offset)
        _ = try successor(of: file, sealedAt: end.offset)
    }

    /// Kept for a user who may still read something out of it.
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
    /// The first record that is not one. Linear in the file.
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
