import GroupSystemCalls

/// Damage in the middle of a file: where the header of a record is none, nobody can tell where the next record begins. So
/// the file ends there, for all, and everything goes on in the next one. A word in the file's first page says so.
extension LogFile {
    /// Where it was cut; nil where it was not. One load.
    var cut: Int? {
        let word = map.load64(LogFileHeader.cut)
        if word == 0 { return nil }
        let offset = word & 0xffff_ffff_ffff
        // A flipped bit of this word cuts nothing.
        guard word == LogHeader.checked(offset, place: LogFileHeader.cut, salt: header.salt),
            let offset = Int(exactly: offset), offset >= LogFileHeader.size, offset <= capacity - 8,
            offset.isMultiple(of: 8)
        else { return nil }
        return offset
    }

    /// Cuts it, unless it was cut before that already. What stands behind never happened: its followers get a `rescan`.
    func cut(at offset: Int) {
        guard let writableMap else { return }
        let word = LogHeader.checked(UInt64(offset), place: LogFileHeader.cut, salt: header.salt)
        while cut.map({ $0 > offset }) ?? true {
            if writableMap.exchange64(LogFileHeader.cut, map.load64(LogFileHeader.cut), word) { return }
        }
    }

    /// How many numbers the file after this one leaves out, so that none is given twice: as many as there can have been
    /// records behind the cut.
    var leap: UInt64 { cut.map { UInt64((capacity - $0) / Self.byteCount(bodyCount: 0)) + 1 } ?? 0 }
}

extension MappedLog {
    /// The end of a file that is to be appended to. One that cannot be found, because of damage, is made.
    func findEnd(of file: LogFile) throws(CoordinationError) -> (offset: Int, isSealed: Bool) {
        do {
            return try file.findEnd()
        } catch {
            try cutAtDamage(file, otherwise: error)
            return try file.findEnd()
        }
    }

    /// Settles and counts, as `LogFile.resolve`; what is broken is cut.
    func settle(_ file: LogFile, upTo limit: Int) throws(CoordinationError) -> LogPosition {
        do {
            return try file.resolve(upTo: limit)
        } catch {
            try cutAtDamage(file, otherwise: error)
            return try file.resolve(upTo: limit)
        }
    }

    private func cutAtDamage(_ file: LogFile, otherwise error: CoordinationError) throws(CoordinationError) {
        guard !isOnlyForReading, !file.map.isDamaged, let broken = file.firstBroken else { throw error }
        cut(file, at: broken, because: error.cause)
    }

    /// Cuts a file at its end where something stands behind it. Behind the end of a file that is appended to there are
    /// zeros: a header was lost, and with a new record in its place the stale ones behind could follow that.
    func cutAtLostHeader(_ file: LogFile, at offset: Int) {
        cut(file, at: offset, because: "nothing stands at byte \(offset), but behind that")
    }

    private func cut(_ file: LogFile, at offset: Int, because cause: String) {
        file.cut(at: offset)
        surroundings.diagnostics.tell(
            .journalCut, item: file.name,
            "it ends at byte \(offset) now, and the journal goes on in the next file: \(cause)")
    }
}
