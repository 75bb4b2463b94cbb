import GroupSystemCalls

/// One `fdatasync` for all who wait for the disk: whoever comes first syncs everything that is written by then, and the
/// others wait for that. One whose leader takes too long, or was stopped, syncs by itself.
extension MappedLog {
    private static let patience: Int64 = 50_000_000

    /// Everything before a place is on the disk when it returns. `word` is the roster's wake word of those who wait.
    /// System calls: fdatasync(2), or futex(FUTEX_WAIT)
    func synchronize(
        through position: LogPosition, togetherBy word: Int, _ roster: Roster
    ) throws(CoordinationError) {
        guard let file = try file(position.file), let map = file.writableMap else {
            return try synchronize(through: position)
        }
        let slot = try writerSlot("synchronize")
        while !file.isDurable(through: position.offset) {
            let leader = map.load64(LogFileHeader.leader)
            let now = UInt64(bitPattern: monotonicNanoseconds())
            let own = (now & 0xffff_ffff_ffff) << 16 | UInt64(slot + 1)
            if leader != 0 {
                let age = Int64(((own >> 16) &- (leader >> 16)) & 0xffff_ffff_ffff)
                if age >= Self.patience { return try synchronize(through: position) }
                roster.awaitWake(on: word, atMost: Self.patience - age) {
                    file.isDurable(through: position.offset) || map.load64(LogFileHeader.leader) != leader
                }
                continue
            }
            guard map.exchange64(LogFileHeader.leader, 0, own) else { continue }
            defer {
                _ = map.exchange64(LogFileHeader.leader, own, 0)
                roster.wake(word)
            }
            // What others have begun by now is in it, too.
            let end = try settle(file, upTo: .max)
            try synchronize(through: end.offset > position.offset ? end : position)
        }
    }
}
