import GroupSystemCalls

/// One `fdatasync` for all callers that wait for the disk: the first caller syncs everything that is written by then,
/// and the other callers wait for it. A caller whose syncer takes too long, or was stopped, syncs by itself.
extension MappedLog {
    private static let patience: Int64 = 50_000_000

    /// Everything before a place is on the disk when it returns. `word` is the member table's wake word of the
    /// waiters. System calls: fdatasync(2), or futex(FUTEX_WAIT)
    func synchronize(
        through position: LogPosition, togetherBy word: Int, _ memberTable: MemberTable
    ) throws(CoordinationError) {
        guard let file = try file(position.file), let map = file.writableMap else {
            return try synchronize(through: position)
        }
        let slot = try writerSlot("synchronize")
        while !file.isDurable(through: position.offset) {
            let syncer = map.load64(LogFileHeader.syncer)
            let now = UInt64(bitPattern: monotonicNanoseconds())
            let own = (now & 0xffff_ffff_ffff) << 16 | UInt64(slot + 1)
            if syncer != 0 {
                let age = Int64(((own >> 16) &- (syncer >> 16)) & 0xffff_ffff_ffff)
                if age >= Self.patience { return try synchronize(through: position) }
                memberTable.awaitWake(on: word, atMost: Self.patience - age) {
                    file.isDurable(through: position.offset) || map.load64(LogFileHeader.syncer) != syncer
                }
                continue
            }
            guard map.exchange64(LogFileHeader.syncer, 0, own) else { continue }
            defer {
                _ = map.exchange64(LogFileHeader.syncer, own, 0)
                memberTable.wake(word)
            }
            // What others have begun by now is in it, too.
            let end = try settle(file, upTo: .max)
            try synchronize(through: end.offset > position.offset ? end : position)
        }
    }
}
